"""The heaps of a process, as glibc counts them."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="needs glibc")

THREADS = """
import ctypes, threading
from regard.serve.pool import use_single_arena

{first}
libc, together = ctypes.CDLL(None), threading.Barrier(4)
libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
def allocate():
    together.wait()
    libc.malloc(10_000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_stats()
"""


def heaps(first: str, **variables: str) -> int:
    """Of a process that does `first`, then allocates in four threads."""
    command = [sys.executable, "-c", THREADS.format(first=first)]
    said = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True, env=os.environ | variables).stderr
    return said.count("Arena ")


def test_threads_allocate_from_one_heap() -> None:
    assert heaps("pass") > 1
    assert heaps("use_single_arena()") == 1


def test_whoever_asks_for_more_heaps_has_them() -> None:
    assert heaps("use_single_arena()", MALLOC_ARENA_MAX="3") == 3
