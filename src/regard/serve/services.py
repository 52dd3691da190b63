"""What endpoints use: the models, what translates and explains with them, and what lets requests in."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from starlette.requests import Request

from regard.serve import metrics
from regard.serve.callers import Callers
from regard.serve.document_service import DocumentService
from regard.serve.document_worker import DocumentWorker
from regard.serve.explain_service import ExplainService
from regard.serve.notes import notes_of
from regard.serve.pool import ModelPool
from regard.serve.problems import ServeError
from regard.serve.service import TranslationService
from regard.serve.settings import ServeConfig
from regard.serve.state.documents import DocumentJob, DocumentLimits
from regard.serve.state.folder import state_folder
from regard.serve.state.glossaries import find_glossary
from regard.serve.state.keys import KeyLimits
from regard.serve.state.state import ServerState
from regard.serve.state.store import StateError, in_thread

CLEANED = 60.0  # how often expired things are removed, in seconds
CLIENT_LEFT = 499

log = logging.getLogger("regard.serve")


class Services:
    """What endpoints use. `state`, `callers` and `document_worker` are there while it runs."""

    state: ServerState
    callers: Callers
    document_worker: DocumentWorker

    def __init__(self, config: ServeConfig) -> None:
        self.config = config
        self.pool = ModelPool(config, metrics.count_batch)
        self.translation = TranslationService(config, self.pool)
        self.documents = DocumentService(config, self.translation)
        self.explain = ExplainService(config, self.pool)

    async def admit(self, request: Request, key: str | None, texts: Sequence[str]) -> None:
        """Let a request in that came with this key, and count its texts, or raise what refuses it."""
        notes = notes_of(request)
        notes.characters = sum(map(len, texts))
        if self.config.log_text:
            notes.texts = list(texts)
        caller = await self.callers.find(key, request.client.host if request.client else None)
        request.state.caller = caller
        await self.callers.request(caller)
        await self.callers.spend(caller, notes.characters)
        notes.spent = notes.characters

    async def charge(self, request: Request, characters: int) -> None:
        """Count further characters of a request that was let in: those of a document, now that it is read."""
        notes = notes_of(request)
        await self.callers.spend(request.state.caller, characters)
        notes.characters += characters
        notes.spent += characters

    async def translate_job(self, job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        """The result of a document that waited in the store, and its characters."""
        asked = job.request
        glossary = await in_thread(find_glossary, self.state.glossaries, job.owner, asked["glossaries"])
        read = await self.documents.read(data, asked["format"], asked["target"])
        return await self.documents.translate(read, asked["source"], asked["target"], glossary), read.characters

    async def give_back(self, request: Request, problem: Exception) -> None:
        """Count characters off that were not translated, unless the client did not wait for them."""
        notes = notes_of(request)
        if notes.spent and not (isinstance(problem, ServeError) and problem.status == CLIENT_LEFT):
            with contextlib.suppress(StateError):
                await self.callers.give_back(request.state.caller, notes.spent)

    async def _clean(self) -> None:
        """For ever, so that a task does it."""
        while True:
            try:
                await in_thread(self.state.clean)
            except StateError as problem:
                log.error("what has expired is not removed: %s", problem)
            await asyncio.sleep(CLEANED)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        given = None if self.config.state is None else Path(self.config.state)
        with state_folder(given) as folder, ServerState(folder, self._document_limits()) as self.state:
            limits = KeyLimits(self.config.per_minute, self.config.quota, self.config.period)
            self.callers = Callers(self.state, keys_needed=self.config.keys, limits=limits)
            self.document_worker = DocumentWorker(self.state.documents, self.translate_job)
            jobs = (
                self.pool.preload(),
                self.pool.drop_idle(),
                self.explain.drop_idle(),
                self._clean(),
                self.document_worker.run(),
            )
            tasks = [asyncio.create_task(job) for job in jobs]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self.explain.close()
                await self.pool.close()

    def _document_limits(self) -> DocumentLimits:
        return DocumentLimits(self.config.kept_bytes, self.config.kept_minutes)
