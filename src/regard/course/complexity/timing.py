"""Measures time, FLOPs and memory of any function of one tensor, at growing sizes.

time      of a forward pass without gradients, the median of repeats. The sizes take turns, so that a slow phase of
          the machine affects all of them and can be normalised away. A single processor thread is timed by its CPU
          clock, which stops while other programs run; more threads and accelerators by the wall clock.
FLOPs     by torch's own formulas: matrix products, two operations for each multiply-add.
memory    peak bytes of the tensors that the function creates, without its input and weights. Workspace inside an
          operation is visible on CUDA only.

The costs give a power law:

    cost(size) ≈ c · sizeᵖ        so that        log cost ≈ log c + p · log size

p is the slope of a straight line, fitted by least squares on the upper half of the sizes; on the lower half fixed
costs dominate (calling an operation takes microseconds at any size). The residual of the fit is part of the result.
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

# -------------------------------------------------------------------------------- power laws


@dataclass(frozen=True)
class PowerLaw:
    """cost ≈ c · size^exponent, fitted from the size `since` on; a `residual` of 0.05 is an RMS error of 5 %."""

    exponent: float
    residual: float
    since: int


def power_law(sizes: Sequence[int], costs: Sequence[float]) -> PowerLaw:
    """Fits the exponent by least squares in log–log, on the upper half of the sizes.

    >>> power_law([1, 2, 4, 8], [7, 7, 16, 64])
    PowerLaw(exponent=2.0, residual=0.0, since=4)
    """
    half = len(sizes) // 2
    x = [math.log(size) for size in sizes[half:]]
    y = [math.log(cost) for cost in costs[half:]]
    slope, _, squares = straight_line(x, y)
    return PowerLaw(round(slope, 9), round(math.expm1(math.sqrt(squares / len(x))), 9), sizes[half])


def straight_line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float, float]:
    """Returns slope, intercept and sum of squared residuals of the best line; slope 0 if x does not vary."""
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
    height: float  # the intercept


def growth(lengths: Sequence[int], counts: Sequence[int], base: int) -> Growth:
    """Returns the simplest law with the smallest error."""
    laws: dict[str, Callable[[int], float]] = {"1": lambda _: 0.0, "log n": lambda n: math.log(n, base), "n": float}
    fits = {name: straight_line([law(n) for n in lengths], [float(c) for c in counts]) for name, law in laws.items()}
    best = min(fits, key=lambda name: round(fits[name][2], 9))  # the first of equally good ones
    slope, height, _ = fits[best]
    return Growth(list(lengths), list(counts), best, round(slope, 9), round(height, 9))


Function = Callable[[Tensor], Tensor]
LEAST_SECONDS = 2e-3  # a shorter call is repeated until one reading lasts this long
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h


@dataclass(frozen=True)
class Sweep:
    """The measurements while one size grew and the other was fixed; each list has one entry per size."""

    axis: str  # n or d
    fixed: int  # the value of the other size
    sizes: list[int]
    seconds: list[float]
    flops: list[int]
    bytes: list[int]
    time_fit: PowerLaw
    flops_fit: PowerLaw
    memory_fit: PowerLaw


# ------------------------------------------------------------------------------------------------ one call


class OperationCounter(TorchDispatchMode):
    """Counts the FLOPs of every operation while active, and tracks each storage until it is freed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops = self.held = self.peak = 0  # operations; current bytes; peak bytes
        self._alive: dict[int, Any] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        if func.overloadpacket in flop_registry:
            self.flops += flop_registry[func.overloadpacket](*args, **kwargs, out_val=made)
        if not func.is_view:
            for tensor in made if isinstance(made, tuple | list) else (made,):
                if isinstance(tensor, Tensor):
                    self._track(tensor.untyped_storage())
        return made

    def _track(self, storage: torch.UntypedStorage) -> None:
        name, size = storage._cdata, storage.nbytes()
        if name not in self._alive:
            self._alive[name] = weakref.ref(storage, lambda _: self._release(name, size))
            self.held += size
            self.peak = max(self.peak, self.held)

    def _release(self, name: int, size: int) -> None:
        del self._alive[name]
        self.held -= size


def count(function: Function, x: Tensor) -> tuple[int, int]:
    """Returns the FLOPs and peak bytes of one call."""
    with OperationCounter() as counted, torch.backends.cudnn.flags(enabled=False):
        function(x)  # without cuDNN, whose recurrent layers hide their operations
    if x.device.type != "cuda":
        return counted.flops, counted.peak
    torch.cuda.synchronize(x.device)
    torch.cuda.reset_peak_memory_stats(x.device)
    before = torch.cuda.memory_allocated(x.device)
    function(x)
    return counted.flops, torch.cuda.max_memory_allocated(x.device) - before


def seconds_per_call(function: Function, x: Tensor, calls: int = 1) -> float:
    """Returns the mean time of `calls` consecutive calls."""
    single_thread = x.device.type == "cpu" and torch.get_num_threads() == 1
    fine = time.get_clock_info("thread_time").resolution <= 1e-6  # not on every system
    clock = time.thread_time if single_thread and fine else time.perf_counter
    _wait(x.device)
    began = clock()
    for _ in range(calls):
        function(x)
    _wait(x.device)
    return (clock() - began) / calls


def _wait(device: torch.device) -> None:
    """Waits until the accelerator has finished."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


# ------------------------------------------------------------------------------------------------ many sizes


def rising(first: int, most: int) -> list[int]:
    """Returns sizes in steps of about √2, all multiples of `first` / 8, so that they fill blocks and vectors.

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
    """Measures at growing sizes until one call takes longer than `limit` seconds, but at least `least` sizes.

    `make` returns the function and its input at one size. The function is timed on its own output, because a layer in a
    stack gets the output of an equal layer, in the memory layout that the latter produces.
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
    """Returns the median time of each size, after dividing by the speed of the machine at each turn.

    A processor's speed varies within seconds. Without the division, one size's median could come from the fast turns
    and the next size's from the slow ones.

    >>> [round(time, 6) for time in typical([[1, 2, 4], [3, 6, 12], [3, 6, 12.1]])]
    [3.0, 6.0, 12.0]
    """
    speeds = [geometric_mean(turn) for turn in turns]
    even = [[seconds / speed for seconds in turn] for turn, speed in zip(turns, speeds, strict=True)]
    return [median(column) * median(speeds) for column in zip(*even, strict=True)]


@contextmanager
def memory_kept() -> Iterator[None]:
    """Makes the C library keep freed memory for the next call, as torch does on a GPU.

    By default glibc returns large blocks to the system and maps them again, page by page, at every call. Above some
    size that costs more than a softmax over the block: self-attention would seem to grow like n^2.5. Without glibc
    this does nothing.
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
        mallopt(M_MMAP_THRESHOLD, 128 * 1024)  # glibc's defaults
        mallopt(M_TRIM_THRESHOLD, 128 * 1024)
