"""Requests that wait for translation, and their queue.

RequestQueue    requests by the key of their next units, in turns that are fair to clients
QueuedRequest   one request: units are taken from it, results are added, and its future is set when all are complete
Portion         units of one request in a batch
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from regard.search.engine import StopSignal
from regard.translation.job import TranslationJob
from regard.translation.pipeline import UnitResult
from regard.translation.translation import Translation
from regard.translation.units import Unit

SLOW_SECONDS = 4.0  # of a search in the slow lane, the first time, while others wait there


@dataclass(eq=False)
class Portion:
    """Units of one request in a batch, with the index of the portion in the request."""

    request: QueuedRequest
    number: int
    units: list[Unit]
    characters: int

    def __post_init__(self) -> None:
        self.results: list[UnitResult | None] = [None] * len(self.units)
        self.slow_seconds = SLOW_SECONDS  # after which its search in the slow lane gives way to another

    def set_results(self, places: Sequence[int], outcomes: Iterator[tuple[Unit, UnitResult]]) -> None:
        """Take the results of the units at these places from `outcomes`, except those of abandoned searches."""
        for place, (unit, result) in zip(places, outcomes, strict=False):
            self.results[place] = None if unit.stop and unit.stop.abandoned else result

    @property
    def missing(self) -> list[int]:
        """The indices of units without a result."""
        return [i for i, result in enumerate(self.results) if result is None]

    def stoppable(
        self, deadline: float, chosen: Sequence[int] | None = None, pause: Callable[[], bool] | None = None
    ) -> list[Unit]:
        """Return the units, or the chosen ones, with signals that stop them at a deadline or after the request. In the
        slow lane `pause` is called between two steps and returns whether to give way to another portion, and the native
        engine may take over."""

        def is_over() -> bool:
            gives_way = pause is not None and not self.request.finished and pause()
            return gives_way or self.request.finished

        deadline, slow = min(deadline, self.request.deadline), pause is not None
        units = self.units if chosen is None else [self.units[i] for i in chosen]
        return [replace(unit, stop=StopSignal(deadline, is_over, slow)) for unit in units]


@dataclass(eq=False)
class QueuedRequest:
    """A waiting request. Only one thread at a time takes units from it: the one that popped it from the queue."""

    job: TranslationJob
    characters: int
    deadline: float  # of `time.monotonic`
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[list[Translation]]
    added: Callable[[], None] | None = None  # called in a thread when the job has new results
    client: Hashable = None  # turns are shared out among clients
    queued_at: float = field(default_factory=time.monotonic)
    finished: bool = False  # answered, cancelled or past its deadline

    def __post_init__(self) -> None:
        self._parts = iter(self.job.parts)
        self.part = next(self._parts, None)  # None: all units were taken
        self._started = False  # whether the first unit of the part was made, which is slow and done in a thread
        self._ahead: Unit | None = None  # the next unit, made in advance so that the last one is recognized
        self._taken = self._added = 0  # numbers of portions
        self._found: dict[int, tuple[list[Unit], list[UnitResult]]] = {}  # by portion, until earlier ones are added
        self._lock = threading.Lock()

    def take(self, most: int, characters: float) -> Portion | None:
        """Take the next units of the part, at most `most`, until they have `characters`. None if there are no more."""
        assert self.part is not None
        units: list[Unit] = []
        if not self._started:
            self._started, self._ahead = True, next(self.part.units, None)
        size = 0
        while self._ahead is not None and len(units) < most and size < characters:
            units.append(self._ahead)
            size += len(self._ahead.prepared.source)
            self._ahead = next(self.part.units, None)
        with self._lock:  # `finish_if_done` must see the end and the last portion together
            if self._ahead is None:
                self.part, self._started = next(self._parts, None), False
            if not units:
                return None
            self._taken += 1
            return Portion(self, self._taken - 1, units, size)

    def add(self, portion: Portion) -> None:
        """Add the results of a portion. Portions may finish in any order; the job gets them in the order of units."""
        with self._lock:
            self._found[portion.number] = portion.units, [one for one in portion.results if one is not None]
            while found := self._found.pop(self._added, None):
                self.job.add(*found)
                self._added += 1
        if self.added is not None and not self.finished:
            self.added()

    def finish_if_done(self) -> None:
        """Set the result of the request if all units were taken and translated."""
        with self._lock:
            if self.finished or self.part is not None or self._added < self._taken:
                return
            self.finished = True
        try:
            self._set_result(self.job.translations())
        except Exception as problem:
            self._set_result(problem)

    def fail(self, problem: BaseException) -> None:
        with self._lock:
            if self.finished:
                return
            self.finished = True
        self._set_result(problem)

    def _set_result(self, answer: list[Translation] | BaseException) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop was closed
            self.loop.call_soon_threadsafe(_set, self.done, answer)


def _set(future: asyncio.Future[list[Translation]], answer: list[Translation] | BaseException) -> None:
    if future.done():  # cancelled
        return
    if isinstance(answer, BaseException):
        future.set_exception(answer)
    else:
        future.set_result(answer)


class RequestQueue:
    """Requests by key, in the order of their turns. Each request of a client gets a later turn than the client's last
    one, and a client without waiting requests gets the next turn: however many requests a client has, the others
    wait for one of them (start-time fair queueing, Goyal et al. 1996). Not thread-safe by itself."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, list[tuple[int, int, QueuedRequest]]] = {}  # heaps
        self._turn_of: dict[QueuedRequest, int] = {}  # of the waiting requests; others in a heap were discarded
        self._last_turns: dict[Hashable, int] = {}  # by client
        self._now, self._count = 0, itertools.count()

    def __len__(self) -> int:
        return len(self._turn_of)

    def append(self, request: QueuedRequest) -> None:
        turn = max(self._now, self._last_turns.get(request.client, 0)) + 1
        self._last_turns[request.client] = turn
        self._insert(request, turn)

    def put_back(self, some: Sequence[tuple[QueuedRequest, int]]) -> None:
        """Return popped requests, with the turns they had."""
        for request, turn in some:
            self._insert(request, turn)

    def _insert(self, request: QueuedRequest, turn: int) -> None:
        key = None if request.part is None else request.part.key
        self._turn_of[request] = turn
        heapq.heappush(self._by_key.setdefault(key, []), (turn, next(self._count), request))

    def discard(self, request: QueuedRequest) -> None:
        self._turn_of.pop(request, None)

    def pop_compatible(self, most: int, characters: float, least: int) -> list[tuple[QueuedRequest, int]]:
        """Pop requests whose units can share a batch, with their turns: the next one and those after it with the same
        key, at most `most`, until they fill `characters` if each contributes at least `least`."""
        for key in list(self._by_key):
            self._drop_discarded(key)
        key = min(self._by_key, key=lambda key: self._by_key[key][0])
        found: list[tuple[QueuedRequest, int]] = []
        while key in self._by_key and len(found) < most and characters > 0:
            turn, _, request = heapq.heappop(self._by_key[key])
            del self._turn_of[request]
            found.append((request, turn))
            characters -= min(request.characters, least)
            self._drop_discarded(key)
        self._now = max(self._now, found[0][1])
        if len(self._last_turns) > 2 * len(self._turn_of) + 100:
            self._last_turns = {client: turn for client, turn in self._last_turns.items() if turn > self._now}
        return found

    def _drop_discarded(self, key: Hashable) -> None:
        heap = self._by_key[key]
        while heap and self._turn_of.get(heap[0][2]) != heap[0][0]:
            heapq.heappop(heap)
        if not heap:
            del self._by_key[key]
