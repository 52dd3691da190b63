"""A request that waits for translation, and the queue of all of them.

TurnQueue   requests by the key of their next units; the key whose first request has waited longest is next
Waiting     one request: units are taken of it, results added, and its caller answered when all are there
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
    """Units of one request in a batch: the request's portion of this number."""

    waiting: Waiting
    number: int
    units: list[Unit]
    characters: int


@dataclass(eq=False)
class Waiting:
    """A request. One thread at a time takes units of it: the one that has taken it out of the queue."""

    job: TranslationJob
    characters: int
    loop: asyncio.AbstractEventLoop
    done: asyncio.Future[list[Translation]]
    added: Callable[[], None] | None = None  # called in a thread when the job has got results
    since: float = field(default_factory=time.monotonic)
    over: bool = False  # answered, cancelled or too late

    def __post_init__(self) -> None:
        self._parts = iter(self.job.parts)
        self.part = next(self._parts, None)  # None: all units were taken
        self._entered = False  # whether the part's first unit was made; that takes time, so a thread does it
        self._ahead: Unit | None = None  # the next unit: without it the end would be seen a batch too late
        self._taken = self._added = 0  # portions
        self._found: dict[int, tuple[list[Unit], list[UnitResult]]] = {}  # those that an earlier one is missing for
        self._lock = threading.Lock()

    def take(self, most: int, characters: float) -> Portion | None:
        """Units of the present part: at most so many, and none after so many characters. None where it has no more."""
        assert self.part is not None
        units: list[Unit] = []
        if not self._entered:
            self._entered, self._ahead = True, next(self.part.units, None)
        size = 0
        while self._ahead is not None and len(units) < most and size < characters:
            units.append(self._ahead)
            size += len(self._ahead.prepared.source)
            self._ahead = next(self.part.units, None)
        with self._lock:  # who looks whether all is done sees the end and the last portion together
            if self._ahead is None:
                self.part, self._entered = next(self._parts, None), False
            if not units:
                return None
            self._taken += 1
            return Portion(self, self._taken - 1, units, size)

    def add(self, number: int, units: list[Unit], results: list[UnitResult]) -> None:
        """Results of a portion. Portions may be done in any order; the job gets them in theirs."""
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
        try:
            self.answer(self.job.translations())
        except Exception as problem:
            self.answer(problem)

    def fail(self, problem: BaseException) -> None:
        with self._lock:
            if self.over:
                return
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


class TurnQueue:
    """Requests in the order of their turns. Every step takes time that does not depend on how many wait, except that
    the next key is looked for among all keys. Not safe for threads by itself."""

    def __init__(self) -> None:
        self._by_key: dict[Hashable, OrderedDict[Waiting, int]] = {}
        self._turns = itertools.count()
        self._key_of: dict[Waiting, Hashable] = {}

    def __len__(self) -> int:
        return len(self._key_of)

    def append(self, waiting: Waiting) -> None:
        self._insert(waiting, next(self._turns))

    def put_back(self, some: Sequence[tuple[Waiting, int]]) -> None:
        """Requests that `pop_alike` has given, before all others of their key."""
        for waiting, turn in reversed(some):
            self._insert(waiting, turn).move_to_end(waiting, last=False)

    def _insert(self, waiting: Waiting, turn: int) -> OrderedDict[Waiting, int]:
        key = None if waiting.part is None else waiting.part.key
        alike = self._by_key.setdefault(key, OrderedDict())
        alike[waiting], self._key_of[waiting] = turn, key
        return alike

    def discard(self, waiting: Waiting) -> None:
        if waiting in self._key_of:
            key = self._key_of.pop(waiting)
            del self._by_key[key][waiting]
            if not self._by_key[key]:
                del self._by_key[key]

    def pop_alike(self, most: int, characters: float, least: int) -> list[tuple[Waiting, int]]:
        """Requests whose units can be in one batch, with their turns: the one whose turn has come, and others of its
        key that follow it, until `most`, or until they may have so many characters if each gives at least `least`."""
        key = min(self._by_key, key=lambda key: next(iter(self._by_key[key].values())))
        found = []
        for waiting, turn in itertools.islice(self._by_key[key].items(), most):
            found.append((waiting, turn))
            characters -= min(waiting.characters, least)
            if characters <= 0:
                break
        for waiting, _ in found:
            self.discard(waiting)
        return found
