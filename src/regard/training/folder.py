"""A run's folder: its files, its lock, and stopping a run without loss.

recipe.toml  tokenizer.json  best/  last/  training.safetensors  metrics.jsonl  tensorboard/
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from itertools import chain, count
from pathlib import Path
from types import FrameType
from typing import Any

from regard.data.config import DataConfig
from regard.errors import RunError
from regard.files import lock_holder, remove_leftovers, take_lock, write_atomically
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
        self._held = False  # whether this object has the lock

    def check_free(self) -> None:
        """Raises unless the folder is new or empty: a folder with contents is never changed."""
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self.path} is a file; name a folder that does not exist yet", parameter="out")
        if not self.path.is_dir():
            return
        self.check_unlocked()
        if any(p.name != LOCK for p in self.path.iterdir()):
            kind, advice = "something", ""
            if self.recipe_file.exists():
                saved = any(self.path.glob("training*.safetensors"))
                kind = "a run" if saved else "a run that stopped before its first checkpoint"
                advice = f"continue it: regard resume {self.path}, or " if saved else "remove it, or "
            raise RunError(f"{self.path} already holds {kind}; {advice}choose another folder", parameter="out")

    def check_unlocked(self) -> None:
        """Raises if another process is training here. Writes nothing."""
        if not self._held and (holder := lock_holder(self.path / LOCK)) is not None:
            raise self._in_use(holder)

    def has_begun(self, recipe: Recipe) -> bool:
        """Whether a run with this recipe has a checkpoint here. If it has none yet, its files are removed."""
        if not self.recipe_file.exists() or recipe_from_tables(self.tables()) != recipe:
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
            what = f"cannot make the folder {self.path}: {problem.strerror}"
            raise RunError(f"{what}; choose another", parameter="out") from None

    def save_recipe(self, recipe: Recipe) -> None:
        write_atomically(self.recipe_file, lambda path: path.write_text(recipe.to_toml(), encoding="utf-8"))

    def save_tokenizer(self, tokenizer: Tokenizer) -> None:
        write_atomically(self.tokenizer_file, tokenizer.save)

    def tables(self) -> dict[str, Any]:
        if not self.recipe_file.is_file():
            raise RunError(f"no run in {self.path}; a run is a folder that regard train made")
        return read_tables(self.recipe_file)

    def last_step(self) -> int | None:
        """Returns the step of the model in `last`, from its card."""
        return _read_card(self.last).get("step")

    def is_complete(self, step: int, data: DataConfig) -> bool:
        """Whether a run that is done up to `step` has saved its last model and, if it has a test set, its score."""
        has_test = data.test_src is not None or data.test_pairs is not None
        scored = "test_bleu" in _read_card(self.best if self.best.exists() else self.last)
        return self.last_step() == step and (scored or not has_test)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the folder for one process. The system releases the lock when a process dies, however it dies; files
        that such a process has left incomplete are removed."""
        with take_lock(self.path / LOCK, self._in_use):
            self._held = True
            folders = (self.path, self.best, self.last)
            remove_leftovers((path for folder in folders for path in folder.glob(".*.tmp")), own=True)
            try:
                yield
            finally:
                self._held = False
                if os.name == "posix":  # elsewhere an open file cannot be removed
                    (self.path / LOCK).unlink(missing_ok=True)

    def _in_use(self, holder: str) -> RunError:
        return RunError(
            f"{holder} is training in {self.path}; wait for it, stop it, or choose another folder", parameter="out"
        )


def _read_card(bundle: Path) -> dict[str, Any]:
    try:
        card = json.loads((bundle / "card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return card if isinstance(card, dict) else {}


def free_folder(first: Path) -> Path:
    """Returns the first of runs/run, runs/run-2, runs/run-3, … that does not exist."""
    names = chain([first.name], (f"{first.name}-{number}" for number in count(2)))
    return next(folder for name in names if not (folder := first.with_name(name)).exists())


class StopRequest:
    """After Ctrl-C, SIGTERM or SIGHUP the loop finishes its step, saves and stops; a second Ctrl-C stops it at once.
    `reason` is the name of the signal."""

    def __init__(self) -> None:
        self.reason: str | None = None

    @contextlib.contextmanager
    def handling_signals(self) -> Iterator[None]:
        terminals = [number for number in (1, 2) if os.isatty(number)]

        def handle(number: int, frame: FrameType | None) -> None:
            if self.reason and number == signal.SIGINT:
                raise KeyboardInterrupt
            self.reason = signal.Signals(number).name
            if self.reason == "SIGHUP":
                for terminal in terminals:  # closed: writing to it would fail, and with it the checkpoint
                    os.dup2(os.open(os.devnull, os.O_WRONLY), terminal)

        before = {}
        with contextlib.suppress(ValueError):  # not the main thread: the caller's handlers stay
            for name in ("SIGINT", "SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)  # Windows has no SIGHUP
                if number is not None and not (name == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN):
                    before[number] = signal.signal(number, handle)  # under nohup SIGHUP is ignored
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
