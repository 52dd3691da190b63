"""Several things at once."""

from __future__ import annotations

import asyncio

import pytest

from regard.serve.errors import ServeError
from regard.serve.translation_service import gather_or_cancel


async def give(value: int) -> int:
    await asyncio.sleep(0.01 * (3 - value))
    return value


async def fail() -> int:
    raise ServeError(503, "too late")


async def nested() -> int:
    return sum(await gather_or_cancel([fail(), give(1)]))


def test_results_are_in_order() -> None:
    assert asyncio.run(gather_or_cancel(give(value) for value in range(3))) == [0, 1, 2]
    assert asyncio.run(gather_or_cancel([])) == []


def test_the_first_problem_is_what_is_raised() -> None:
    with pytest.raises(ServeError, match="too late"):
        asyncio.run(gather_or_cancel([give(0), nested()]))
