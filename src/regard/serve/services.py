"""The services that endpoints use: the models, translation, explanation, authentication and rate limiting."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TypeVar, TypeVarTuple

import anyio
import anyio.to_thread
from starlette.requests import Request

from regard.serve import monitoring
from regard.serve.access import AccessControl, Client
from regard.serve.documents import DocumentService, DocumentWorker
from regard.serve.errors import CLIENT_DISCONNECTED, ServeError
from regard.serve.explain_service import ExplainService
from regard.serve.monitoring import record_of
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig
from regard.serve.state.documents import DocumentJob, DocumentLimits
from regard.serve.state.keys import KeyLimits, given_key
from regard.serve.state.server_state import ServerState, state_folder
from regard.serve.state.store import StateError, in_thread
from regard.serve.training_service import TrainingService
from regard.serve.translation_service import CLIENT, TranslationService

MAX_PARSERS = 2  # maximum threads that parse glossaries
CLEAN_SECONDS = 60.0  # between two removals of expired state

Args = TypeVarTuple("Args")
T = TypeVar("T")

log = logging.getLogger("regard.serve")


class Services:
    """The services that endpoints use. `state`, `access` and `document_worker` exist only while it is running."""

    state: ServerState
    access: AccessControl
    document_worker: DocumentWorker

    def __init__(self, config: ServeConfig) -> None:
        self.config = config
        self.pool = ModelPool(config, monitoring.count_batch)
        self.translation = TranslationService(config, self.pool)
        self.documents = DocumentService(config, self.translation)
        self.explain = ExplainService(config, self.pool)
        self.training = TrainingService()

    @cached_property
    def _parsers(self) -> anyio.CapacityLimiter:
        return anyio.CapacityLimiter(MAX_PARSERS)

    async def authenticate(self, request: Request, key: str | None) -> Client:
        """Find the client of a request by this key, or by the one in its Authorization header."""
        secret = key or given_key(request.headers.get("authorization"))
        client = await self.access.authenticate(secret, request.client.host if request.client else None)
        request.state.client = client
        return client

    async def authorize(self, request: Request, key: str | None, texts: Sequence[str]) -> None:
        """Authenticate the client of a request, unless that was done and there is no other key, and count the request
        and its texts against the limits."""
        record = record_of(request)
        record.characters = sum(map(len, texts))
        if self.config.log_text:
            record.texts = list(texts)
        known: Client | None = getattr(request.state, "client", None)
        client = known if known and not key else await self.authenticate(request, key)
        CLIENT.set(client.subject)
        await self.access.count_request(client)
        await self.access.charge(client, record.characters)
        record.charged = record.characters

    async def charge(self, request: Request, characters: int) -> None:
        """Count further characters of an authorized request: those of a document, after it is parsed."""
        record = record_of(request)
        await self.access.charge(request.state.client, characters)
        record.characters += characters
        record.charged += characters

    async def refund(self, request: Request, problem: Exception) -> None:
        """Subtract the characters of a request that failed, unless its client has disconnected."""
        charged = record_of(request).charged
        if charged and not (isinstance(problem, ServeError) and problem.status == CLIENT_DISCONNECTED):
            with contextlib.suppress(StateError):
                await self.access.refund(request.state.client, charged)

    async def parse_glossary(self, parse: Callable[[*Args], T], *args: *Args) -> T:
        """Parse a glossary in a thread, of which there are few: large ones would delay others, and the store."""
        return await anyio.to_thread.run_sync(parse, *args, limiter=self._parsers)

    async def translate_job(self, job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        """Translate a stored document; return the result and the number of its characters."""
        CLIENT.set(job.owner)
        options = job.request
        found = await in_thread(self.state.glossaries.find, job.owner, options["glossaries"])
        if len(found) < len(options["glossaries"]):
            raise ServeError(404, "a glossary of this document was deleted")
        glossary = await self.parse_glossary(self.state.glossaries.merge, found) if found else None
        read = await self.documents.read(data, options["format"], options["target"])
        languages = options["source"], options["target"]
        translated = await self.documents.translate(read, *languages, glossary, options.get("formality"))
        return translated, read.characters

    async def _clean(self) -> None:
        """Remove expired state; runs until its task is cancelled."""
        while True:
            try:
                await in_thread(self.state.clean)
            except StateError as problem:
                log.error("what has expired is not removed: %s", problem)
            await asyncio.sleep(CLEAN_SECONDS)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        config = self.config
        given = None if config.state is None else Path(config.state)
        document_limits = DocumentLimits(config.kept_bytes, config.kept_minutes)
        with state_folder(given) as folder, ServerState(folder, document_limits) as self.state:
            limits = KeyLimits(config.per_minute, config.quota, config.period)
            self.access = AccessControl(self.state, keys_required=config.keys, limits=limits)
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
                await anyio.to_thread.run_sync(self.training.stop)
                await self.pool.close()
