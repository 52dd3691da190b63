"""Documents: their formats and names, their translation, and the worker that translates stored documents.

    bytes ─ read, in a thread ─▶ segments ─ TranslationService, with all other requests ─▶ write, in a thread ─▶ bytes

Reading and writing is done by the formats (`formats/translate_document.py`), as on the command line. Only a few
documents are read at a time: each may take as much memory as its format allows.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import anyio
import anyio.to_thread

from regard.data.compressed import COMPRESSED
from regard.errors import RegardError
from regard.formats.document import Document, FormatOptions
from regard.formats.table import FORMATS, LINES, MAX_HEAD, Refusal, find_format, reader_of
from regard.formats.translate_document import write_translated
from regard.serve.errors import ServeError
from regard.serve.segments import SegmentRequest, translate_segments
from regard.serve.settings import ServeConfig
from regard.serve.state.documents import LEASE_SECONDS, DocumentJob, Documents, StoreFullError
from regard.serve.state.store import StateError, in_thread
from regard.serve.translation_service import TranslationService
from regard.text.glossary import Glossary
from regard.text.language import Register
from regard.translation.options import TranslateOptions

# ── formats and names of files ────────────────────────────────────────────────────────────────────────────────────────


# Parquet is read by a large C++ library that was not made for untrusted files.
UPLOADED = {name: format for name, format in FORMATS.items() if name != "parquet"}
SUFFIXES = tuple(suffix for format in UPLOADED.values() for suffix in format.suffixes)


def suffix_of(name: str) -> str:
    """
    >>> suffix_of("../a.b/Notes.DOCX"), suffix_of("README"), suffix_of("page.html.gz")
    ('.docx', '', '.gz')
    """
    _stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" if dot and "/" not in suffix and "\\" not in suffix else ""


def uploaded_format(name: str, data: bytes) -> str:
    """The format of an uploaded file by the suffix of its name, as on the command line; lines are a text."""
    path = Path(plain_name(name, ""))
    found: str | Refusal = Refusal(f"there are {' '.join(SUFFIXES)}, not compressed")
    if path.name and path.suffix not in COMPRESSED:
        found = find_format(path, data[:MAX_HEAD], UPLOADED)
    if isinstance(found, Refusal):
        raise ServeError(400, f"Invalid request: file format not supported; {found.reason}", field="file")
    return "text" if found == LINES else found


MAX_NAME = 120
UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f"*/:<>?\\|\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


def plain_name(given: str, default: str = "document") -> str:
    """The last part of a path, without characters special to a shell, a browser or a file system. The suffix stays.

    >>> plain_name("../../etc/passwd"), plain_name("C:\\\\x\\\\a b.docx"), plain_name("..")
    ('passwd', 'a b.docx', 'document')
    >>> plain_name("a\\r\\nSet-Cookie: y.txt")
    'a__Set-Cookie_ y.txt'
    """
    name = UNSAFE.sub("_", re.split(r"[/\\]", given)[-1]).strip(" .")
    if len(name) > MAX_NAME:
        stem, dot, suffix = name.rpartition(".")
        name = f"{stem[: MAX_NAME - 20]}.{suffix[:19]}" if dot else name[:MAX_NAME]
    return name or default


def attachment(name: str) -> str:
    """The Content-Disposition header of a download (RFC 6266): the name in ASCII, and the full name in UTF-8.

    >>> print(attachment("café.docx"))
    attachment; filename="caf_.docx"; filename*=UTF-8''caf%C3%A9.docx
    """
    name = plain_name(name)
    plain = "".join(c if c.isascii() and (c.isalnum() or c in " ._-") else "_" for c in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


# ── translation ───────────────────────────────────────────────────────────────────────────────────────────────────────


MAX_THREADS = 2  # maximum threads that read or write documents


class ReadDocument(NamedTuple):
    document: Document
    characters: int  # of its segments


class DocumentService:
    """Reads, translates and writes documents without blocking the event loop."""

    def __init__(self, config: ServeConfig, translation: TranslationService) -> None:
        self.config, self.translation = config, translation

    @cached_property
    def _threads(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(MAX_THREADS)

    async def read(self, data: bytes, format: str, target: str) -> ReadDocument:
        """Parse a document. Raise `ServeError` if it is too long, `InputError` if it is damaged."""
        options = FormatOptions(target=target)
        document = await anyio.to_thread.run_sync(reader_of(format), data, options, limiter=self._threads)
        characters = sum(len(segment.text) for segment in document.segments)
        if characters > (most := self.config.document_characters):
            raise ServeError(413, f"the document has {characters:,} characters, but at most {most:,} are translated")
        return ReadDocument(document, characters)

    async def translate(
        self,
        read: ReadDocument,
        source: str | None,
        target: str,
        glossary: Glossary | None = None,
        formality: Register | None = None,
        through: str | None = None,
    ) -> bytes:
        """Return the document in the target language. Without `source`, one language is detected for all its text."""
        options = TranslateOptions(glossary=glossary, formality=formality)
        request = SegmentRequest([read.document.segments], target, source, options, through=through)
        deadline = time.monotonic() + self.config.document_timeout
        (found,) = await translate_segments(self.translation, request, deadline)
        written = await anyio.to_thread.run_sync(
            write_translated, read.document, found.translations, limiter=self._threads
        )
        return written.data


# ── the background worker ─────────────────────────────────────────────────────────────────────────────────────────────


POLL_SECONDS = 1.0  # maximum delay until a job of another process is found; jobs of this process are found at once

log = logging.getLogger("regard.serve")

TranslateDocument = Callable[[DocumentJob, bytes], Awaitable[tuple[bytes, int]]]  # → result, characters


class DocumentWorker:
    """Translates stored documents, one at a time. Every worker process of every replica has one.

    It renews its lease on the current job, and releases the job when it is stopped. Run `run()` as a task; cancel the
    task to stop it.
    """

    def __init__(self, documents: Documents, translate: TranslateDocument) -> None:
        self.documents = documents
        self.translate = translate
        self.name = secrets.token_hex(8)
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Check for a job at once, because one was submitted."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken = anyio.Event()
            try:
                job = await in_thread(self.documents.take, self.name)
                if job is not None:
                    await self._work(job)
                    continue
            except StateError as problem:  # the disk may have space again, or the lock be free, a little later
                log.error("documents wait: %s", problem)
            with anyio.move_on_after(POLL_SECONDS):
                await self._woken.wait()

    async def _work(self, job: DocumentJob) -> None:
        """Translate one document while the lease is renewed."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hold, job, tasks.cancel_scope)
                try:
                    await self._translate(job)
                except StateError as problem:  # the result cannot be stored now: the job is taken again after the lease
                    log.error("document %s waits: %s", job.id, problem)
                tasks.cancel_scope.cancel()
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await in_thread(self.documents.release, job, self.name)
            raise

    async def _translate(self, job: DocumentJob) -> None:
        try:
            data = await in_thread(self.documents.upload, job)
            if data is None:
                raise ServeError(410, "the upload is gone")
            result, characters = await self.translate(job, data)
            await in_thread(self.documents.finish, job, self.name, result, characters)
        except ServeError as problem:
            if problem.reason == "busy":
                await in_thread(self.documents.release, job, self.name)
                await anyio.sleep(min(problem.retry_after or POLL_SECONDS, LEASE_SECONDS))
            else:
                await in_thread(self.documents.fail, job, self.name, problem.message)
        except RegardError as problem:
            if isinstance(problem, StateError) and not isinstance(problem, StoreFullError):
                raise
            await in_thread(self.documents.fail, job, self.name, str(problem))
        except Exception as problem:
            log.exception("document %s cannot be translated", job.id)
            await in_thread(self.documents.fail, job, self.name, f"unexpected {type(problem).__name__}")

    async def _hold(self, job: DocumentJob, scope: anyio.CancelScope) -> None:
        """Renew the lease until the work is done; stop the work if another worker has the job."""
        while True:
            await anyio.sleep(LEASE_SECONDS / 3)
            try:
                if not await in_thread(self.documents.renew, job, self.name):
                    scope.cancel()
            except StateError as problem:
                log.error("the lease of document %s was not renewed: %s", job.id, problem)
