"""From a layer to exponents: its time, matrix work and memory at growing sizes, and the power law through them.

    cost(size) ≈ c · sizeᵖ        so that        log cost ≈ log c + p · log size

p is the slope of a straight line, found by least squares on the upper half of the sizes: below it fixed costs rule
(calling an operation takes microseconds whatever its size). How far the points lie from the line is part of the answer.

    time      of a forward pass without gradients; the median of repeats. Sizes take turns, so that a slow moment of
              the machine hits all of them and can be taken out. One processor thread is timed by its own clock, which
              stands still while other programs run; more threads and accelerators by the clock on the wall.
    FLOPs     by torch's own formulas: products of matrices, two operations for a multiplication with its addition.
    memory    most bytes that tensors made by the layer hold at once, input and weights not counted. What an operation
              uses inside itself is seen on CUDA only.

This file knows nothing of layers: what it measures is any function of one tensor.
"""

from __future__ import annotations

import ctypes
import math
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import geometric_mean, median
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

Function = Callable[[Tensor], Tensor]
LEAST_SECONDS = 2e-3  # a shorter call is repeated until a reading lasts as long
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h


@dataclass(frozen=True)
class Fit:
    """cost ≈ c · size^exponent from the size `since` on; `residual` 0.05: points lie 5 % off the line (their RMS)."""

    exponent: float
    residual: float
    since: int


@dataclass(frozen=True)
class Sweep:
    """What was measured while one size grew and the other stood still; a list has one entry a size."""

    axis: str  # n or d
    fixed: int  # the other one
    sizes: list[int]
    seconds: list[float]
    flops: list[int]
    bytes: list[int]
    time_fit: Fit
    flops_fit: Fit
    memory_fit: Fit


def power_law(sizes: Sequence[int], costs: Sequence[float]) -> Fit:
    """The exponent by least squares in log–log, on the upper half of the sizes.

    >>> power_law([1, 2, 4, 8], [7, 7, 16, 64])
    Fit(exponent=2.0, residual=0.0, since=4)
    """
    half = len(sizes) // 2
    x = [math.log(size) for size in sizes[half:]]
    y = [math.log(cost) for cost in costs[half:]]
    slope, _, squares = straight_line(x, y)
    return Fit(round(slope, 9), round(math.expm1(math.sqrt(squares / len(x))), 9), sizes[half])


