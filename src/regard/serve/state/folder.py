"""The folder of a server's state: the one that was given, or a private one for as long as the server runs."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from regard.files import lock_holder, take_lock
from regard.serve.state.store import StateError

PREFIX = "regard-serve-"
LOCK = "server.lock"
NEW_SECONDS = 60  # a folder this young may have no lock yet


@contextlib.contextmanager
def state_folder(given: Path | None) -> Iterator[Path]:
    """A folder for the state of one server and its workers.

    Without `given` it is a new one that only this user can read, and it is removed at the end. Folders that killed
    servers left are removed too: documents may be in them.
    """
    if given is not None:
        yield given
        return
    remove_left_folders(Path(tempfile.gettempdir()))
    try:
        made = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
    except OSError as problem:
        raise StateError(f"no folder for temporary files can be made: {problem.strerror or problem}") from None
    lock = take_lock(made / LOCK, lambda holder: StateError(f"{made} is used by {holder}"))
    try:
        yield made
    finally:
        lock.close()
        shutil.rmtree(made, ignore_errors=True)


def remove_left_folders(place: Path) -> None:
    """Remove the folders of servers that are gone; those of other users are left alone, as they cannot be removed."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            old = time.time() - folder.stat().st_mtime > NEW_SECONDS
            if old and not folder.is_symlink() and (folder / LOCK).exists() and lock_holder(folder / LOCK) is None:
                shutil.rmtree(folder, ignore_errors=True)
