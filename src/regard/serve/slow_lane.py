"""The slow lane of a server process: one long search at a time, which pauses between its steps while others run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SLOW_SHARE = 5  # a slow search works for at least one part in so many of the time


class SlowLane:
    """Shared by the batchers of a process: runs one slow search at a time, and leaves most of the processor to the fast
    ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._changed, self._fast, self._resumed = threading.Condition(), 0, 0.0

    @contextmanager
    def slow_search(self) -> Iterator[None]:
        with self._lock:
            self._resumed = time.monotonic()
            yield

    @contextmanager
    def fast_search(self) -> Iterator[None]:
        with self._changed:
            self._fast += 1
        try:
            yield
        finally:
            with self._changed:
                self._fast -= 1
                self._changed.notify()

    def pause(self) -> None:
        """Wait between two steps of a slow search until no fast one is running, or for its share of the time."""
        worked = time.monotonic() - self._resumed
        with self._changed:
            self._changed.wait_for(lambda: not self._fast, (SLOW_SHARE - 1) * worked)
        self._resumed = time.monotonic()
