"""The worker of documents: what it makes of a job, and what becomes of the job when it is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.serve.documents import DocumentWorker, TranslateDocument
from regard.serve.errors import ServeError, server_busy
from regard.serve.state.documents import LEASE_SECONDS, MOST_ATTEMPTS, DocumentJob
from regard.serve.state.server_state import ServerState


@pytest.fixture
def state(tmp_path: Path) -> Iterator[ServerState]:
    with ServerState(tmp_path) as state:
        yield state


def run_until(state: ServerState, translate: TranslateDocument, done: int) -> DocumentWorker:
    """Run a worker until so many jobs have ended."""

    async def main() -> DocumentWorker:
        worker = DocumentWorker(state.documents, translate)
        task = asyncio.create_task(worker.run())
        for _ in range(2000):
            await asyncio.sleep(0.002)
            with state.store.reading() as connection:
                query = "SELECT count(*) FROM documents WHERE status IN ('done', 'error')"
                if connection.execute(query).fetchone()[0] >= done:
                    break
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return worker

    return asyncio.run(main())


def test_the_worker_translates_and_says_why_not(state: ServerState) -> None:
    async def translate(job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        if job.name == "bad.txt":
            raise ServeError(400, "this is not\na document")
        if job.name == "bug.txt":
            raise KeyError("ours")
        return data.upper(), len(data)

    made = [state.documents.submit("a", name, b"hello", {}) for name in ("good.txt", "bad.txt", "bug.txt")]
    run_until(state, translate, 3)
    good, bad, bug = (state.documents.get(job.id, key, "a") for job, key in made)
    assert good is not None
    assert bad is not None
    assert bug is not None
    assert (good.status, good.characters, state.documents.result(good)) == ("done", 5, b"HELLO")
    assert (bad.status, bad.message) == ("error", "this is not a document")
    assert (bug.status, bug.message) == ("error", "unexpected KeyError")


def test_a_worker_that_is_stopped_in_the_middle_puts_its_job_back(state: ServerState) -> None:
    job, key = state.documents.submit("a", "a.txt", b"hello", {})

    async def main() -> None:
        begun = asyncio.Event()

        async def forever(job: DocumentJob, data: bytes) -> tuple[bytes, int]:
            begun.set()
            await asyncio.sleep(1000)
            return b"", 0

        task = asyncio.create_task(DocumentWorker(state.documents, forever).run())
        await begun.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    waiting = state.documents.get(job.id, key, "a")
    assert waiting is not None
    assert (waiting.status, waiting.attempts) == ("queued", 0)


def test_a_busy_server_tries_a_document_again(state: ServerState) -> None:
    tries = []

    async def translate(job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        tries.append(job.attempts)
        if len(tries) < 3:
            raise server_busy("too much to do", 0.001)
        return b"done", 1

    state.documents.submit("a", "a.txt", b"hello", {})
    run_until(state, translate, 1)
    assert tries == [1, 1, 1]


def test_a_document_that_fails_gives_its_characters_back(state: ServerState) -> None:
    async def translate(job: DocumentJob, data: bytes) -> tuple[bytes, int]:
        if job.name == "bad.txt":
            raise ServeError(400, "no document")
        return data, 100

    for name in ("good.txt", "bad.txt"):
        state.limiter.charge("key:a", 100, 1000)
        charged = {"subject": "key:a", "characters": 100, "period": "month"}
        state.documents.submit("a", name, b"hello", {"charged": charged})
    run_until(state, translate, 2)
    assert state.limiter.usage("key:a") == 100


def test_a_document_that_is_given_up_gives_its_characters_back(tmp_path: Path) -> None:
    now = [1_000_000.0]
    with ServerState(tmp_path, now=lambda: now[0]) as state:
        state.limiter.charge("key:a", 100, 1000)
        charged = {"subject": "key:a", "characters": 100, "period": "month"}
        state.documents.submit("a", "a.txt", b"hello", {"charged": charged})
        for worker in range(MOST_ATTEMPTS + 1):  # each is killed
            assert state.limiter.usage("key:a") == 100
            assert (state.documents.take(f"worker {worker}") is None) == (worker == MOST_ATTEMPTS)
            now[0] += LEASE_SECONDS + 1
        assert state.limiter.usage("key:a") == 0
