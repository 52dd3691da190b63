"""Models are loaded once for all who wait, kept while they are used, and dropped when idle."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from regard.errors import InputError
from regard.serve import pool as pool_module
from regard.serve.errors import ServeError
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig

MODEL = "en-fr-classic"


class FakeLoader:
    """Loads nothing, when it is allowed to."""

    def __init__(self) -> None:
        self.loads = self.closed = 0
        self.problems: list[Exception] = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, model: Any) -> Any:
        self.loads += 1
        assert self.go.wait(10)
        if self.problems:
            raise self.problems.pop()
        return SimpleNamespace(translator=object(), batcher=SimpleNamespace(close=self.close))

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def loader() -> FakeLoader:
    return FakeLoader()


def in_pool(loader: FakeLoader, work: Callable[[ModelPool], Awaitable[None]], **settings: Any) -> None:
    async def run() -> None:
        pool = ModelPool(ServeConfig(models=(MODEL,), **settings))
        pool._load = loader  # type: ignore[method-assign]
        await work(pool)
        await pool.close()

    asyncio.run(run())


async def use(pool: ModelPool, seconds: float = 0.0) -> None:
    async with pool.using([MODEL]):
        await asyncio.sleep(seconds)


def test_all_who_wait_share_one_load_and_one_who_leaves_does_not_stop_it(loader: FakeLoader) -> None:
    async def work(pool: ModelPool) -> None:
        loader.go.clear()
        first, second = asyncio.create_task(use(pool)), asyncio.create_task(use(pool))
        await asyncio.sleep(0.05)
        first.cancel()
        loader.go.set()
        await second
        assert first.cancelled()
        assert (loader.loads, pool.models[MODEL].users) == (1, 0)

    in_pool(loader, work)
    assert loader.closed == 1


def test_a_model_that_cannot_be_loaded_is_tried_again_by_the_next_request(loader: FakeLoader) -> None:
    async def work(pool: ModelPool) -> None:
        loader.problems = [InputError("/secret/folder is damaged"), OSError("gone")]
        for _ in range(2):
            with pytest.raises(ServeError, match="cannot be loaded; the server's log says why") as caught:
                await use(pool)
            assert "Retry-After" in caught.value.headers
        await use(pool)

    in_pool(loader, work)
    assert loader.loads == 3


def test_only_an_idle_model_is_dropped(loader: FakeLoader) -> None:
    async def work(pool: ModelPool) -> None:
        dropping = asyncio.create_task(pool.drop_idle())
        used = asyncio.create_task(use(pool, 0.3))
        await asyncio.sleep(0.2)
        assert pool.models[MODEL].loaded is not None
        await used
        while pool.models[MODEL].loaded is not None:
            await asyncio.sleep(0.02)
        dropping.cancel()
        await use(pool)

    in_pool(loader, work, idle=0.05)
    assert (loader.loads, loader.closed) == (2, 2)


def test_the_server_is_ready_when_all_was_loaded_and_stays_so(
    loader: FakeLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "RETRY_SECONDS", 0.01)

    async def work(pool: ModelPool) -> None:
        loader.problems = [OSError("not mounted yet")]
        assert not pool.ready
        await pool.preload()
        assert pool.ready
        kept, pool.models[MODEL].loaded = pool.models[MODEL].loaded, None  # as if it had been idle
        assert pool.ready
        pool.models[MODEL].loaded = kept

    in_pool(loader, work, preload=(MODEL,))
    assert loader.loads == 2


def test_a_model_to_preload_that_is_not_served_is_told() -> None:
    with pytest.raises(InputError, match=f'"other" cannot be loaded at the start; there are {MODEL}'):
        ModelPool(ServeConfig(models=(MODEL,), preload=("other",)))


@pytest.mark.parametrize("through", [None, "en"])
def test_pairs_through_the_pivot_language_are_listed_with_and_without_the_setting(through: str | None) -> None:
    pool = ModelPool(ServeConfig(models=("de-en", "en-fr-classic"), through=through))
    assert {str(pair): models for pair, models in pool.pairs()} == {
        "de-en": ("de-en",),
        "de-fr": ("de-en", "en-fr-classic"),
        "en-fr": ("en-fr-classic",),
    }
    assert pool.targets("de") == (["en"] if through is None else ["en", "fr"])
