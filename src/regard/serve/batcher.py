"""Sentences of all waiting requests of one model, translated together.

    request ─ job ─▶ queue ─ a few units of each request ─▶ one batch ─▶ pipeline ─▶ results ─▶ request

A batch takes an equal share of every request whose turn it is, so that a short request is done after a batch or two
however long the others are. Units are made when a batch takes them, so a long text costs nothing while it waits.
Threads that search run beside the event loop: while one is in the engine, another makes the units of the next batch.

A request is accepted if it can be done before its deadline at the speed of the last batches; who cannot be served in
time is told so at once, not after a minute of work that nobody gets.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from regard.serve.errors import busy, too_late
from regard.serve.request_queue import Portion, TurnQueue, Waiting
from regard.translation.job import TranslationJob
from regard.translation.pipeline import Pipeline
from regard.translation.translation import Translation

LARGEST_BATCH = 64  # units
# Characters of a batch. Larger ones are hardly faster, and who comes meanwhile waits longer; smaller ones are made
# where little waits, so that something is left for the other threads.
FEWEST, MOST = 1000, 4000
SENTENCE = 100  # characters that a request gives to a batch, about, before the others have given theirs
WEIGHT = 0.2  # of the last batch in the speed


class BatchDone(NamedTuple):
    """What is measured of a batch."""

    requests: int
    units: int
    seconds: float
    waited: float  # of the request that waited longest for it, in seconds


class Batcher:
    def __init__(
        self,
        name: str,
        threads: int,
        most_characters: int,
        observe: Callable[[BatchDone], None] | None = None,
    ) -> None:
        self._queue = TurnQueue()
        self._changed = threading.Condition()
        self._requests = self._characters = 0  # that wait or are being translated
        self._most_characters = most_characters
        self._searching = 0  # threads
        self._speed: float | None = None  # characters a second of all threads, by the last full batches
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
        """How many wait or are being translated."""
        return self._requests

    async def translate(
        self,
        job: TranslationJob,
        characters: int,
        deadline: float,
        added: Callable[[], None] | None = None,
        accepted: bool = False,
    ) -> list[Translation]:
        """The translations of a job before a time of `time.monotonic`. If the caller is cancelled, what is not yet in a
        batch is not translated. `accepted`: the second half of a request that another queue has accepted."""
        loop = asyncio.get_running_loop()
        waiting = Waiting(job, characters, loop, loop.create_future(), added)
        self._enter(waiting, deadline, accepted)
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await waiting.done
        except TimeoutError:
            raise too_late("translation") from None
        finally:
            self._leave(waiting)

    def close(self) -> None:
        """End the threads, after what waits for them."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _enter(self, waiting: Waiting, deadline: float, accepted: bool) -> None:
        with self._changed:
            if self._closed:
                raise busy("the server is stopping", 5)
            if not accepted and (wait := self._too_long(waiting, deadline - time.monotonic())):
                raise busy("too much is waiting for translation", wait)
            self._requests += 1
            self._characters += waiting.characters
            self._queue.append(waiting)
            self._changed.notify()

    def _too_long(self, waiting: Waiting, left: float) -> float | None:
        """In how many seconds a request may come again that cannot be accepted. All that wait get equal shares, so it
        waits for as much of each other as it has itself."""
        if not self._requests:
            return None
        speed = self._speed or 500.0
        if self._characters + waiting.characters > self._most_characters:
            return self._characters / speed
        shared = min(self._characters, self._requests * max(SENTENCE, waiting.characters))
        if self._speed is None or (shared + waiting.characters) / speed <= left:
            return None
        return max(1.0, (shared + waiting.characters) / speed - left)

    def _leave(self, waiting: Waiting) -> None:
        with self._changed:
            waiting.over = True
            self._requests -= 1
            self._characters -= waiting.characters
            self._queue.discard(waiting)

    # ── in the threads ────────────────────────────────────────────────────────────────────────────────────────────────

    def _work(self) -> None:
        while self._work_on_batch():  # a call of its own, so that a thread that waits holds nothing of the last batch
            pass

    def _work_on_batch(self) -> bool:
        """Translate what comes next; False at the end."""
        turns, room = self._next_requests()
        if not turns:
            return False
        chosen = [waiting for waiting, _ in turns]
        try:
            assert chosen[0].part is not None
            pipeline = chosen[0].part.pipeline
            batch = take_shares(chosen, room)
            self._put_back(turns, batch)
            if batch:
                self._translate(batch, pipeline)
            for waiting in chosen:
                waiting.try_to_finish()
        except Exception as problem:  # a fault of ours must not end the thread
            for waiting in chosen:
                waiting.fail(problem)
        return True

    def _next_requests(self) -> tuple[list[tuple[Waiting, int]], float]:
        """Those whose units can be in one batch, with their turns, and how many characters there is room for; none at
        the end."""
        with self._changed:
            while not len(self._queue):
                if self._closed:
                    return [], 0.0
                self._changed.wait()
            room = min(max(self._characters / (len(self._threads) + 1), FEWEST), MOST)
            return self._queue.pop_alike(LARGEST_BATCH, room, SENTENCE), room

    def _put_back(self, turns: Sequence[tuple[Waiting, int]], batch: Sequence[Portion]) -> None:
        """Those that have more units go to the end of the queue, those that there was no room for keep their turns."""
        gave = {portion.waiting for portion in batch}
        with self._changed:
            left = [(one, turn) for one, turn in turns if one.part is not None and not one.over]
            self._queue.put_back([(one, turn) for one, turn in left if one not in gave])
            for waiting, _ in left:
                if waiting in gave:
                    self._queue.append(waiting)
            if len(self._queue):
                self._changed.notify()

    def _translate(self, batch: Sequence[Portion], pipeline: Pipeline) -> None:
        began = time.monotonic()
        units = [unit for portion in batch for unit in portion.units]
        with self._changed:
            self._searching += 1
            searching = self._searching
        try:
            results = iter(pipeline.results(units))
        except Exception as problem:
            if len(batch) == 1:
                batch[0].waiting.fail(problem)
                return
            results = None  # one of the requests is to blame
        finally:
            with self._changed:
                self._searching -= 1
        if results is None:
            for portion in batch:
                self._translate([portion], pipeline)
            return
        for waiting, number, own, _ in batch:
            try:
                waiting.add(number, own, list(islice(results, len(own))))
            except Exception as problem:
                waiting.fail(problem)
        self._measure(batch, time.monotonic() - began, searching, began)

    def _measure(self, batch: Sequence[Portion], seconds: float, searching: int, began: float) -> None:
        characters = sum(portion.characters for portion in batch)
        if characters >= FEWEST:  # a small batch is slower than a full one, and says nothing about a queue
            speed = searching * characters / max(seconds, 1e-3)
            self._speed = speed if self._speed is None else self._speed + WEIGHT * (speed - self._speed)
        if self._observe is not None:
            since = min(portion.waiting.since for portion in batch)
            units = sum(len(portion.units) for portion in batch)
            self._observe(BatchDone(len(batch), units, seconds, began - since))


def take_shares(chosen: Sequence[Waiting], room: float) -> list[Portion]:
    """Units of each request, in equal shares of so many characters; what is then left of the room goes to those that
    have more."""
    batch: list[Portion] = []
    units, giving = LARGEST_BATCH, list(chosen)
    while giving and units > 0 and room > 0:
        most, share = max(1, units // len(giving)), room / len(giving)
        more = []
        for waiting in giving:
            if units <= 0 or room <= 0:
                break
            part = waiting.part
            try:
                portion = None if waiting.over else waiting.take(min(most, units), share)
            except Exception as problem:
                waiting.fail(problem)
                continue
            if portion is not None:
                batch.append(portion)
                units -= len(portion.units)
                room -= portion.characters
                if waiting.part is part:
                    more.append(waiting)
        giving = more
    return batch
