"""Memory of the server: threads allocate from one heap, and what is no longer used is given back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from typing import Any

ARENAS = "MALLOC_ARENA_MAX"  # glibc's own variable, for those who want another number
M_ARENA_MAX = -8  # from malloc.h


def use_one_heap() -> None:
    """Let all threads of this process allocate from one heap of glibc's (an arena). By default each has its own: a
    batch takes memory in whichever thread translates it, and what is free in one heap is of no use to another, so a
    server grows over its first ten thousand requests. One heap is as fast (docs/benchmarks.md)."""
    if ARENAS not in os.environ and (set_option := _of_glibc("mallopt")):
        set_option(M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Free what only cycles refer to, and let glibc return its free pages: by itself it keeps most of a dropped model.
    Other C libraries return them without being asked."""
    gc.collect()
    if trim := _of_glibc("malloc_trim"):
        trim(0)


def _of_glibc(name: str) -> Any:
    """A function of the C library; None where it has none of that name."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        return getattr(ctypes.CDLL(None), name)
    return None
