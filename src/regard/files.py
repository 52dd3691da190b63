"""Files that are written completely or not at all, file locks, and objects that are made from a file once."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import zlib
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from threading import Lock
from typing import IO, Generic, TypeVar
from weakref import WeakValueDictionary

from safetensors import SafetensorError

from regard.errors import BundleError, InputError

T = TypeVar("T")
TEMPORARY = re.compile(r"\..+\.(\d+)\.tmp")  # .NAME.PID.tmp


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` fill a temporary file, syncs it, then renames it over `path`. A failure leaves `path` as it was.

    Temporary files for the same `path` that a killed process left are removed.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        remove_leftovers(path.parent.glob(f".{glob.escape(path.name)}.*.tmp"))
        write(temporary)
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except (OSError, SafetensorError) as problem:  # safetensors has its own error for a full disk
        raise BundleError(f"cannot write {path}: {getattr(problem, 'strerror', None) or problem}") from None
    finally:
        with contextlib.suppress(OSError):  # if nothing was written, there is nothing to remove
            temporary.unlink()
    sync_folder(path.parent)


def user_data() -> Path:
    """Returns the folder for what is kept of a user: $REGARD_DATA, else regard in the user's data folder."""
    if given := os.environ.get("REGARD_DATA"):
        return Path(given).expanduser()
    shared = os.environ.get("XDG_DATA_HOME")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "regard"


def user_cache() -> Path:
    """Returns the folder for files that can be regenerated: $REGARD_CACHE, else regard in the user's cache folder."""
    if given := os.environ.get("REGARD_CACHE"):
        return Path(given).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "regard"


def remove_leftovers(paths: Iterable[Path], own: bool = False) -> None:
    """Removes those of `paths` that are temporary files of dead processes.

    `own`: also those with this process's id. At its start these are from an earlier process with the same id, as in a
    restarted container.
    """
    for path in paths:
        found = TEMPORARY.fullmatch(path.name)
        if found and (not _is_alive(int(found[1])) or (own and int(found[1]) == os.getpid())):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_alive(pid: int) -> bool:
    if os.name != "posix":  # signal 0 tests for existence only on POSIX
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        pass
    return True


def sync_folder(folder: Path) -> None:
    """Makes a rename survive a power failure, where the system supports syncing a folder."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def take_lock(path: Path, in_use: Callable[[str], Exception]) -> IO[str]:
    """Opens and locks the file at `path` for this process and writes its id into it. The system releases the lock when
    the file is closed and when the process ends, for whatever reason. If another process has the lock, `in_use("another
    process (pid N)")` is raised. On POSIX the holder may remove the file before it closes it."""
    while True:
        file = path.open("a+")
        if not _lock(file):
            with file:
                raise in_use(_holder(file))
        if os.name != "posix" or _is_still(path, file):
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            return file
        file.close()  # the previous holder has removed the file


def lock_holder(path: Path) -> str | None:
    """Returns which process holds the lock of a file; None if none does or it cannot be tested. Nothing is written."""
    try:
        with path.open("r+") as file:
            return None if _lock(file) else _holder(file)
    except OSError:
        return None


def _holder(file: IO[str]) -> str:
    number = ""
    with contextlib.suppress(OSError):
        file.seek(0)
        number = file.read().strip()
    return f"another process (pid {number})" if number.isdigit() else "another process"


def _lock(file: IO[str]) -> bool:
    """Tries to lock the file; returns whether this process has the lock now."""
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True


def _is_still(path: Path, file: IO[str]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return False


def check_free(out: Path) -> None:
    """Raises InputError unless `out` is new or an empty folder: nothing is ever overwritten."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            f"{out} already exists and is not an empty folder; choose another name, or empty it first", parameter="out"
        )


def checksum(path: Path) -> int:
    """Returns the CRC-32 of a file."""
    total = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return total


class SharedObjects(Generic[T]):
    """Objects made from files. Those who ask for the same one at a time share it; one that nobody has is forgotten."""

    def __init__(self) -> None:
        self._known: WeakValueDictionary[Hashable, T] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        with self._lock:
            found = self._known.get(key)
            if found is None:
                found = self._known[key] = make()
            return found
