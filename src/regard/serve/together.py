"""Several things at once, of which the first that fails ends the others and is what the caller learns of."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. A task group would raise a group of all failures, one within another where groups are
    nested."""
    try:
        async with asyncio.TaskGroup() as tasks:
            made = [tasks.create_task(work) for work in works]
    except BaseExceptionGroup as several:
        raise first_of(several) from None
    return [task.result() for task in made]


def first_of(several: BaseExceptionGroup) -> BaseException:
    """
    >>> first_of(BaseExceptionGroup("", [ExceptionGroup("", [ValueError("a")]), KeyError("b")]))
    ValueError('a')
    """
    first = several.exceptions[0]
    return first_of(first) if isinstance(first, BaseExceptionGroup) else first
