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
from regard.serve.errors import QuotaExceededError, ServeError
from regard.serve.explain_service import ExplainService
from regard.serve.monitoring import notes_of
from regard.serve.pool import ModelPool
from regard.serve.settings import ServeConfig
from regard.serve.state.documents import DocumentJob, DocumentLimits
from regard.serve.state.glossaries import find_glossary
from regard.serve.state.keys import KeyLimits
from regard.serve.state.limits import CharacterUsage, address_subject
from regard.serve.state.server_state import ServerState, state_folder
from regard.serve.state.store import StateError, in_thread
from regard.serve.translation_service import TranslationService

ANYONE = "anyone"  # whose glossaries and documents are, on a server without keys


@dataclass(frozen=True)
class Caller:
    """Who asks: what limits are counted under, to whom glossaries and documents belong, and the limits."""

    subject: str
    owner: str
    limits: KeyLimits


class Callers:
    """Finds out who asks, and counts what they use."""

    def __init__(self, state: ServerState, *, keys_needed: bool, limits: KeyLimits) -> None:
        """`limits` are those of addresses, and of keys that have none of their own."""
        self.state = state
        self.keys_needed = keys_needed
        self.limits = limits

    async def find(self, secret: str | None, host: str | None) -> Caller:
        """The caller by the key that was sent, else by the address.

        Where keys are needed, a request without a valid one ends with 403. Where they are not, a key is not looked at:
        clients send one because their form has a field for it.
        """
        if not self.keys_needed:
            return Caller(address_subject(host), ANYONE, self.limits)
        if not secret:
            raise ServeError(403, "an API key is needed; send it as api_key or in the Authorization header")
        key = await in_thread(self.state.keys.find, secret)
        if key is None:
            raise ServeError(403, "Invalid API key")
        own = key.limits
        of_key = KeyLimits(own.per_minute or self.limits.per_minute, own.characters, own.period)
        if own.characters is None:
            of_key = KeyLimits(of_key.per_minute, self.limits.characters, self.limits.period)
        return Caller(key.owner, key.owner, of_key)

    async def request(self, caller: Caller) -> None:
        """Count one request; 429 where there were too many in the last minute."""
        if caller.limits.per_minute is None:
            return
        verdict = await in_thread(self.state.limiter.request, caller.subject, caller.limits.per_minute)
        if not verdict:
            raise ServeError(
                429,
                f"Slowdown: {caller.limits.per_minute:,} requests a minute are allowed",
                retry_after=verdict.retry_after,
                reason="requests",
            )

    async def spend(self, caller: Caller, characters: int) -> None:
        """Count characters; raise `QuotaExceededError` where there are too many in this day or month. Without keys and
        limits, nothing is counted."""
        limits = caller.limits
        if limits.characters is None and not self.keys_needed:
            return
        verdict = await in_thread(
            self.state.limiter.spend, caller.subject, characters, limits.characters, limits.period
        )
        if not verdict:
            raise QuotaExceededError(
                429,
                f"Slowdown: {limits.characters:,} characters a {limits.period} are allowed",
                retry_after=verdict.retry_after,
                reason="characters",
            )

    async def give_back(self, caller: Caller, characters: int) -> None:
        """Count characters off that were not translated after all."""
        if caller.limits.characters is not None or self.keys_needed:
            await in_thread(self.state.limiter.give_back, caller.subject, characters, caller.limits.period)

    async def usage(self, caller: Caller) -> CharacterUsage:
        return await in_thread(self.state.limiter.usage, caller.subject, caller.limits.period)


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
        self.pool = ModelPool(config, monitoring.count_batch)
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
