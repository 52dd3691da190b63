"""Documents: a job is done once or given up, a result is only for who asked, and what is kept stays within bounds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from regard.serve.state.documents import LEASE_SECONDS, MOST_ATTEMPTS, DocumentJob, DocumentLimits, StoreFullError
from regard.serve.state.server_state import ServerState
from regard.serve.state.store import StateError


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path, clock: Clock) -> Iterator[ServerState]:
    with ServerState(tmp_path, DocumentLimits(total_bytes=1000, minutes=10, waiting=3), clock) as state:
        yield state


def files(state: ServerState) -> list[str]:
    return sorted(path.suffix for path in state.documents.folder.iterdir())


def test_from_upload_to_download(state: ServerState, clock: Clock) -> None:
    documents = state.documents
    job, key = documents.submit("key:1", "../a b.txt", b"hello", {"target": "fr"})
    assert (job.status, job.name, job.request) == ("queued", "../a b.txt", {"target": "fr"})
    assert len(job.id) == 32
    assert len(key) == 64
    assert files(state) == [".in"]
    assert documents.result(job) is None

    taken = documents.take("w1")
    assert taken is not None
    assert (taken.id, taken.status, taken.attempts) == (job.id, "translating", 1)
    assert documents.take("w2") is None
    assert documents.upload(taken) == b"hello"
    assert documents.finish(taken, "w1", b"bonjour", 5)

    done = documents.get(job.id, key, "key:1")
    assert done is not None
    assert (done.status, done.characters) == ("done", 5)
    assert documents.result(done) == b"bonjour"
    assert files(state) == [".out"]

    clock.time = job.expires
    assert documents.get(job.id, key, "key:1") is None
    assert documents.clean() == 1
    assert files(state) == []


def test_a_result_is_only_for_who_asked(state: ServerState) -> None:
    documents = state.documents
    job, key = documents.keep("key:1", "a.txt", b"secret")
    assert documents.get(job.id, key, "key:1") is not None
    assert documents.get(job.id, key, "key:2") is None
    assert documents.get(job.id, key[:-1] + "x", "key:1") is None
    assert documents.get(job.id, "", "key:1") is None
    assert documents.keep("key:1", "half a character \ud800.txt", b"x")[0].name.endswith(".txt")
    for id in ("", job.id[:-1], job.id + "0", "../" + job.id, "%", "' OR 1=1 --"):
        assert documents.get(id, key, "key:1") is None
    stored = (state.store.folder / "regard.sqlite").read_bytes()
    assert key.encode() not in stored


def test_a_killed_worker_loses_nothing(state: ServerState, clock: Clock) -> None:
    documents = state.documents
    job, key = documents.submit("a", "a.txt", b"hello", {})
    first = documents.take("killed")
    assert first is not None
    clock.time += LEASE_SECONDS - 1
    assert documents.renew(first, "killed")
    clock.time += LEASE_SECONDS - 1
    assert documents.take("other") is None
    clock.time += 2
    second = documents.take("other")
    assert second is not None
    assert (second.id, second.attempts) == (job.id, 2)
    assert not documents.renew(first, "killed")  # the first was only slow, and is too late
    assert not documents.finish(first, "killed", b"late", 5)
    assert not documents.fail(first, "killed", "late")
    assert documents.finish(second, "other", b"bonjour", 5)
    done = documents.get(job.id, key, "a")
    assert done is not None
    assert documents.result(done) == b"bonjour"


@pytest.mark.parametrize("step", [-3600.0, -86400.0])
def test_a_clock_that_is_set_back_prolongs_no_lease_and_no_lifetime(
    state: ServerState, clock: Clock, step: float
) -> None:
    documents = state.documents
    job, key = documents.submit("a", "a.txt", b"hello", {})
    done, done_key = documents.keep("a", "b.txt", b"done")
    assert documents.take("killed")
    clock.time += step
    state.clean()
    assert documents.take("another") is None  # its worker may be alive, and has a whole lease to say so
    assert documents.renew(job, "killed")
    clock.time += LEASE_SECONDS + 1
    taken = documents.take("another")
    assert taken is not None
    assert taken.id == job.id
    clock.time += 60 * documents.limits.minutes
    state.clean()
    assert documents.get(job.id, key, "a") is None
    assert documents.get(done.id, done_key, "a") is None
    assert files(state) == []


@pytest.mark.parametrize("step", [3600.0, 86400.0])
def test_a_clock_that_is_set_forward_ends_lifetimes(state: ServerState, clock: Clock, step: float) -> None:
    job, key = state.documents.submit("a", "a.txt", b"hello", {})
    assert state.documents.take("worker")
    clock.time += step
    state.clean()
    assert state.documents.get(job.id, key, "a") is None
    assert state.documents.take("another") is None
    assert not state.documents.finish(job, "worker", b"late", 5)
    clock.time -= step
    job, key = state.documents.submit("a", "a.txt", b"hello", {})
    assert state.documents.take("worker")
    assert state.documents.get(job.id, key, "a") is not None


def test_a_late_worker_does_not_take_the_upload_away(state: ServerState, clock: Clock) -> None:
    documents = state.documents
    documents.submit("a", "a.txt", b"hello", {})
    first = documents.take("slow")
    clock.time += LEASE_SECONDS + 1
    second = documents.take("other")
    assert first is not None
    assert second is not None
    assert not documents.fail(first, "slow", "late")
    assert documents.upload(second) == b"hello"
    assert not documents.finish(first, "slow", b"late", 5)
    assert documents.upload(second) == b"hello"
    assert files(state) == [".in"]
    assert documents.finish(second, "other", b"bonjour", 5)


def test_a_document_that_kills_its_workers_is_given_up(state: ServerState, clock: Clock) -> None:
    documents = state.documents
    job, key = documents.submit("a", "a.txt", b"hello", {})
    for attempt in range(MOST_ATTEMPTS):
        assert documents.take(f"w{attempt}") is not None
        clock.time += LEASE_SECONDS + 1
    assert documents.take("last") is None
    given_up = documents.get(job.id, key, "a")
    assert given_up is not None
    assert (given_up.status, given_up.message) == ("error", "the translation was interrupted several times")


def test_a_worker_that_is_asked_to_stop_puts_its_job_back(state: ServerState) -> None:
    documents = state.documents
    documents.submit("a", "a.txt", b"hello", {})
    for _ in range(MOST_ATTEMPTS + 2):  # this is no attempt
        job = documents.take("w")
        assert job is not None
        assert documents.release(job, "w")


def test_there_is_an_end_to_the_room(state: ServerState) -> None:
    documents = state.documents
    documents.keep("a", "a.txt", bytes(600))
    with pytest.raises(StoreFullError, match="documents take 600 of 1,000 bytes, and 401 more do not fit"):
        documents.keep("a", "b.txt", bytes(401))
    documents.submit("a", "c.txt", bytes(100), {})
    job = documents.take("w")
    assert job is not None
    with pytest.raises(StoreFullError):
        documents.finish(job, "w", bytes(301), 1)
    assert files(state) == [".in", ".out"]  # nothing half-written
    for _ in range(2):
        documents.submit("a", "d.txt", b"d", {})
    with pytest.raises(StoreFullError, match="3 documents are waiting"):
        documents.submit("a", "e.txt", b"e", {})
    assert len(files(state)) == 4


def test_there_is_an_end_to_the_number(state: ServerState, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.serve.state.documents.MOST_DOCUMENTS", 2)
    for _ in range(2):
        state.documents.keep("a", "a.txt", b"a")
    with pytest.raises(StoreFullError, match="2 documents are stored, which is the most allowed; try again later"):
        state.documents.keep("a", "a.txt", b"a")
    assert len(files(state)) == 2


def test_a_disk_without_room_is_one_line(state: ServerState) -> None:
    state.documents.folder.rmdir()
    with pytest.raises(StateError, match=r"a document cannot be written to .*: No such file"):
        state.documents.submit("a", "a.txt", b"a", {})


def test_files_without_a_job_are_removed_when_they_are_old(state: ServerState, clock: Clock) -> None:
    for name, age in (("0" * 32 + ".in", 4000), ("1" * 32 + ".tmp", 4000), ("2" * 32 + ".tmp", 10), ("mine.txt", 9999)):
        path = state.documents.folder / name
        path.write_text("x")
        os.utime(path, (clock.time - age, clock.time - age))
    job, _ = state.documents.submit("a", "a.txt", b"a", {})
    state.clean()
    assert {path.name for path in state.documents.folder.iterdir()} == {f"{job.id}.in", "mine.txt", "2" * 32 + ".tmp"}


class Workers(RuleBasedStateMachine):
    """Workers take, finish, stop and are killed in any order: no job is lost, and no result is of two workers."""

    @initialize(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        limits = DocumentLimits(minutes=1e6)
        self.states = [ServerState(Path(self.folder.name), limits, self.clock) for _ in range(2)]
        self.held: list[tuple[int, str, DocumentJob]] = []
        self.keys: dict[str, str] = {}
        self.finished: dict[str, str] = {}

    @rule()
    def submit(self) -> None:
        job, key = self.states[0].documents.submit("a", "a.txt", b"x", {})
        self.keys[job.id] = key

    @rule(process=st.integers(0, 1))
    def take(self, process: int) -> None:
        worker = f"w{len(self.held)}-{process}-{self.clock.time}"
        if job := self.states[process].documents.take(worker):
            assert job.id not in self.finished
            self.held.append((process, worker, job))

    @rule(number=st.integers(0, 100), how=st.sampled_from(["finish", "release", "killed"]))
    def end(self, number: int, how: str) -> None:
        if not self.held:
            return
        process, worker, job = self.held.pop(number % len(self.held))
        documents = self.states[process].documents
        if how == "finish" and documents.finish(job, worker, worker.encode(), 1):
            assert job.id not in self.finished
            self.finished[job.id] = worker
        elif how == "release":
            documents.release(job, worker)

    @rule(seconds=st.sampled_from([1.0, LEASE_SECONDS, LEASE_SECONDS * 2]))
    def wait(self, seconds: float) -> None:
        self.clock.time += seconds

    @invariant()
    def nothing_is_lost(self) -> None:
        for id, key in self.keys.items():
            job = self.states[1].documents.get(id, key, "a")
            assert job is not None
            assert (job.status == "done") == (id in self.finished)
            if id in self.finished:
                assert self.states[0].documents.result(job) == self.finished[id].encode()
            elif job.status != "error":
                assert self.states[0].documents.upload(job) == b"x"

    def teardown(self) -> None:
        if hasattr(self, "states"):
            for state in self.states:
                state.close()
            self.folder.cleanup()


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=5, stateful_step_count=15, deadline=None)
