"""The models of a server: found by name or by languages, loaded when they are first asked for, dropped when idle.

A model that is loading holds up only who asked for it. Models in the box that share weights share the file, not the
memory.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from regard.bundle import box
from regard.bundle.bundle import Bundle
from regard.bundle.directions import Direction
from regard.decode.converted_model import usable_cores
from regard.errors import InputError, RegardError
from regard.serve.batcher import BatchDone, Batcher
from regard.serve.metrics import MODELS
from regard.serve.problems import ServeError
from regard.serve.settings import ServeConfig
from regard.text.language import language_name
from regard.translator import Translator

log = logging.getLogger("regard.serve")

THREADS = 4  # of a model, at most: while one searches, the others prepare
CHECKED = 5.0  # seconds between looks for idle models


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
    used: float = field(default_factory=time.monotonic)
    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

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
            self.find(name)

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
        return box.DEFAULT if box.DEFAULT in self.models else next(iter(self.models))

    def find(self, name: str) -> ServedModel:
        if name not in self.models:
            raise ServeError(404, f'there is no model "{name}"; there are {", ".join(self.models)}', field="model")
        return self.models[name]

    async def load(self, name: str) -> LoadedWithQueue:
        """A model with its queue, loaded now if it is not."""
        model = self.find(name)
        model.used = time.monotonic()
        async with model.lock:
            if model.loaded is None:
                try:
                    model.loaded = await anyio.to_thread.run_sync(self._load, model)
                except RegardError as problem:
                    log.error("the model %s cannot be loaded: %s", name, problem)  # it may name our folders
                    message = f"the model {name} cannot be loaded; the server's log says why"
                    raise ServeError(503, message, retry_after=60) from problem
        return model.loaded

    def _load(self, model: ServedModel) -> LoadedWithQueue:
        translator = Translator.load(model.folder, self._config.device, self._config.engine)
        threads = min(usable_cores(), THREADS) if translator.converted is not None else 1
        observe = None if self._observe is None else partial(self._observe, model.name)
        batcher = Batcher(model.name, threads, self._config.waiting, observe)
        MODELS.inc()
        return LoadedWithQueue(translator, batcher)

    async def preload(self) -> None:
        for name in self._config.preload:
            await self.load(name)

    @property
    def ready(self) -> bool:
        """Whether all that should be loaded from the start is."""
        return all(self.models[name].loaded is not None for name in self._config.preload)

    async def drop_idle(self) -> None:
        """For ever, so that a task does it."""
        while True:
            await asyncio.sleep(CHECKED)
            if not self._config.idle:
                continue
            old = time.monotonic() - self._config.idle
            for model in self.models.values():
                if model.loaded is not None and model.used < old and not model.loaded.batcher.characters:
                    loaded, model.loaded = model.loaded, None
                    MODELS.dec()
                    await anyio.to_thread.run_sync(loaded.batcher.close)

    async def close(self) -> None:
        for model in self.models.values():
            if model.loaded is not None:
                MODELS.dec()
                await anyio.to_thread.run_sync(model.loaded.batcher.close)


def named_models(names: Sequence[str]) -> list[tuple[str, Path]]:
    """The folders of models by the names under which they are served: those of folders, or of the box."""
    if not names:
        return [(name, box.boxed(name)) for name in box.names()]
    found: dict[str, Path] = {}
    for given in names:
        folder = box.boxed(given) if given in box.names() else Path(given).resolve()
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
