"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from safetensors import SafetensorError

from regard.errors import BundleError, InputError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file, sync it, then rename it over `path`. A failure leaves `path` as it was."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as problem:
        raise BundleError(f"cannot write {path}: {problem.strerror or problem}") from None
    except SafetensorError as problem:  # how safetensors reports a full disk
        raise BundleError(f"cannot write {path}: {problem}") from None
    finally:
        with contextlib.suppress(OSError):  # where nothing could be written, nothing is left to remove
            temporary.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, where the system lets a folder be synced."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def check_free(out: Path) -> None:
    """Raise unless `out` is new or an empty folder: nothing is ever overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            f"{out} already exists and is not an empty folder; choose another name with --out, or empty it first"
        )
