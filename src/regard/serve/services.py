"""What endpoints use: the models, the services that use them, authentication and rate limiting."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from regard.serve import monitoring
from regard.serve.documents import DocumentService, DocumentWorker
from regard.serve.errors import CLIENT_DISCONNECTED, QuotaExceededError, ServeError
from regard.serve.explain_service import ExplainService
from regard.serve.monitoring import record_of
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig
from regard.serve.state.documents import DocumentJob, DocumentLimits
from regard.serve.state.glossaries import find_glossary
from regard.serve.state.keys import KeyLimits
from regard.serve.state.limits import address_subject
from regard.serve.state.server_state import ServerState, state_folder
from regard.serve.state.store import StateError, in_thread
from regard.serve.translation_service import TranslationService

ANYONE = "anyone"  # the owner of glossaries and documents on a server without keys
CLEAN_SECONDS = 60.0  # between two removals of expired state

log = logging.getLogger("regard.serve")


@dataclass(frozen=True)
class Client:
    """Who sends a request: what its limits are counted under, the owner of its glossaries and documents, its limits."""

    subject: str
    owner: str
    limits: KeyLimits


class AccessControl:
    """Authentication by API key, and the limits of each client."""

    def __init__(self, state: ServerState, *, keys_required: bool, limits: KeyLimits) -> None:
        """`limits` are those of addresses, and of keys that have none of their own."""
        self.state, self.keys_required, self.limits = state, keys_required, limits

    async def authenticate(self, secret: str | None, host: str | None) -> Client:
        """The client by the key that was sent, else by the address.

        Where keys are required, a request without a valid one gets 403. Where they are not, a key is ignored: clients
        send one because their settings have a field for it.
        """
        if not self.keys_required:
            return Client(address_subject(host), ANYONE, self.limits)
        if not secret:
            raise ServeError(403, "an API key is needed; send it as api_key or in the Authorization header")
        key = await in_thread(self.state.keys.find, secret)
        if key is None:
            raise ServeError(403, "Invalid API key")
        own = key.limits
        quota = self.limits if own.characters is None else own
        limits = KeyLimits(own.per_minute or self.limits.per_minute, quota.characters, quota.period)
        return Client(key.owner, key.owner, limits)

    async def count_request(self, client: Client) -> None:
        """Count one request; 429 where there were too many in the last minute."""
        if (most := client.limits.per_minute) is not None:
            wait = await in_thread(self.state.limiter.request, client.subject, most)
            if wait is not None:
                message = f"Slowdown: {most:,} requests a minute are allowed"
                raise ServeError(429, message, retry_after=wait, reason="requests")

    async def charge(self, client: Client, characters: int) -> None:
        """Count characters; raise `QuotaExceededError` where there are too many in this day or month."""
        limits = client.limits
        if self._is_counted(client):
            wait = await in_thread(
                self.state.limiter.charge, client.subject, characters, limits.characters, limits.period
            )
            if wait is not None:
                message = f"Slowdown: {limits.characters:,} characters a {limits.period} are allowed"
                raise QuotaExceededError(429, message, retry_after=wait, reason="characters")

    async def refund(self, client: Client, characters: int) -> None:
        """Subtract characters that were not translated after all."""
        if self._is_counted(client):
            await in_thread(self.state.limiter.refund, client.subject, characters, client.limits.period)

    def _is_counted(self, client: Client) -> bool:
        return client.limits.characters is not None or self.keys_required


class Services:
    """What endpoints use. `state`, `access` and `document_worker` exist while it runs."""

    state: ServerState
    access: AccessControl
    document_worker: DocumentWorker

    def __init__(self, config: ServeConfig) -> None:
        self.config = config
        self.pool = ModelPool(config, monitoring.count_batch)
        self.translation = TranslationService(config, self.pool)
        self.documents = DocumentService(config, self.translation)
        self.explain = ExplainService(config, self.pool)

    async def authorize(self, request: Request, key: str | None, texts: Sequence[str]) -> None:
        """Authenticate the client of a request by its key, and count the request and its texts against the limits."""
        record = record_of(request)
        record.characters = sum(map(len, texts))
        if self.config.log_text:
            record.texts = list(texts)
        client = await self.access.authenticate(key, request.client.host if request.client else None)
        request.state.client = client
        await self.access.count_request(client)
        await self.access.charge(client, record.characters)
        record.charged = record.characters

    async def charge(self, request: Request, characters: int) -> None:
        """Count further characters of an authorized request: those of a document, now that it is read."""
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

    async def translate_job(self, job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        """The result of a stored document, and its characters."""
        options = job.request
        glossary = await in_thread(find_glossary, self.state.glossaries, job.owner, options["glossaries"])
        read = await self.documents.read(data, options["format"], options["target"])
        return await self.documents.translate(read, options["source"], options["target"], glossary), read.characters

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
                await self.pool.close()
