"""Explanations: computed by the native engine, one at a time, in a thread of their own, so that they do not hold up
translation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from regard.errors import InputError, RegardError
from regard.serve.inside import RecentPairs
from regard.serve.inside_search import PairIndexes
from regard.serve.pool import ModelPool
from regard.serve.problems import ServeError, busy, too_late
from regard.serve.settings import ServeConfig
from regard.translator import Translator

T = TypeVar("T")
KEPT = 3  # models with torch's weights in memory
MOST_WAITING = 32  # requests


class ExplainService:
    def __init__(self, config: ServeConfig, pool: ModelPool) -> None:
        self.config, self.pool = config, pool
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="explain")
        self._waiting = 0
        self._loaded: dict[str, Translator] = {}  # the one that was used last stands last
        self.recent, self.pairs = RecentPairs(), PairIndexes()  # of the thread alone

    async def run(self, model: str, work: Callable[[Translator], T]) -> T:
        """What `work` makes of the model of this name, with its weights in torch."""
        self.pool.find(model)
        if self._waiting >= MOST_WAITING:
            raise busy("too many explanations are waiting", 5)
        self._waiting += 1
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.config.timeout):
                return await loop.run_in_executor(self._thread, partial(self._run, model, work))
        except TimeoutError:
            raise too_late("explanation") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        finally:
            self._waiting -= 1

    def _run(self, model: str, work: Callable[[Translator], T]) -> T:
        translator = self._loaded.pop(model, None)
        if translator is None:
            translator = self._load(model)
        self._loaded[model] = translator
        while len(self._loaded) > KEPT:
            del self._loaded[next(iter(self._loaded))]
        return work(translator)

    def _load(self, model: str) -> Translator:
        try:
            return Translator.load(self.pool.find(model).folder, self.config.device, "native")
        except RegardError as problem:
            raise ServeError(503, f"the model {model} cannot be loaded: {problem}", retry_after=60) from problem

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)
