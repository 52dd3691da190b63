"""Documents that are translated in the background: a job for each, and its files until they expire.

    submit → queued → translating → done | error → expired, removed
                 ↑         │
                 └─────────┘  its worker was stopped or killed

Any worker of any replica takes the next job. It holds a lease on the job, which it renews while it translates; a job
whose lease has expired is taken by another worker. A job that was taken `MOST_ATTEMPTS` times fails: if it kills its
workers, it would kill the next one too. If the system's clock is set back, leases and lifetimes that seem to begin in
the future begin now.

Uploads and results are files beside the store, not blobs in it: they are large and short-lived, and their disk space
is released at once. Their names are random and made here; no part of a request becomes part of a path. A result is sent
only to a client with the job's id and its key, 128 and 256 random bits; by DeepL's interface also only to the same API
key.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from regard.serve.state.keys import hashed
from regard.serve.state.store import StateError, Store

FOLDER = "documents"
FILE_NAME = re.compile(r"[0-9a-f]{32}\.(in|out|tmp)")
LEASE_SECONDS = 30.0
MOST_ATTEMPTS = 3
MOST_DOCUMENTS = 20_000  # waiting, done and failed ones together; every upload reads all rows
LONGEST_NAME = 255
ORPHAN_SECONDS = 3600.0  # age at which a file without a job is removed

Status = Literal["queued", "translating", "done", "error"]


class StoreFullError(StateError):
    """The stored documents have reached their size limit; some expire soon."""


@dataclass(frozen=True)
class DocumentLimits:
    """Limits on the number and lifetime of stored documents."""

    total_bytes: int = 1_000_000_000  # maximum of uploads and results together
    minutes: float = 60.0  # lifetime from the upload on
    waiting: int = 1_000  # maximum jobs that are not done


@dataclass(frozen=True)
class DocumentJob:
    """A row of the table of documents."""

    id: str
    owner: str
    name: str  # the client's file name, for its suffix and for the name of the download
    request: Mapping[str, Any]
    status: Status
    message: str
    characters: int
    created: float
    expires: float
    attempts: int


class Documents:
    """The documents of a store."""

    def __init__(self, store: Store, limits: DocumentLimits, failed: Callable[[DocumentJob], None]) -> None:
        """`failed` is called with each job that ends without a result."""
        self.store = store
        self._failed = failed
        self.limits = limits
        self.folder = store.folder / FOLDER
        try:
            self.folder.mkdir(exist_ok=True, mode=0o700)
        except OSError as problem:
            raise StateError(f"the folder {self.folder} cannot be made: {problem.strerror or problem}") from None

    # ---- for clients

    def submit(self, owner: str, name: str, data: bytes, request: Mapping[str, Any]) -> tuple[DocumentJob, str]:
        """Create a job; return it with its key, of which only a hash is stored."""
        return self._keep(owner, name, data, request, "queued", 0)

    def keep(self, owner: str, name: str, result: bytes, characters: int = 0) -> tuple[DocumentJob, str]:
        """Store a finished result for a later download."""
        return self._keep(owner, name, result, {}, "done", characters)

    def get(self, id: str, key: str, owner: str | None) -> DocumentJob | None:
        """The job with this id and key; None for a wrong key, or a job that does not exist or has expired. Without an
        owner the key is sufficient: for a link that a browser opens."""
        with self.store.reading() as connection:
            row = connection.execute(
                "SELECT * FROM documents WHERE id = ? AND expires > ?", (id, self.store.now())
            ).fetchone()
        if row is None or owner not in (None, row["owner"]) or not hmac.compare_digest(row["hash"], hashed(key)):
            return None
        return _job(row)

    def result(self, job: DocumentJob) -> bytes | None:
        """The translated file; None if there is none or it has expired."""
        return self._read(job.id, "out") if job.status == "done" else None

    # ---- for workers

    def take(self, worker: str) -> DocumentJob | None:
        """Lease the job that has waited longest to this worker; None if no job waits. A job whose worker has not
        renewed its lease for `LEASE_SECONDS` waits again."""
        now = self.store.now()
        with self.store.writing() as connection:
            connection.execute("UPDATE documents SET heard = ? WHERE status = 'translating' AND heard > ?", (now, now))
            given_up = connection.execute(
                "UPDATE documents SET status = 'error', message = ? "
                "WHERE status = 'translating' AND heard < ? AND attempts >= ? RETURNING *",
                ("the translation was interrupted several times", now - LEASE_SECONDS, MOST_ATTEMPTS),
            ).fetchall()
            row = connection.execute(
                "UPDATE documents SET status = 'translating', worker = ?, heard = ?, attempts = attempts + 1 "
                "WHERE id = (SELECT id FROM documents WHERE expires > ? AND (status = 'queued' "
                "OR (status = 'translating' AND heard < ?)) ORDER BY created, id LIMIT 1) RETURNING *",
                (worker, now, now, now - LEASE_SECONDS),
            ).fetchone()
        for gone in given_up:
            self._failed(_job(gone))
        return _job(row) if row else None

    def upload(self, job: DocumentJob) -> bytes | None:
        return self._read(job.id, "in")

    def renew(self, job: DocumentJob, worker: str) -> bool:
        """Renew the lease; return False if the job no longer belongs to this worker."""
        with self.store.writing() as connection:
            return self._update(connection, job, worker, "heard = ?", self.store.now())

    def finish(self, job: DocumentJob, worker: str, result: bytes, characters: int) -> bool:
        """Store a result; return False if the job no longer belongs to this worker."""
        with self._written(result) as file, self.store.writing() as connection:
            self._check_room(connection, len(result))
            change = "status = 'done', characters = ?, bytes = ?"
            if not self._update(connection, job, worker, change, characters, len(result)):
                return False
            file.replace(self._file(job.id, "out"))
        self._remove_files(job.id, "in")
        return True

    def fail(self, job: DocumentJob, worker: str, message: str) -> bool:
        """End a job without a result; `message` is the reason."""
        with self.store.writing() as connection:
            failed = self._update(
                connection, job, worker, "status = 'error', message = ?, bytes = 0", " ".join(message.split())[:500]
            )
        if failed:
            self._remove_files(job.id, "in")
            self._failed(job)
        return failed

    def release(self, job: DocumentJob, worker: str) -> bool:
        """Let another worker take the job, without counting this attempt, because this worker stops."""
        with self.store.writing() as connection:
            return self._update(connection, job, worker, "status = 'queued', attempts = attempts - 1, worker = NULL")

    def clean(self) -> int:
        """Remove expired jobs, and files without a job; return the number of removed jobs. Call it when a server starts
        and every minute."""
        now = self.store.now()
        with self.store.writing() as connection:
            connection.execute(
                "UPDATE documents SET expires = expires - created + ?, created = ? WHERE created > ?", (now, now, now)
            )
            gone = [row["id"] for row in connection.execute("SELECT id FROM documents WHERE expires <= ?", (now,))]
            connection.execute("DELETE FROM documents WHERE expires <= ?", (now,))
            known = {row["id"] for row in connection.execute("SELECT id FROM documents")}
        for id in gone:
            self._remove_files(id)
        with contextlib.suppress(OSError):
            for path in self.folder.iterdir():
                orphan = FILE_NAME.fullmatch(path.name) and path.name[:32] not in known
                with contextlib.suppress(OSError):
                    if orphan and now - path.stat().st_mtime > ORPHAN_SECONDS:
                        path.unlink()
        return len(gone)

    # ---- rows and files

    def _keep(
        self, owner: str, name: str, data: bytes, request: Mapping[str, Any], status: Status, characters: int
    ) -> tuple[DocumentJob, str]:
        id, key = secrets.token_hex(16), secrets.token_hex(32)
        now = self.store.now()
        name = name[-LONGEST_NAME:].encode(errors="replace").decode()  # lone surrogates cannot be stored
        values = (id, owner, hashed(key), name, json.dumps(request), status, characters, len(data))
        with self._written(data) as file, self.store.writing() as connection:
            self._check_room(connection, len(data))
            count, waiting = connection.execute(
                "SELECT count(*), coalesce(sum(status IN ('queued', 'translating')), 0) FROM documents"
            ).fetchone()
            if count >= MOST_DOCUMENTS:
                raise StoreFullError(f"{count:,} documents are stored, which is the most allowed; try again later")
            if status == "queued" and waiting >= self.limits.waiting:
                raise StoreFullError(f"{waiting:,} documents are waiting, which is the most allowed; try again later")
            row = connection.execute(
                "INSERT INTO documents (id, owner, hash, name, request, status, characters, bytes, created, expires) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
                (*values, now, now + 60 * self.limits.minutes),
            ).fetchone()
            file.replace(self._file(id, "in" if status == "queued" else "out"))
        return _job(row), key

    def _check_room(self, connection: sqlite3.Connection, more: int) -> None:
        total = connection.execute("SELECT coalesce(sum(bytes), 0) FROM documents").fetchone()[0]
        if total + more > self.limits.total_bytes:
            raise StoreFullError(
                f"documents take {total:,} of {self.limits.total_bytes:,} bytes, and {more:,} more do not fit; "
                "try again later"
            )

    @staticmethod
    def _update(connection: sqlite3.Connection, job: DocumentJob, worker: str, change: str, *values: Any) -> bool:
        """Change a job that is still leased to a worker; return whether it was."""
        done = connection.execute(
            f"UPDATE documents SET {change} WHERE id = ? AND status = 'translating' AND worker = ?",
            (*values, job.id, worker),
        )
        return done.rowcount > 0

    def _file(self, id: str, kind: str) -> Path:
        name = f"{id}.{kind}"
        assert FILE_NAME.fullmatch(name), "ids are made here"
        return self.folder / name

    @contextlib.contextmanager
    def _written(self, data: bytes) -> Iterator[Path]:
        """A temporary file with the data, to be renamed within the block; otherwise it is removed at the end."""
        path = self._file(secrets.token_hex(16), "tmp")
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
            yield path
        except OSError as problem:
            raise StateError(f"a document cannot be written to {self.folder}: {problem.strerror or problem}") from None
        finally:
            with contextlib.suppress(OSError):
                path.unlink()

    def _read(self, id: str, kind: str) -> bytes | None:
        try:
            return self._file(id, kind).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise StateError(f"a document cannot be read from {self.folder}: {problem.strerror or problem}") from None

    def _remove_files(self, id: str, *kinds: str) -> None:
        for kind in kinds or ("in", "out"):
            with contextlib.suppress(OSError):
                self._file(id, kind).unlink()


def _job(row: sqlite3.Row) -> DocumentJob:
    values = {field.name: row[field.name] for field in fields(DocumentJob)}
    return DocumentJob(**values | {"request": json.loads(row["request"])})
