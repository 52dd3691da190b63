"""The state of a server: its folder, and all parts of its store, opened together."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from regard.files import lock_holder, take_lock
from regard.serve.state.documents import DocumentJob, DocumentLimits, Documents
from regard.serve.state.glossaries import Glossaries
from regard.serve.state.keys import ApiKeys
from regard.serve.state.limits import Limiter
from regard.serve.state.store import StateError, Store
from regard.serve.state.suggestions import Suggestions

PREFIX = "regard-serve-"
LOCK = "server.lock"
NEW_SECONDS = 60  # a folder newer than this may not have a lock yet


@contextlib.contextmanager
def state_folder(given: Path | None) -> Iterator[Path]:
    """A folder for the state of one server and its workers.

    Without `given` it is a new folder that only this user can read, and it is removed at the end. Folders left by
    killed servers are removed too, because they may contain documents.
    """
    if given is not None:
        yield given
        return
    remove_stale_folders(Path(tempfile.gettempdir()))
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


def remove_stale_folders(place: Path) -> None:
    """Remove the folders of servers that have ended; those of other users cannot be removed."""
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            old = time.time() - folder.stat().st_mtime > NEW_SECONDS
            if old and not folder.is_symlink() and (folder / LOCK).exists() and lock_holder(folder / LOCK) is None:
                shutil.rmtree(folder, ignore_errors=True)


class ServerState(contextlib.AbstractContextManager["ServerState"]):
    """The store of a folder and its parts. Every process opens its own; call `close()` at the end."""

    def __init__(
        self, folder: Path, documents: DocumentLimits | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self.store = Store(folder, now)
        self.keys = ApiKeys(self.store)
        self.limiter = Limiter(self.store)
        self.glossaries = Glossaries(self.store)
        self.documents = Documents(self.store, documents or DocumentLimits(), self._refund)
        self.suggestions = Suggestions(self.store)

    def _refund(self, failed: DocumentJob) -> None:
        """Subtract the characters of a document that was not translated from those counted for its client."""
        if charged := failed.request.get("charged"):
            self.limiter.refund(charged["subject"], charged["characters"], charged["period"], failed.created)

    def clean(self) -> None:
        """Remove expired state; called when a server starts, and every minute."""
        self.limiter.clean()
        self.documents.clean()

    def close(self) -> None:
        self.store.close()

    def __exit__(self, *problem: object) -> None:
        self.close()
