"""Time as two numbers: wall time and processor time.

On a busy machine the first is how long one waits and the second what the work needs; on an idle one, with one thread,
they are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Time:
    """Seconds."""

    wall: float = 0.0
    processor: float = 0.0  # of all threads

    def __add__(self, other: Time) -> Time:
        return Time(self.wall + other.wall, self.processor + other.processor)

    def __mul__(self, factor: float) -> Time:
        return Time(self.wall * factor, self.processor * factor)


def now() -> Time:
    return Time(time.perf_counter(), time.process_time())


def since(began: Time) -> Time:
    return now() + began * -1


def timed(work: Callable[[], T]) -> tuple[T, Time]:
    began = now()
    return work(), since(began)
