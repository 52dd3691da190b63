"""Translates the documents that wait in the store, one after another, for as long as the server runs.

Every worker process of every replica has one. It renews its lease on the job it holds, puts the job back when it is
asked to stop.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable

import anyio

from regard.errors import RegardError
from regard.serve.problems import ServeError
from regard.serve.state.documents import LEASE_SECONDS, DocumentJob, Documents, StoreFullError
from regard.serve.state.store import StateError, in_thread

POLL_SECONDS = 1.0  # how soon a job of another process is seen; one of this process is seen at once

log = logging.getLogger("regard.serve")

TranslateDocument = Callable[[DocumentJob, bytes], Awaitable[tuple[bytes, int]]]  # → result, characters


class DocumentWorker:
    """`await run()` in a task; cancel it to stop."""

    def __init__(self, documents: Documents, translate: TranslateDocument) -> None:
        self.documents = documents
        self.translate = translate
        self.name = secrets.token_hex(8)
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Look for a job now: one was submitted."""
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken = anyio.Event()
            try:
                job = await in_thread(self.documents.take, self.name)
                if job is not None:
                    await self._work(job)
                    continue
            except StateError as problem:  # the disk may have room again, and the lock be free, a little later
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
                except StateError as problem:  # the result cannot be kept now: the job is taken again after the lease
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
        except StateError as problem:
            if not isinstance(problem, StoreFullError):
                raise
            await in_thread(self.documents.fail, job, self.name, str(problem))
        except RegardError as problem:
            await in_thread(self.documents.fail, job, self.name, str(problem))
        except Exception as problem:
            log.exception("document %s cannot be translated", job.id)
            await in_thread(self.documents.fail, job, self.name, f"unexpected {type(problem).__name__}")

    async def _hold(self, job: DocumentJob, scope: anyio.CancelScope) -> None:
        """Renew the lease until the work is done; stop the work where another worker has the job."""
        while True:
            await anyio.sleep(LEASE_SECONDS / 3)
            try:
                if not await in_thread(self.documents.renew, job, self.name):
                    scope.cancel()
            except StateError as problem:
                log.error("the lease of document %s was not renewed: %s", job.id, problem)
