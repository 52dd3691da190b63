"""One SQLite file in a folder, for the workers of a server and for replicas that mount the same folder.

SQLite, because it is in Python's standard library, needs no separate server, and keeps transactions atomic if a process
is killed or the disk is full. The write-ahead log lets readers and one writer work at the same time and rarely syncs,
but its index is memory shared by the processes of one machine; on a network file system the store uses SQLite's
rollback journal instead, which needs only file locks.

A transaction takes well under a millisecond. From asyncio, call the methods of this folder with `await in_thread(…)`.

The schema is a list of migrations from an empty file to the current version. A file's `user_version` is the number of
migrations applied to it. A new version appends one; a released one never changes. Times are seconds since 1970, UTC.
`owner` and `subject` identify the owner of a row: `key:7` is an API key, `address:192.0.2.1` a client without one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from regard.errors import RegardError

# ── schema ────────────────────────────────────────────────────────────────────────────────────────────────────────────


APPLICATION = 0x72676172  # "rgar", in the header of the file, identifies our files

MIGRATIONS = (Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"),)  # each migrates to the next version

# ── the store ─────────────────────────────────────────────────────────────────────────────────────────────────────────


FILE = "regard.sqlite"
BUSY_SECONDS = 10.0  # how long a transaction waits for those of other processes
THREADS = 4  # maximum threads of one process that wait for the store
NETWORK_TYPES = ("nfs", "cifs", "smb", "9p", "ceph", "gluster", "lustre", "gpfs", "afs", "fuse.", "virtiofs", "vboxsf")

P = ParamSpec("P")
T = TypeVar("T")


class StateError(RegardError):
    """The store cannot be read or written: no permission, no space, busy, damaged, or of a newer version."""


class Store(contextlib.AbstractContextManager["Store"]):
    """The open store of a process. `now` is the clock of all its parts."""

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        """Open the store in a folder, which is created if it is missing."""
        self.folder = folder
        self.path = folder / FILE
        self.now = now
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        with self._state_errors():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # SQLite gives its log the permissions of the file, which only this user can read.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._put_back(self._connect())
        self._migrate()

    def close(self) -> None:
        with self._lock:
            self._closed, idle, self._idle = True, self._idle, []
        for connection in idle:
            connection.close()

    def __exit__(self, *problem: object) -> None:
        self.close()

    def reading(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A connection on which all statements see the same state."""
        return self._transaction("BEGIN")

    def writing(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A connection while no other process writes. Changes are committed at the end of the block, and rolled back if
        it raises."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._state_errors():
            connection = self._take()
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                connection.close()
                raise
            self._put_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._closed:
                raise StateError(f"the store in {self.folder} is closed")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _put_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < THREADS:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.row_factory = sqlite3.Row
            set_journal(connection, "delete" if on_network(self.folder) else "wal")
            connection.execute("PRAGMA synchronous = NORMAL")  # a power failure may lose the last transactions
            connection.execute("PRAGMA secure_delete = ON")  # deleted data cannot be read from the file
            connection.execute("PRAGMA trusted_schema = OFF")
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self) -> None:
        """Apply the missing migrations to the file; if several processes try, one of them does it."""
        with self.writing() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if application != APPLICATION and tables:
                raise StateError(f"{self.path} is a database of another program; choose another folder")
            if version > len(MIGRATIONS):
                raise StateError(
                    f"{self.path} was written by a newer regard (version {version} of the store, this one knows "
                    f"{len(MIGRATIONS)}); update regard, or choose another folder"
                )
            for migration in MIGRATIONS[version:]:
                for statement in migration.split(";\n"):  # executescript() would commit in between
                    connection.execute(statement)
            if version < len(MIGRATIONS):
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextlib.contextmanager
    def _state_errors(self) -> Iterator[None]:
        """Convert SQLite's and the system's errors to a `StateError` of one line."""
        try:
            yield
        except OSError as problem:
            raise StateError(f"the folder {self.folder} cannot be used: {problem.strerror or problem}") from None
        except sqlite3.DatabaseError as problem:
            raise StateError(self._message(problem)) from None

    def _message(self, problem: sqlite3.DatabaseError) -> str:
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return f"the store {self.path} was in use by other processes for {BUSY_SECONDS:.0f} s; try again"
        if code == sqlite3.SQLITE_FULL:
            return f"the disk of {self.path} is full; free some room"
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return f"{self.path} is damaged or no database ({problem}); restore a copy, or choose another folder"
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return f"{self.path} cannot be written ({problem}); give this user the right to, or choose another folder"
        return f"{self.path} cannot be used: {problem}"


def set_journal(connection: sqlite3.Connection, wanted: str) -> None:
    """Change the journal mode of a file, which is stored in the file, so that only the first process has to. SQLite
    does not wait for other processes here, so this function does."""
    until = time.monotonic() + BUSY_SECONDS
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != wanted:
        try:
            connection.execute(f"PRAGMA journal_mode = {wanted}")
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(0.02)


_threads: anyio.lowlevel.RunVar[anyio.CapacityLimiter] = anyio.lowlevel.RunVar("threads of the store")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a function that waits for the store in a thread. These threads are few and used for nothing else, so that a
    busy store delays nothing else, and a store that hangs fails calls after `BUSY_SECONDS`. A call that has started is
    completed even if its caller is cancelled."""
    try:
        threads = _threads.get()
    except LookupError:
        _threads.set(threads := anyio.CapacityLimiter(THREADS))
    borrower = object()
    with anyio.move_on_after(BUSY_SECONDS) as waiting:
        await threads.acquire_on_behalf_of(borrower)
    if waiting.cancelled_caught:
        raise StateError(f"{THREADS} calls of the store have taken all threads for {BUSY_SECONDS:.0f} s; try again")
    try:
        return await anyio.to_thread.run_sync(lambda: function(*args, **kwargs), limiter=anyio.CapacityLimiter(1))
    finally:
        threads.release_on_behalf_of(borrower)


def on_network(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> bool:
    """Whether a folder is on a file system that several machines may mount. Supported only on Linux.

    >>> on_network(Path("/"), Path("/does/not/exist"))
    False
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    place, best, found = str(folder.resolve()), -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        at = before.split(" ")[4].replace("\\040", " ")
        if (place == at or place.startswith(at.rstrip("/") + "/")) and len(at) >= best:  # the last mount covers others
            best, found = len(at), after.split(" ")[0]
    return found.startswith(NETWORK_TYPES)
