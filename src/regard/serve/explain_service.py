"""Explanations: computed by the native engine, one at a time, in a thread of their own, so that they do not hold up
translation.

One that takes too long, or whose client has left, ends where the model next computes something: every module of the
model looks whether it should still (`stop_when`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from regard.errors import InputError, RegardError
from regard.serve.inside import RecentPairs
from regard.serve.inside_neighbours import PairIndexes
from regard.serve.memory import give_back_memory
from regard.serve.pool import CHECKED, ModelPool
from regard.serve.problems import ServeError, busy, too_late
from regard.serve.settings import ServeConfig
from regard.translator import Translator

if TYPE_CHECKING:
    from torch import nn

log = logging.getLogger("regard.serve")
T = TypeVar("T")
KEPT = 3  # models with torch's weights in memory
MOST_WAITING = 32  # requests


class StoppedError(Exception):
    """Nobody waits for this explanation any more."""


@dataclass(eq=False)
class ExplainedModel:
    translator: Translator
    used: float  # when, by time.monotonic()


class ExplainService:
    def __init__(self, config: ServeConfig, pool: ModelPool) -> None:
        self.config, self.pool = config, pool
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="explain")
        self._waiting = 0
        # Of the thread alone. The model that was used last stands last.
        self._loaded: dict[str, ExplainedModel] = {}
        self._stop = threading.Event()  # of the request that is being explained
        self.recent, self.pairs = RecentPairs(), PairIndexes()

    async def run(self, model: str, work: Callable[[Translator], T]) -> T:
        """What `work` makes of the model of this name, with its weights in torch."""
        self.pool.find(model)
        return await self.in_turn(partial(self._with_model, model, work))

    async def in_turn(self, work: Callable[[], T]) -> T:
        """The result of work that needs no model, when what was asked before it is done."""
        if self._waiting >= MOST_WAITING:
            raise busy("too many explanations are waiting", 5)
        self._waiting += 1
        loop, stop = asyncio.get_running_loop(), threading.Event()
        try:
            async with asyncio.timeout(self.config.timeout):
                return await loop.run_in_executor(self._thread, partial(self._run, work, stop))
        except TimeoutError:
            raise too_late("explanation") from None
        except InputError as problem:
            raise ServeError(400, str(problem)) from None
        finally:
            stop.set()
            self._waiting -= 1

    def _run(self, work: Callable[[], T], stop: threading.Event) -> T:
        self._stop = stop
        return work()

    def _with_model(self, model: str, work: Callable[[Translator], T]) -> T:
        found = self._loaded.pop(model, None) or self._load(model)
        self._loaded[model] = found
        while len(self._loaded) > KEPT:
            self._drop(next(iter(self._loaded)))
        try:
            return work(found.translator)
        finally:
            found.used = time.monotonic()

    def _load(self, model: str) -> ExplainedModel:
        try:
            translator = Translator.load(self.pool.find(model).folder, self.config.device, "native")
        except RegardError as problem:
            raise ServeError(503, f"the model {model} cannot be loaded: {problem}", retry_after=60) from problem
        stop_when(translator.bundle.model, lambda: self._stop.is_set())
        return ExplainedModel(translator, time.monotonic())

    async def drop_idle(self) -> None:
        """For ever, so that a task does it."""
        while True:
            await asyncio.sleep(min(CHECKED, self.config.idle or CHECKED))
            if self.config.idle:
                await asyncio.get_running_loop().run_in_executor(self._thread, self._drop_old)

    def _drop_old(self) -> None:
        old = time.monotonic() - self.config.idle
        for model in [model for model, found in self._loaded.items() if found.used < old]:
            self._drop(model)
            log.info("the model %s was not explained for a while and is dropped", model)

    def _drop(self, model: str) -> None:
        self.recent.forget(self._loaded.pop(model).translator)
        self.pairs.forget(self.pool.find(model).folder)
        give_back_memory()

    def close(self) -> None:
        self._stop.set()
        self._thread.shutdown(cancel_futures=True)


def stop_when(model: nn.Module, stopped: Callable[[], bool]) -> None:
    """Let each module of a model raise `StoppedError` before it computes, where `stopped` says so."""

    def look(module: nn.Module, inputs: object) -> None:
        if stopped():
            raise StoppedError

    for module in model.modules():
        module.register_forward_pre_hook(look)
