"""The models of a server: found by name or by languages, loaded at their first use, unloaded when idle.

A model that is loading delays only the requests for it. Bundled models that share weights share the file, not the
memory.
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
from regard.errors import InputError
from regard.serve.batcher import BatchDone, Batcher
from regard.serve.errors import ServeError
from regard.serve.monitoring import MODELS
from regard.serve.settings import ServeConfig
from regard.text.language import language_name
from regard.translator import Translator
from regard.workers import thread_count

# ── memory ────────────────────────────────────────────────────────────────────────────────────────────────────────────


ARENAS = "MALLOC_ARENA_MAX"  # glibc's own variable, for those who want another number
M_ARENA_MAX = -8  # from malloc.h


def use_one_heap() -> None:
    """Let all threads of this process allocate from one heap of glibc's (an arena). By default each has its own: a
    batch takes memory in whichever thread translates it, and what is free in one heap is of no use to another, so a
    server grows over its first ten thousand requests. One heap is as fast (docs/benchmarks.md)."""
    if ARENAS not in os.environ and (set_option := _of_glibc("mallopt")):
        set_option(M_ARENA_MAX, 1)


def release_memory() -> None:
    """Free what only cycles refer to, and let glibc return its free pages: by itself it keeps most of a dropped model.
    Other C libraries return them without being asked."""
    gc.collect()
    if trim := _of_glibc("malloc_trim"):
        trim(0)


def _of_glibc(name: str) -> Any:
    """A function of the C library; None where it has none of that name."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        return getattr(ctypes.CDLL(None), name)
    return None


# ── models ────────────────────────────────────────────────────────────────────────────────────────────────────────────


log = logging.getLogger("regard.serve")

THREADS = 4  # of a model, at most: while one searches, the others prepare
IDLE_CHECK_SECONDS = 5.0  # seconds between looks for idle models
AGAIN = 30.0  # seconds until a model that could not be loaded at the start is tried again


@dataclass(eq=False)
class LoadedWithQueue:
    translator: Translator
    batcher: Batcher


@dataclass(eq=False)
class ServedModel:
    """A model that can be asked for."""

    name: str
    folder: Path
    bundle: Bundle  # without its weights
    loaded: LoadedWithQueue | None = None
    loading: asyncio.Task[None] | None = None  # of all who wait for it: it goes on if one of them leaves
    used: float = field(default_factory=time.monotonic)
    users: int = 0  # requests, which keep it from being dropped

    @property
    def direction(self) -> Direction | None:
        source, target = self.bundle.languages
        return Direction(source, target) if source and target else None

    @property
    def card(self) -> dict[str, Any]:
        return self.bundle.card


class ModelPool:
    def __init__(self, config: ServeConfig, observe: Callable[[str, BatchDone], None] | None = None) -> None:
        """Cards and vocabularies are read here, weights later."""
        self._config, self._observe = config, observe
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
        self.ready = not config.preload  # whether all that should be loaded from the start was

    def _by_preference(self) -> list[ServedModel]:
        """Models that are called by their languages come first, then those that were named first."""
        return sorted(self.models.values(), key=lambda model: model.name != str(model.direction))

    @property
    def directions(self) -> list[Direction]:
        return list(self.by_direction)

    @property
    def languages(self) -> list[str]:
        """Codes of all languages that something can be translated from or to."""
        return sorted({code for direction in self.by_direction for code in direction})

    def targets(self, source: str) -> list[str]:
        """The languages that one can be translated into, also by way of another where the server does that."""
        direct = {one.target for one in self.by_direction if one.source == source}
        way = self._config.through
        if way in direct:
            direct |= {one.target for one in self.by_direction if one.source == way} - {source}
        return sorted(direct)

    @property
    def default(self) -> str:
        """The model that a page begins with."""
        return bundled_models.DEFAULT if bundled_models.DEFAULT in self.models else next(iter(self.models))

    def find(self, name: str) -> ServedModel:
        if name not in self.models:
            raise ServeError(404, f'there is no model "{name}"; there are {", ".join(self.models)}', field="model")
        return self.models[name]

    @contextlib.asynccontextmanager
    async def using(self, names: Sequence[str]) -> AsyncIterator[list[LoadedWithQueue]]:
        """Models with their queues, loaded now if they are not, and kept while they are used."""
        models = [self.find(name) for name in names]
        for model in models:
            model.users += 1
        try:
            yield [await self._loaded(model) for model in models]
        finally:
            for model in models:
                model.users -= 1
                model.used = time.monotonic()

    async def _loaded(self, model: ServedModel) -> LoadedWithQueue:
        if model.loaded is None:
            if model.loading is None:
                model.loading = asyncio.create_task(self._load_once(model))
            await asyncio.shield(model.loading)
        if model.loaded is None:
            message = f"the model {model.name} cannot be loaded; the server's log says why"
            raise ServeError(503, message, retry_after=AGAIN)
        return model.loaded

    async def _load_once(self, model: ServedModel) -> None:
        """What goes wrong stands in the log alone: it may name our folders."""
        try:
            model.loaded = await anyio.to_thread.run_sync(self._load, model)
            MODELS.inc()
        except Exception as problem:
            log.error("the model %s cannot be loaded: %s", model.name, problem)
        finally:
            model.loading = None

    def _load(self, model: ServedModel) -> LoadedWithQueue:
        translator = Translator.load(model.folder, self._config.device, self._config.engine)
        threads = min(thread_count(), THREADS) if translator.converted is not None else 1
        observe = None if self._observe is None else partial(self._observe, model.name)
        release_memory()  # what converting the weights has taken
        batcher = Batcher(model.name, threads, self._config.waiting, observe)
        return LoadedWithQueue(translator, batcher)

    async def preload(self) -> None:
        """Load what should be there from the start; what cannot be loaded is tried again and again."""
        missing = list(self._config.preload)
        while missing:
            for name in tuple(missing):
                with contextlib.suppress(ServeError):
                    async with self.using([name]):
                        missing.remove(name)
            if missing:
                await asyncio.sleep(AGAIN)
        self.ready = True

    async def drop_idle(self) -> None:
        """For ever, so that a task does it."""
        while True:
            await asyncio.sleep(min(IDLE_CHECK_SECONDS, self._config.idle or IDLE_CHECK_SECONDS))
            if not self._config.idle:
                continue
            old = time.monotonic() - self._config.idle
            for model in self.models.values():
                if model.loaded is not None and model.used < old and not model.users:
                    loaded, model.loaded = model.loaded, None
                    MODELS.dec()
                    # Begun at once: who is cancelled now has let the model go, and its threads must end.
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
    """The folders of models by the names under which they are served: those of folders, or of the box."""
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


def direction_name(direction: Direction) -> str:
    """
    >>> direction_name(Direction("en", "fr"))
    'English → French'
    """
    return f"{language_name(direction.source)} → {language_name(direction.target)}"
