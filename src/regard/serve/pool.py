"""The models of a server: found by name or by languages, loaded on first use, unloaded when idle.

A model that is loading delays only the requests for it. Bundled models with the same weights share the file, but not
the memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.bundled_models import Direction
from regard.errors import InputError, MissingTorchError
from regard.serve.batcher import BatchDone, Batcher
from regard.serve.errors import ServeError
from regard.serve.monitoring import MODELS
from regard.serve.settings import ServeConfig
from regard.serve.slow_lane import SlowLane
from regard.translator import Translator
from regard.workers import thread_count

# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────────


ARENAS = "MALLOC_ARENA_MAX"  # glibc's own variable, which has precedence
M_ARENA_MAX = -8  # from malloc.h


def use_single_arena() -> None:
    """Make all threads of this process allocate from one arena of glibc's malloc. By default each has its own: a batch
    allocates in the thread that translates it, and memory that is free in one arena is not used by others, so a server
    grows over its first ten thousand requests. One arena is as fast (docs/benchmarks.md)."""
    if ARENAS not in os.environ and (set_option := _libc_function("mallopt")):
        set_option(M_ARENA_MAX, 1)


def release_memory() -> None:
    """Collect garbage, and make glibc return its free pages to the system: by default it keeps most of an unloaded
    model's memory. Other C libraries return them by themselves."""
    gc.collect()
    if trim := _libc_function("malloc_trim"):
        trim(0)


