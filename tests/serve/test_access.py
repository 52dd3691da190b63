"""Authentication by key or address, and limits: what they refuse has a Retry-After header."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.serve.access import ANYONE, AccessControl
from regard.serve.errors import QuotaExceededError, ServeError
from regard.serve.state.keys import KeyLimits
from regard.serve.state.server_state import ServerState


@pytest.fixture
def state(tmp_path: Path) -> Iterator[ServerState]:
    with ServerState(tmp_path, now=lambda: 1_700_000_000.0) as state:
        yield state


def test_without_keys_the_address_counts_and_a_key_is_not_looked_at(state: ServerState) -> None:
    access = AccessControl(state, keys_required=False, limits=KeyLimits(per_minute=1, characters=10))

    async def ask() -> None:
        one = await access.authenticate("whatever", "192.0.2.1")
        two = await access.authenticate(None, "192.0.2.2")
        assert (one.owner, two.owner) == (ANYONE, ANYONE)
        await access.count_request(one)
        await access.count_request(two)
        with pytest.raises(ServeError) as refused:
            await access.count_request(one)
        assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "60"})
        await access.charge(one, 6)
        with pytest.raises(QuotaExceededError) as quota:
            await access.charge(one, 6)
        assert int(quota.value.headers["Retry-After"]) > 3600
        await access.refund(one, 6)
        await access.charge(one, 10)
        assert state.limiter.usage(one.subject) == 10

    asyncio.run(ask())


def test_with_keys_every_request_needs_one(state: ServerState) -> None:
    access = AccessControl(state, keys_required=True, limits=KeyLimits(per_minute=7, characters=70, period="day"))
    plain, _ = state.keys.add("plain")
    own, key = state.keys.add("own", KeyLimits(per_minute=2, characters=20, period="month"))

    async def ask() -> None:
        for secret in (None, "", "regard_wrong", plain[:-1]):
            with pytest.raises(ServeError) as refused:
                await access.authenticate(secret, "192.0.2.1")
            assert refused.value.status == 403
            assert "regard_wrong" not in refused.value.message
        assert (await access.authenticate(plain, None)).limits == KeyLimits(7, 70, "day")
        found = await access.authenticate(own, None)
        assert found.limits == KeyLimits(2, 20, "month")
        assert found.owner == key.owner
        await access.charge(found, 20)
        state.keys.remove("own")
        with pytest.raises(ServeError):
            await access.authenticate(own, None)

    asyncio.run(ask())


def test_where_there_are_no_limits_the_store_is_not_touched(state: ServerState) -> None:
    access = AccessControl(state, keys_required=False, limits=KeyLimits())

    async def ask() -> None:
        one = await access.authenticate(None, "192.0.2.1")
        await access.count_request(one)
        await access.charge(one, 1000)

    state.close()
    asyncio.run(ask())
