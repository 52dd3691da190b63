"""Finds the bundle that a name refers to: a folder, a bundled model, or a model on the Hugging Face hub.

A model of the hub is fetched and imported once. It is then a bundle in the user's cache, models/OWNER/NAME, and is used
from there offline. All commands and APIs that take the name of a model resolve it here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.bundle.folder import check_new, find_bundle
from regard.device import require_torch
from regard.errors import InputError
from regard.files import user_cache

OWNER = "Helsinki-NLP"  # owner of OPUS-MT
PART = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,95}"
NAME = re.compile(rf"{PART}/{PART}")
OPUS = re.compile(rf"opus-mt[_-]{PART}")


def hub_name(given: str) -> str | None:
    """Returns the name on the hub that a text refers to, if it is unambiguous: a model of OPUS-MT, with or without its
    owner. Models of other names need `regard fetch`, because a folder runs/mine looks the same.

    >>> hub_name("opus-mt-en-fr"), hub_name("gsarti/opus-mt-tc-en-pl"), hub_name("runs/mine")
    ('Helsinki-NLP/opus-mt-en-fr', 'gsarti/opus-mt-tc-en-pl', None)
    """
    if OPUS.fullmatch(given):
        return f"{OWNER}/{given}"
    owner, _, name = given.partition("/")
    return given if NAME.fullmatch(given) and (owner == OWNER or OPUS.fullmatch(name)) else None


def full_name(name: str) -> str:
    """Returns the name with its owner, by default that of OPUS-MT."""
    return name if "/" in name else f"{OWNER}/{name}"


Tell = Callable[[str], object]
OnBytes = Callable[[int, int | None], object]  # as in `data/fetch.py`, which is imported where something is fetched
ProgressOf = Callable[[str], OnBytes]


def find_model(path: Path) -> Path:
    """Returns the folder of the bundle that a path or name refers to; a model of OPUS-MT is fetched if needed."""
    name = str(path)
    if path.exists():
        return find_bundle(path)
    full = hub_name(name) or (name if NAME.fullmatch(name) and _home(name).is_dir() else None)
    return find_bundle(path) if full is None else fetch_model(full)


def _home(name: str) -> Path:
    """Returns the folder of a model of the hub in the cache."""
    return user_cache() / "models" / name


def fetch_model(
    name: str,
    out: Path | None = None,
    endpoint: str | None = None,
    tell: Tell | None = None,
    progress_of: ProgressOf | None = None,
) -> Path:
    """Fetches a model of the hub as a bundle, to `out`, which must not exist, or to the cache unless it is there."""
    if not NAME.fullmatch(name):
        raise InputError(f'"{name}" is no name on the hub; it must be OWNER/NAME, such as {OWNER}/opus-mt-en-fr')
    tell, home = tell or _to_stderr, out or _home(name)
    if out is not None:
        check_new(out)
    if home.is_dir():
        return find_bundle(home)
    require_torch(f"importing {name}")
    from regard.bundle.hub import check_room, fetch_files, look_up

    work = user_cache() / "hub" / name  # partial downloads
    with _alone(work):
        if out is None and home.is_dir():  # another process was first
            return find_bundle(home)
        model = look_up(name, endpoint)
        check_room(model, work)
        tell(f"fetching {name}: {len(model.files)} files, {model.size / 1e6:,.1f} MB, from {model.endpoint}")
        fetch_files(model, work, progress_of or _in_percent)
        from regard.bundle.marian import import_marian  # imports torch

        home.parent.mkdir(parents=True, exist_ok=True)
        lines = import_marian(work, home)
        shutil.rmtree(work, ignore_errors=True)
    for line in [*lines, *([f"licence: {model.licence}"] if model.licence else [])]:
        tell(line)
    return find_bundle(home)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Locks a folder, so that only one process at a time fetches into it; others wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f".{folder.name}.lock").open("w")
    except OSError as problem:
        raise InputError(
            f"{folder} cannot be written ({problem.strerror}); set REGARD_CACHE to a folder that can"
        ) from None
    with lock:
        if os.name == "posix":
            import fcntl

            fcntl.flock(lock.fileno(), fcntl.LOCK_EX)
        yield


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr)


def _in_percent(name: str) -> OnBytes:
    """Returns a callback that shows the progress of a file in a terminal."""
    shown = sys.stderr.isatty()

    def on_bytes(done: int, total: int | None) -> None:
        if total and shown:
            end = "\n" if done == total else ""
            print(f"\r{name}: {100 * done // total:3} % of {total / 1e6:,.1f} MB", end=end, file=sys.stderr, flush=True)

    return on_bytes
