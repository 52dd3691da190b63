"""Sentences of all waiting requests of one model, translated together.

    request ─ job ─▶ queue ─ a few units of each request ─▶ one batch ─▶ pipeline ─▶ results ─▶ request

A batch takes some units of every request in turn, so that a short request is done after a batch or two however long the
others are. Units are made when a batch takes them, so a long text costs nothing while it waits. Threads that search
run beside the event loop: while one is in the engine, another makes the units of the next batch.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from regard.decode.job import TranslationJob
from regard.decode.pipeline import Pipeline, UnitResult
from regard.decode.translation import Translation
from regard.decode.units import Unit
from regard.serve.problems import busy, too_late

LARGEST_BATCH = 64  # units
SHARE = 8  # units that a request gives to a batch before the others have given theirs


class BatchDone(NamedTuple):
    """What is measured of a batch."""

    requests: int
    units: int
    seconds: float
    waited: float  # of the request that waited longest for it, in seconds


class Portion(NamedTuple):
    """Units of one request in a batch: the request's portion of this number."""

    waiting: Waiting
    number: int
    units: list[Unit]


@dataclass(eq=False)
class Waiting:
    """A request in the queue. One thread at a time takes units of it: the one that set `busy`."""

    job: TranslationJob
    characters: int
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[list[Translation]]
    added: Callable[[], None] | None = None  # called in a thread when the job has got results
    since: float = field(default_factory=time.monotonic)
    busy: bool = False
    over: bool = False  # answered, cancelled or too late

    def __post_init__(self) -> None:
        self._parts = iter(self.job.parts)
        self.part = next(self._parts, None)  # None: all units were taken
        self._taken = self._added = 0  # portions
        self._found: dict[int, tuple[list[Unit], list[UnitResult]]] = {}  # those that an earlier one is missing for
        self._lock = threading.Lock()

    def take(self, most: int) -> Portion | None:
        """Up to so many units of the present part; None where it has no more."""
        assert self.part is not None
        units = list(islice(self.part.units, most))
        if len(units) < most:
            self.part = next(self._parts, None)
        if not units:
            return None
        self._taken += 1
        return Portion(self, self._taken - 1, units)

    def add(self, number: int, units: list[Unit], results: list[UnitResult]) -> None:
        with self._lock:
            self._found[number] = units, results
            while found := self._found.pop(self._added, None):
                self.job.add(*found)
                self._added += 1
        if self.added is not None and not self.over:
            self.added()

    def try_to_finish(self) -> None:
        """Answer, if all units were taken and translated."""
        with self._lock:
            if self.over or self.part is not None or self._added < self._taken:
                return
            self.over = True
        self.answer(self.job.translations())

    def fail(self, problem: BaseException) -> None:
        self.over = True
        self.answer(problem)

    def answer(self, answer: list[Translation] | BaseException) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits
            self.loop.call_soon_threadsafe(_set, self.done, answer)


def _set(future: asyncio.Future[list[Translation]], answer: list[Translation] | BaseException) -> None:
    if future.done():  # the caller has left
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


class Batcher:
    def __init__(
        self,
        name: str,
        threads: int,
        most_characters: int,
        observe: Callable[[BatchDone], None] | None = None,
    ) -> None:
        self._queue: deque[Waiting] = deque()
        self._changed = threading.Condition()
        self._characters, self._most_characters = 0, most_characters
        self._speed = 500.0  # characters a second, by the last batches; for Retry-After
        self._observe, self._closed = observe, False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def characters(self) -> int:
        """How many wait or are being translated."""
        return self._characters

    @property
    def requests(self) -> int:
        return len(self._queue)

    async def translate(
        self, job: TranslationJob, characters: int, deadline: float, added: Callable[[], None] | None = None
    ) -> list[Translation]:
        """The translations of a job before a time of `time.monotonic`. If the caller is cancelled, what is not yet in a
        batch is not translated."""
        loop = asyncio.get_running_loop()
        waiting = Waiting(job, characters, loop, loop.create_future(), added)
        self._enter(waiting)
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await waiting.done
        except TimeoutError:
            raise too_late("translation") from None
        finally:
            self._leave(waiting)

    def close(self) -> None:
        """End the threads, after the batches that they are translating."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _enter(self, waiting: Waiting) -> None:
        with self._changed:
            if self._closed:
                raise busy("the server is stopping", 5)
            if self._characters and self._characters + waiting.characters > self._most_characters:
                wait = self._characters / self._speed
                raise busy("too much is waiting for translation", wait)
            self._characters += waiting.characters
            self._queue.append(waiting)
            self._changed.notify()

    def _leave(self, waiting: Waiting) -> None:
        with self._changed:
            waiting.over = True
            self._characters -= waiting.characters
            if waiting in self._queue:
                self._queue.remove(waiting)

    # ── in the threads ────────────────────────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        while chosen := self._next_requests():
            assert chosen[0].part is not None
            pipeline = chosen[0].part.pipeline
            batch = self._take(chosen)
            self._put_back(chosen)
            if batch:
                self._translate(batch, pipeline)
            for waiting in chosen:
                waiting.try_to_finish()

    def _next_requests(self) -> list[Waiting]:
        """Those whose units can be in one batch, the one that has waited longest first; none at the end."""
        with self._changed:
            while not (ready := [one for one in self._queue if not one.busy]):
                if self._closed:
                    return []
                self._changed.wait()
            first = ready[0].part
            assert first is not None
            alike = (one for one in ready if one.part is not None and one.part.key == first.key)
            chosen = list(islice(alike, LARGEST_BATCH))
            for waiting in chosen:
                waiting.busy = True
            return chosen

    def _take(self, chosen: Sequence[Waiting]) -> list[Portion]:
        """A few units of each; what is then left of the batch goes to those that have more."""
        batch: list[Portion] = []
        room = LARGEST_BATCH
        giving = list(chosen)
        while room and giving:
            more = []
            for waiting in giving:
                part = waiting.part
                try:
                    portion = waiting.take(min(SHARE, room)) if room and not waiting.over else None
                except Exception as problem:
                    waiting.fail(problem)
                    continue
                if portion is not None:
                    batch.append(portion)
                    room -= len(portion.units)
                    if waiting.part is part:
                        more.append(waiting)
            giving = more
        return batch

    def _put_back(self, chosen: Sequence[Waiting]) -> None:
        """Those that have more units go to the end of the queue."""
        with self._changed:
            for waiting in chosen:
                waiting.busy = False
                if waiting in self._queue:
                    self._queue.remove(waiting)
                    if waiting.part is not None and not waiting.over:
                        self._queue.append(waiting)
            self._changed.notify()

    def _translate(self, batch: Sequence[Portion], pipeline: Pipeline) -> None:
        began = time.monotonic()
        units = [unit for portion in batch for unit in portion.units]
        try:
            results = iter(pipeline.results(units))
        except Exception as problem:
            if len(batch) == 1:
                batch[0].waiting.fail(problem)
            else:  # one of the requests is to blame
                for portion in batch:
                    self._translate([portion], pipeline)
            return
        for waiting, number, own in batch:
            waiting.add(number, own, list(islice(results, len(own))))
        seconds = time.monotonic() - began
        characters = sum(len(unit.prepared.source) for unit in units)
        self._speed += 0.1 * (characters / max(seconds, 1e-3) - self._speed)
        if self._observe is not None:
            since = min(portion.waiting.since for portion in batch)
            self._observe(BatchDone(len(batch), len(units), seconds, began - since))
