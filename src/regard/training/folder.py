"""A run's folder: what lies where, one process at a time, and a stop that never loses anything.

recipe.toml  tokenizer.json  best/  last/  training.safetensors  metrics.jsonl  tensorboard/
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from regard.errors import RunError
from regard.files import write_atomically
from regard.recipe.read import read_tables, recipe_from_tables
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer

LOCK = ".lock"


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.recipe_file = path / "recipe.toml"
        self.tokenizer_file = path / "tokenizer.json"
        self.best, self.last = path / "best", path / "last"
        self.metrics = path / "metrics.jsonl"

    def check_free(self) -> None:
        """A new folder, or an empty one; a folder with anything in it is never touched."""
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file; give --out a folder that does not exist yet")
        if self.path.is_dir() and any(p.name != LOCK for p in self.path.iterdir()):
            kind, way_on = "something", ""
            if self.recipe_file.exists():
                saved = any(self.path.glob("training*.safetensors"))
                kind = "a run" if saved else "a run that stopped before its first checkpoint"
                way_on = f"go on with it: regard resume {self.path}, or " if saved else "remove it, or "
            raise RunError(f"{self.path} already holds {kind}; {way_on}choose another folder: --out FOLDER")

    def has_begun(self, recipe: Recipe) -> bool:
        """Whether this very run has a checkpoint here. If it has not come so far, what it wrote is removed."""
        if not self.recipe_file.exists() or self.recipe() != recipe:
            return False
        if any(self.path.glob("training*.safetensors")):
            return True
        for path in (self.recipe_file, self.tokenizer_file, self.metrics):
            path.unlink(missing_ok=True)
        for folder in (self.best, self.path / "tensorboard"):
            shutil.rmtree(folder, ignore_errors=True)
        return False

    def create(self) -> None:
        self.check_free()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise RunError(f"cannot make the folder {self.path}: {problem.strerror}; choose another --out") from None

    def keep_recipe(self, recipe: Recipe) -> None:
        write_atomically(self.recipe_file, lambda path: path.write_text(recipe.to_toml(), encoding="utf-8"))

    def keep_tokenizer(self, tokenizer: Tokenizer) -> None:
        write_atomically(self.tokenizer_file, tokenizer.save)

    def tables(self) -> dict[str, Any]:
        if not self.recipe_file.is_file():
            raise RunError(f"no run in {self.path}; a run is a folder that regard train made")
        return read_tables(self.recipe_file)

    def recipe(self) -> Recipe:
        return recipe_from_tables(self.tables())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time. The system itself lets go of the lock when a process dies, however it dies."""
        with (self.path / LOCK).open("a+") as file:
            try:
                _lock(file.fileno())
            except OSError:
                raise RunError(
                    f"another process is training in {self.path}; wait for it, stop it, or choose another --out"
                ) from None
            yield


def _lock(handle: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


def free_folder(first: Path) -> Path:
    """runs/run, runs/run-2, runs/run-3, …: the first that is not there yet."""
    number, folder = 1, first
    while folder.exists():
        number += 1
        folder = first.with_name(f"{first.name}-{number}")
    return folder


class StopRequest:
    """Ctrl-C or SIGTERM asks the loop to finish its step, save and leave; a second Ctrl-C leaves at once."""

    def __init__(self) -> None:
        self.asked: str | None = None

    @contextlib.contextmanager
    def listening(self) -> Iterator[StopRequest]:
        def hear(number: int, frame: FrameType | None) -> None:
            if self.asked and number == signal.SIGINT:
                raise KeyboardInterrupt
            self.asked = signal.Signals(number).name

        try:
            before = {s: signal.signal(s, hear) for s in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not the main thread: the caller's own handling stands
            before = {}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