def _libc_function(name: str) -> Any:
    """A function of the C library; None if it does not exist."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        return getattr(ctypes.CDLL(None), name)
    return None


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────────


log = logging.getLogger("regard.serve")

THREADS = 4  # per model: while one searches, the others prepare
IDLE_CHECK_SECONDS = 5.0  # between two checks for idle models
RETRY_SECONDS = 30.0  # until a model that could not be preloaded is tried again


@dataclass(eq=False)
class ModelWithBatcher:
    translator: Translator
    batcher: Batcher


@dataclass(eq=False)
class ServedModel:
    """A model of the server, loaded or not."""

    name: str
    folder: Path
    bundle: Bundle  # without its weights
    loaded: ModelWithBatcher | None = None
    loading: asyncio.Task[None] | None = None  # shared by all requests for the model: it continues if one is cancelled
    used: float = field(default_factory=time.monotonic)
    refusal: str | None = None  # why it will never be loaded: PyTorch is not installed
    users: int = 0  # number of requests that use it; it is not unloaded before they end

    @property
    def direction(self) -> Direction | None:
        source, target = self.bundle.languages
        return Direction(source, target) if source and target else None

    @property
    def formality(self) -> bool:
        """Whether it can be asked for formal or informal translations."""
        return bool(self.bundle.tokenizer.register_tags())

    @property
    def card(self) -> dict[str, Any]:
        return self.bundle.card


class ModelPool:
    """The models of a server by name and by direction, and the state of each."""

    def __init__(self, config: ServeConfig, observe: Callable[[str, BatchDone], None] | None = None) -> None:
        """Read cards and vocabularies; weights are loaded later. `observe` is called with each batch of a model."""
        self._config, self._observe, self._slow_lane = config, observe, SlowLane()
        self.models: dict[str, ServedModel] = {}
        for name, folder in named_models(config.models):
            self.models[name] = ServedModel(name, folder, Bundle.read(folder))
        self.by_direction: dict[Direction, str] = {}
        for model in self._by_preference():
            if (direction := model.direction) is not None:
                self.by_direction.setdefault(direction, model.name)
        for name in config.preload:
            if name not in self.models:
                known = ", ".join(self.models)
                raise InputError(f'"{name}" cannot be loaded at the start; there are {known}', parameter="preload")
        self.ready = not config.preload  # whether all models to preload are loaded

    def _by_preference(self) -> list[ServedModel]:
        """Models named by their languages first, then the others, in the given order."""
        return sorted(self.models.values(), key=lambda model: model.name != str(model.direction))

    @property
    def directions(self) -> list[Direction]:
        return list(self.by_direction)

    @property
    def languages(self) -> list[str]:
        """The codes of all source and target languages."""
        return sorted({code for direction in self.by_direction for code in direction})

    def pairs(self) -> list[tuple[Direction, tuple[str, ...]]]:
        """All pairs of languages, each with its models: one, or two with the pivot language between them."""
        found: dict[Direction, tuple[str, ...]] = {one: (name,) for one, name in self.by_direction.items()}
        for first in self.by_direction:
            for second in self.by_direction:
                pair = Direction(first.source, second.target)
                if first.target == second.source == self.pivot and pair.source != pair.target:
                    found.setdefault(pair, (self.by_direction[first], self.by_direction[second]))
        return sorted(found.items())

    @property
    def pivot(self) -> str:
        """The pivot language that a request may ask for: that of the settings, else English."""
        return self._config.through or bundled_models.PIVOT

    def targets(self, source: str, through: str | None = None) -> list[str]:
        """The target languages of a source language, including those through a pivot language: the given one, or that
        of the settings."""
        direct = {one.target for one in self.by_direction if one.source == source}
        pivot = through or self._config.through
        if pivot in direct:
            direct |= {one.target for one in self.by_direction if one.source == pivot} - {source}
        return sorted(direct)

    def has_formality(self, target: str) -> bool:
        """Whether all models that translate into a language can be asked for formal or informal translations."""
        names = [name for direction, name in self.by_direction.items() if direction.target == target]
        return bool(names) and all(self.models[name].formality for name in names)

    @property
    def default(self) -> str:
        """The name of the model that the page starts with."""
        return bundled_models.DEFAULT if bundled_models.DEFAULT in self.models else next(iter(self.models))

    def find(self, name: str) -> ServedModel:
        if name not in self.models:
            raise ServeError(404, f'there is no model "{name}"; there are {", ".join(self.models)}', field="model")
        return self.models[name]

    @contextlib.asynccontextmanager
    async def using(self, names: Sequence[str]) -> AsyncIterator[list[ModelWithBatcher]]:
        """Models with their batchers, loaded if necessary, and not unloaded inside the block."""
        models = [self.find(name) for name in names]
        for model in models:
            model.users += 1
        try:
            yield [await self._loaded(model) for model in models]
        finally:
            for model in models:
                model.users -= 1
                model.used = time.monotonic()

    async def _loaded(self, model: ServedModel) -> ModelWithBatcher:
        if model.loaded is None and model.refusal is None:
            if model.loading is None:
                model.loading = asyncio.create_task(self._load_once(model))
            await asyncio.shield(model.loading)
        if model.refusal is not None:
            raise ServeError(501, model.refusal)
        if model.loaded is None:
            message = f"the model {model.name} cannot be loaded; the server's log says why"
            raise ServeError(503, message, retry_after=RETRY_SECONDS)
        return model.loaded

    async def _load_once(self, model: ServedModel) -> None:
        """Load a model; a problem is only logged, since it may contain paths of the server."""
        try:
            model.loaded = await anyio.to_thread.run_sync(self._load, model)
            MODELS.inc()
        except MissingTorchError as problem:
            model.refusal = str(problem)
        except Exception as problem:
            log.error("the model %s cannot be loaded: %s", model.name, problem)
        finally:
            model.loading = None

    def _load(self, model: ServedModel) -> ModelWithBatcher:
        translator = Translator.load(model.folder, self._config.device, self._config.engine)
        threads = min(thread_count(), THREADS) if translator.converted is not None else 1
        observe = None if self._observe is None else partial(self._observe, model.name)
        release_memory()  # used by the conversion of the weights
        batcher = Batcher(model.name, threads, self._config.waiting, observe, self._slow_lane)
        return ModelWithBatcher(translator, batcher)

    async def preload(self) -> None:
        """Load the models of `preload`; one that cannot be loaded is tried again every `RETRY_SECONDS`."""
        missing = list(self._config.preload)
        while missing:
            for name in tuple(missing):
                with contextlib.suppress(ServeError):
                    async with self.using([name]):
                        missing.remove(name)
            if missing:
                await asyncio.sleep(RETRY_SECONDS)
        self.ready = True

    async def drop_idle(self) -> None:
        """Unload idle models; runs until its task is cancelled."""
        while True:
            await asyncio.sleep(min(IDLE_CHECK_SECONDS, self._config.idle or IDLE_CHECK_SECONDS))
            if not self._config.idle:
                continue
            old = time.monotonic() - self._config.idle
            for model in self.models.values():
                if model.loaded is not None and model.used < old and not model.users:
                    loaded, model.loaded = model.loaded, None
                    MODELS.dec()
                    # Started before the await, so that the threads of the model end even if this task is cancelled now.
                    await asyncio.get_running_loop().run_in_executor(None, loaded.batcher.close)
                    del loaded
                    await anyio.to_thread.run_sync(release_memory)
                    log.info("the model %s was not used for a while and is dropped", model.name)

    async def close(self) -> None:
        await asyncio.gather(*(model.loading for model in self.models.values() if model.loading is not None))
        for model in self.models.values():
            if model.loaded is not None:
                MODELS.dec()
                await anyio.to_thread.run_sync(model.loaded.batcher.close)
                model.loaded = None


def named_models(names: Sequence[str]) -> list[tuple[str, Path]]:
    """The names and folders of the models to serve: the given ones, or all bundled models."""
    if not names:
        return [(name, bundled_models.folder_of(name)) for name in bundled_models.names()]
    found: dict[str, Path] = {}
    for given in names:
        folder = bundled_models.folder_of(given) if given in bundled_models.names() else Path(given).resolve()
        name = folder.parent.name if folder.name in ("best", "last") else folder.name
        if name in found:
            raise InputError(f'two models are called "{name}": {found[name]} and {folder}; rename a folder')
        found[name] = folder
    return list(found.items())
