"""Batches the sentences of all waiting requests of one model and translates them.

    request ─ job ─▶ queue ─ a few units of each request ─▶ one batch ─▶ pipeline ─▶ results ─▶ request
                                                                            └─ units that take long ─▶ slow lane ─┘

A batch takes an equal share of every request whose turn it is, so that a short request is done after a batch or two
however long the others are; turns are fair to clients. Units are made when a batch takes them, so a waiting long text
costs nothing. Search threads run beside the event loop: while one is in the engine, another makes the units of the
next batch.

Every search can be stopped: between two steps it checks whether its request is over. A batch also has a time slice.
Units that are not done within it, or that need the native engine beside a fast one (required terms that the free
search does not produce), continue in the slow lane, one thread with few units at a time, so that other requests never
wait for them. Between two steps a slow search pauses while others are running.

A request is accepted if it can be finished before its deadline at the speed of the last batches; others are refused
at once.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from regard.serve.errors import deadline_exceeded, server_busy
from regard.serve.request_queue import Portion, QueuedRequest, RequestQueue
from regard.serve.slow_lane import SlowLane
from regard.translation.job import TranslationJob
from regard.translation.pipeline import Pipeline
from regard.translation.translation import Translation

MAX_UNITS = 64  # per batch
# Characters per batch. Larger batches are hardly faster, and later requests wait longer for them; batches are smaller
# if few characters are waiting, so that something is left for the other threads, and on a slow or busy machine.
MIN_CHARACTERS, MAX_CHARACTERS = 1000, 4000
BATCH_SECONDS, LEAST_CHARACTERS = 0.5, 300
FIRST_SPEED = 1000.0  # characters per second, assumed before the first batch
SENTENCE = 100  # characters, approximately, that a batch takes from a request before it turns to the next one
SMOOTHING = 0.2  # weight of the last batch in the speed, which is an exponential moving average
SLICE_SECONDS = 2.0  # of a batch, or longer where the speed of the last batches makes that likely
SLICE_MARGIN = 4  # slice in units of the expected time
SLOW_UNITS = 2  # of a batch in the slow lane
CLOSE_SECONDS = 5.0  # for a running search to notice that its request is over


class BatchDone(NamedTuple):
    """Measurements of a batch."""

    requests: int
    units: int
    seconds: float
    waited: float  # seconds that the oldest request of the batch had waited


class Batcher:
    """Threads that translate the queued requests of one model, in batches."""

    def __init__(
        self,
        name: str,
        threads: int,
        most_characters: int,
        observe: Callable[[BatchDone], None] | None = None,
        slow_lane: SlowLane | None = None,
    ) -> None:
        self._queue, self._slow = RequestQueue(), list[tuple[Portion, Pipeline]]()
        self._slow_lane = slow_lane or SlowLane()
        self._served: dict[Hashable, int] = {}  # by client: when its last turn in the slow lane was, in turns
        lock = threading.Lock()
        self._changed, self._slow_changed = threading.Condition(lock), threading.Condition(lock)
        self._requests = self._characters = 0  # waiting or being translated
        self._most_characters = most_characters
        self._searching = 0  # number of threads
        self._speed: float | None = None  # characters per second of all threads, from the last full batches
        self._observe, self._closed = observe, False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(threads)
        ]
        self._threads.append(threading.Thread(target=self._work_slowly, name=f"{name}-slow", daemon=True))
        for thread in self._threads:
            thread.start()

    async def translate(
        self,
        job: TranslationJob,
        characters: int,
        deadline: float,
        added: Callable[[], None] | None = None,
        accepted: bool = False,
        client: Hashable = None,
    ) -> list[Translation]:
        """Return the translations of a job before a deadline of `time.monotonic`. If the caller is cancelled, its
        searches are stopped. `accepted`: the request was accepted with an earlier job."""
        loop = asyncio.get_running_loop()
        request = QueuedRequest(job, characters, deadline, loop, loop.create_future(), added, client)
        self._enter(request, accepted)
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await request.done
        except TimeoutError:
            raise deadline_exceeded("translation") from None
        finally:
            self._leave(request)

    def close(self) -> None:
        """Stop the threads after all queued requests are done, or soon after they are over."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._slow_changed.notify()
        until = time.monotonic() + CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _enter(self, request: QueuedRequest, accepted: bool) -> None:
        with self._changed:
            if self._closed:
                raise server_busy("the server is stopping", 5)
            if not accepted and (wait := self._retry_after(request, request.deadline - time.monotonic())):
                raise server_busy("too much is waiting for translation", wait)
            self._requests += 1
            self._characters += request.characters
            self._queue.append(request)
            self._changed.notify()

    def _retry_after(self, request: QueuedRequest, left: float) -> float | None:
        """The seconds after which to retry a request that is refused; None if it is accepted. All queued requests get
        equal shares, so it waits for as many characters of each other request as it has itself."""
        if not self._requests:
            return None
        speed = self._speed or FIRST_SPEED
        if self._characters + request.characters > self._most_characters:
            return self._characters / speed
        shared = min(self._characters, self._requests * max(SENTENCE, request.characters))
        if self._speed is None or (shared + request.characters) / speed <= left:
            return None
        return max(1.0, (shared + request.characters) / speed - left)

    def _leave(self, request: QueuedRequest) -> None:
        with self._changed:
            request.finished = True
            self._requests -= 1
            self._characters -= request.characters
            self._queue.discard(request)
            self._slow = [(portion, pipeline) for portion, pipeline in self._slow if portion.request is not request]
            self._slow_changed.notify()

    # ── in the threads ────────────────────────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        while self._work_on_batch():  # a separate call, so that a waiting thread keeps no reference to the last batch
            pass

    def _work_on_batch(self) -> bool:
        """Translate the next batch; False when the batcher is closed and the queue is empty."""
        turns, room = self._next_requests()
        if not turns:
            return False
        chosen = [request for request, _ in turns]
        try:
            assert chosen[0].part is not None
            pipeline = chosen[0].part.pipeline
            batch = take_shares(chosen, room)
            self._put_back(turns, batch)
            if batch:
                self._translate(batch, pipeline)
            for request in chosen:
                request.finish_if_done()
        except Exception as problem:  # an unexpected exception must not end the thread
            for request in chosen:
                request.fail(problem)
        return True

    def _next_requests(self) -> tuple[list[tuple[QueuedRequest, int]], float]:
        """The next requests whose units can share a batch, with their turns, and the number of characters of the batch;
        no requests if the batcher is closed."""
        with self._changed:
            while not len(self._queue):
                if self._closed:
                    return [], 0.0
                self._changed.wait()
            room = min(max(self._characters / len(self._threads), MIN_CHARACTERS), MAX_CHARACTERS)
            in_time = BATCH_SECONDS * (self._speed or FIRST_SPEED) / (len(self._threads) - 1)
            room = min(room, max(LEAST_CHARACTERS, in_time))
            return self._queue.pop_compatible(MAX_UNITS, room, SENTENCE), room

    def _put_back(self, turns: Sequence[tuple[QueuedRequest, int]], batch: Sequence[Portion]) -> None:
        """Append requests that have more units to the queue; those for which the batch had no room keep their
        turns."""
        taken = {portion.request for portion in batch}
        with self._changed:
            left = [(one, turn) for one, turn in turns if one.part is not None and not one.finished]
            self._queue.put_back([(one, turn) for one, turn in left if one not in taken])
            for request, _ in left:
                if request in taken:
                    self._queue.append(request)
            if len(self._queue):
                self._changed.notify()

    def _translate(self, batch: Sequence[Portion], pipeline: Pipeline) -> None:
        began = time.monotonic()
        with self._changed:
            self._searching += 1
            searching = self._searching
        until = began + self._slice(batch, searching)
        units = [unit for portion in batch for unit in portion.stoppable(until)]
        try:
            with self._slow_lane.fast_search():
                results = iter(pipeline.results(units))
        except Exception as problem:
            if len(batch) == 1:
                batch[0].request.fail(problem)
                return
            results = None  # one of the requests caused it: translate each of them separately
        finally:
            with self._changed:
                self._searching -= 1
        if results is None:
            for portion in batch:
                self._translate([portion], pipeline)
            return
        outcomes = zip(units, results, strict=True)
        for portion in batch:
            portion.set_results(range(len(portion.units)), outcomes)
            self._finish(portion, pipeline)
        self._measure(batch, time.monotonic() - began, searching, began)

    def _slice(self, batch: Sequence[Portion], searching: int) -> float:
        """The seconds that a batch may take."""
        expected = 0.0 if self._speed is None else searching * sum(one.characters for one in batch) / self._speed
        return max(SLICE_SECONDS, SLICE_MARGIN * expected)

    def _finish(self, portion: Portion, pipeline: Pipeline) -> None:
        """Give a portion's results to its request, or append it to the slow lane if some are missing."""
        request = portion.request
        if portion.missing:
            with self._changed:
                if not request.finished:
                    self._slow.append((portion, pipeline))
                    self._slow_changed.notify()
            return
        try:
            request.add(portion)
            request.finish_if_done()
        except Exception as problem:
            request.fail(problem)

    def _work_slowly(self) -> None:
        while self._work_on_slow_portion():
            pass

    def _work_on_slow_portion(self) -> bool:
        """Translate some units of a portion of the slow lane: of the client whose last turn is longest ago. If others
        wait, a long search gives way. False when the batcher is closed and no request is left."""
        with self._slow_changed:
            while not self._slow:
                if self._closed and not self._requests:
                    return False
                self._slow_changed.wait()
            turns = [self._served.get(portion.request.client, 0) for portion, _ in self._slow]
            portion, pipeline = self._slow.pop(turns.index(min(turns)))
            self._served = {} if not self._slow else self._served | {portion.request.client: max(turns) + 1}
        chosen = portion.missing[:SLOW_UNITS]
        try:
            with self._slow_lane.slow_search():
                until = time.monotonic() + portion.slow_seconds

                def pause() -> bool:
                    self._slow_lane.pause()
                    return bool(self._slow) and time.monotonic() >= until

                units = portion.stoppable(math.inf, chosen, pause)
                results = pipeline.results(units)
            portion.set_results(chosen, zip(units, results, strict=True))
            if not set(chosen).isdisjoint(portion.missing):
                portion.slow_seconds *= 2  # it gave way and starts again: at most half of its work is lost
            self._finish(portion, pipeline)
        except Exception as problem:
            portion.request.fail(problem)
        return True

    def _measure(self, batch: Sequence[Portion], seconds: float, searching: int, began: float) -> None:
        characters = sum(portion.characters for portion in batch)
        if characters >= LEAST_CHARACTERS:  # a small batch is slower than a full one
            speed = searching * characters / max(seconds, 1e-3)
            self._speed = speed if self._speed is None else self._speed + SMOOTHING * (speed - self._speed)
        if self._observe is not None:
            queued_at = min(portion.request.queued_at for portion in batch)
            units = sum(len(portion.units) for portion in batch)
            self._observe(BatchDone(len(batch), units, seconds, began - queued_at))


def take_shares(chosen: Sequence[QueuedRequest], room: float) -> list[Portion]:
    """Take units of each request for a batch of `room` characters, in equal shares; the remaining room is divided among
    the requests that have more."""
    batch: list[Portion] = []
    units, sharing = MAX_UNITS, list(chosen)
    while sharing and units > 0 and room > 0:
        most, share = max(1, units // len(sharing)), room / len(sharing)
        more = []
        for request in sharing:
            if units <= 0 or room <= 0:
                break
            part = request.part
            try:
                portion = None if request.finished else request.take(min(most, units), share)
            except Exception as problem:
                request.fail(problem)
                continue
            if portion is not None:
                batch.append(portion)
                units -= len(portion.units)
                room -= portion.characters
                if request.part is part:
                    more.append(request)
        sharing = more
    return batch
