"""Requests that wait for translation, and their queue.

RequestQueue    requests by the key of their next units; the key whose first request has waited longest is next
QueuedRequest   one request: units are taken from it, results are added, and its future is set when all are complete
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regard.translation.job import TranslationJob
from regard.translation.pipeline import UnitResult
from regard.translation.translation import Translation
from regard.translation.units import Unit


class Portion(NamedTuple):
    """Units of one request in a batch, with the index of the portion in the request."""

    request: QueuedRequest
    number: int
    units: list[Unit]
    characters: int


@dataclass(eq=False)
class QueuedRequest:
    """A waiting request. Only one thread at a time takes units from it: the one that popped it from the queue."""

    job: TranslationJob
    characters: int
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[list[Translation]]
    added: Callable[[], None] | None = None  # called in a thread when the job has new results
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

    def add(self, number: int, units: list[Unit], results: list[UnitResult]) -> None:
        """Add the results of a portion. Portions may finish in any order; the job gets them in the order of units."""
        with self._lock:
            self._found[number] = units, results
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
    """Requests in the order of their turns, by key. Every operation takes constant time, except the search for the next
    key among all keys. Not thread-safe by itself."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, OrderedDict[QueuedRequest, int]] = {}
        self._turns = itertools.count()
        self._key_of: dict[QueuedRequest, Hashable] = {}

    def __len__(self) -> int:
        return len(self._key_of)

    def append(self, request: QueuedRequest) -> None:
        self._insert(request, next(self._turns))

    def put_back(self, some: Sequence[tuple[QueuedRequest, int]]) -> None:
        """Return popped requests to the front of their keys, with the turns they had."""
        for request, turn in reversed(some):
            self._insert(request, turn).move_to_end(request, last=False)

    def _insert(self, request: QueuedRequest, turn: int) -> OrderedDict[QueuedRequest, int]:
        key = None if request.part is None else request.part.key
        same_key = self._by_key.setdefault(key, OrderedDict())
        same_key[request], self._key_of[request] = turn, key
        return same_key

    def discard(self, request: QueuedRequest) -> None:
        if request in self._key_of:
            key = self._key_of.pop(request)
            del self._by_key[key][request]
            if not self._by_key[key]:
                del self._by_key[key]

    def pop_compatible(self, most: int, characters: float, least: int) -> list[tuple[QueuedRequest, int]]:
        """Pop requests whose units can share a batch, with their turns: the next one and those after it with the same
        key, at most `most`, until they fill `characters` if each contributes at least `least`."""
        key = min(self._by_key, key=lambda key: next(iter(self._by_key[key].values())))
        found = []
        for request, turn in itertools.islice(self._by_key[key].items(), most):
            found.append((request, turn))
            characters -= min(request.characters, least)
            if characters <= 0:
                break
        for request, _ in found:
            self.discard(request)
        return found