def straight_line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Slope, height at 0 and the sum of squared residuals of the best line; a level one where x does not vary."""
    x_mean, y_mean = math.fsum(x) / len(x), math.fsum(y) / len(y)
    spread = math.fsum((a - x_mean) ** 2 for a in x)
    slope = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread if spread else 0.0
    height = y_mean - slope * x_mean
    return slope, height, math.fsum((b - slope * a - height) ** 2 for a, b in zip(x, y, strict=True))


@dataclass(frozen=True)
class Growth:
    """A count at several n, and the law that fits it best: slope · law(n) + height."""

    lengths: list[int]
    counts: list[int]
    law: str  # 1, log n or n; log to the base k
    slope: float
    height: float


def growth(lengths: Sequence[int], counts: Sequence[int], base: int) -> Growth:
    """The simplest law with the smallest error."""
    laws: dict[str, Callable[[int], float]] = {"1": lambda _: 0.0, "log n": lambda n: math.log(n, base), "n": float}
    fits = {name: straight_line([law(n) for n in lengths], [float(c) for c in counts]) for name, law in laws.items()}
    best = min(fits, key=lambda name: round(fits[name][2], 9))  # the first of equals
    slope, height, _ = fits[best]
    return Growth(list(lengths), list(counts), best, round(slope, 9), round(height, 9))


# ------------------------------------------------------------------------------------------------ one call


class Counted(TorchDispatchMode):
    """Sees every operation while it is active: adds up FLOPs, and follows each storage until it is freed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = self.held = self.peak = 0  # operations; bytes now; most bytes at once
        self._alive: dict[int, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if func.overloadpacket in flop_registry:
            self.flops += flop_registry[func.overloadpacket](*args, **kwargs, out_val=made)
        if not func.is_view:
            for tensor in made if isinstance(made, tuple | list) else (made,):
                if isinstance(tensor, Tensor):
                    self._follow(tensor.untyped_storage())
        return made

    def _follow(self, storage: torch.UntypedStorage) -> None:
        name, size = storage._cdata, storage.nbytes()
        if name not in self._alive:
            self._alive[name] = weakref.ref(storage, lambda _: self._forget(name, size))
            self.held += size
            self.peak = max(self.peak, self.held)

    def _forget(self, name: int, size: int) -> None:
        del self._alive[name]
        self.held -= size


def count(function: Function, x: Tensor) -> tuple[int, int]:
    """FLOPs and most bytes held of one call."""
    with Counted() as counted, torch.backends.cudnn.flags(enabled=False):
        function(x)  # without cuDNN, whose recurrent layers nobody can look into
    if x.device.type != "cuda":
        return counted.flops, counted.peak
    torch.cuda.synchronize(x.device)
    torch.cuda.reset_peak_memory_stats(x.device)
    before = torch.cuda.memory_allocated(x.device)
    function(x)
    return counted.flops, torch.cuda.max_memory_allocated(x.device) - before


def seconds_per_call(function: Function, x: Tensor, calls: int = 1) -> float:
    own_clock = x.device.type == "cpu" and torch.get_num_threads() == 1
    fine = time.get_clock_info("thread_time").resolution <= 1e-6  # not so everywhere
    clock = time.thread_time if own_clock and fine else time.perf_counter
    _wait(x.device)
    began = clock()
    for _ in range(calls):
        function(x)
    _wait(x.device)
    return (clock() - began) / calls


def _wait(device: torch.device) -> None:
    """Until the accelerator has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


# ------------------------------------------------------------------------------------------------ many sizes


def rising(first: int, most: int) -> list[int]:
    """Sizes in steps of about √2, all of them multiples of `first` / 8, so that blocks and vectors come out even.

    >>> rising(64, 256)
    [64, 88, 128, 184, 256]
    """
    step = first // 8
    ladder = (round(first * 2 ** (i / 2) / step) * step for i in range(64))
    return [size for size in ladder if size <= most]


def sweep(
    axis: str,
    fixed: int,
    sizes: Sequence[int],
    make: Callable[[int], tuple[Function, Tensor]],
    repeats: int,
    limit: float = math.inf,
    least: int = 4,
) -> Sweep:
    """Measure at rising sizes until one call takes longer than `limit` seconds, but at `least` so many sizes.

    `make` gives the function and its input at one size. The function is timed on its own output: a layer in a stack
    gets what a layer like it made, in the memory layout that this one leaves behind.
    """
    runs: list[tuple[Function, Tensor, int]] = []
    for size in sizes:
        function, x = make(size)
        x = function(x)
        took = min(seconds_per_call(function, x) for _ in range(2))  # the first call also warms up
        runs.append((function, x, max(1, round(LEAST_SECONDS / max(took, 1e-6)))))
        if took > limit and len(runs) >= least:
            break
    turns = [[seconds_per_call(*run) for run in runs] for _ in range(repeats)]
    seconds = typical(turns)
    counts = [count(function, x) for function, x, _ in runs]
    flops, held = [flops for flops, _ in counts], [held for _, held in counts]
    sizes = list(sizes[: len(runs)])
    laws = (power_law(sizes, seconds), power_law(sizes, flops), power_law(sizes, held))
    return Sweep(axis, fixed, sizes, seconds, flops, held, *laws)


def typical(turns: Sequence[Sequence[float]]) -> list[float]:
    """The median time of each size, after the speed of the machine at each turn is taken out.

    Processors run faster and slower by the second. Where half of the turns are fast, one size's median would fall among
    the fast ones and the next size's among the slow.

    >>> [round(time, 6) for time in typical([[1, 2, 4], [3, 6, 12], [3, 6, 12.1]])]
    [3.0, 6.0, 12.0]
    """
    speeds = [geometric_mean(turn) for turn in turns]
    even = [[seconds / speed for seconds in turn] for turn, speed in zip(turns, speeds, strict=True)]
    return [median(column) * median(speeds) for column in zip(*even, strict=True)]


@contextmanager
def memory_kept() -> Iterator[None]:
    """Let the C library keep freed memory for the next call, as torch does by itself on a GPU.

    By default glibc gives large blocks back and takes them anew, page by page, at every call. That costs more than a
    softmax over the block, and it begins at some size: self-attention would seem to grow like n^2.5. Elsewhere than
    on glibc this does nothing.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        yield
        return
    mallopt(M_MMAP_THRESHOLD, 1 << 30)
    mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)
    try:
        yield
    finally:
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)  # its own defaults
        mallopt(M_TRIM_THRESHOLD, 128 * 1024)
