"""The cost of training: floating-point operations, time and memory, and the peak speed of a device.

Operations are those of a forward pass by the architecture's own formula (`Model.flops`) times three: the backward pass
takes twice as much. Padding is not counted. A search is counted with cached keys and values, as the models compute it,
but with masked scores, so a Transformer's search is counted a little too high. Evaluations on the development set are
not counted.

A time is two numbers: wall time and processor time. On a busy machine the first is the waiting time and the second the
cost of the work; on an idle one, with one thread, they are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

import torch

from regard.batch import FlatBatch
from regard.models.base import Model

FORWARD_AND_BACKWARD = 3
DATASHEET = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}  # dense bfloat16, FLOP/s


class FlopCounter:
    def __init__(self, model: Model, passes: int = FORWARD_AND_BACKWARD) -> None:
        self.passes = passes  # forward passes per batch that is learnt from
        self._forward = cache(model.flops)  # (source, target) lengths → operations of a forward pass

    def of_batch(self, batch: FlatBatch) -> float:
        """Returns the operations of learning from a batch."""
        lengths = zip(batch.src_offsets.diff().tolist(), batch.tgt_offsets.diff().tolist(), strict=True)
        return sum(self.of_pair(source, target) for source, target in lengths)

    def of_pair(self, source: int, target: int) -> float:
        """Operations of learning from one pair of these lengths, EOS counted, forward and backward."""
        return self.passes * self._forward(source, target)

    def of_search(self, source: int, steps: Sequence[int]) -> float:
        """Operations of translating one sentence, once for each number of steps; the source is encoded once."""
        encoding = self._forward(source, 0)
        return encoding + sum(self._forward(source, count) - encoding for count in steps)


def peak_bytes(device: torch.device) -> int | None:
    """Returns the peak memory so far: of tensors on a GPU, else of the whole process, where Linux reports it."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])


def peak_flops(device: torch.device, kind: torch.dtype) -> tuple[float, str]:
    """Returns the peak FLOP/s of a device, and the source of the number."""
    if device.type == "cuda" and kind == torch.bfloat16:
        words = torch.cuda.get_device_name(device).replace("-", " ").split()
        known = next((DATASHEET[word] for word in words if word in DATASHEET), None)
        if known is not None and "PCIe" not in words:
            return known, "datasheet"
    size = 8192 if device.type == "cuda" else 1024
    return measured_peak(device, kind, size), f"a product of {size} × {size} matrices"


def measured_peak(device: torch.device, kind: torch.dtype, size: int, seconds: float = 0.5) -> float:
    """Measures the FLOP/s of a matrix product: the best of many trials, since other processes make some slow."""
    a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    best, end = float("inf"), time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        (a @ b)[0, 0].item()  # waits for the product
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


# ── time ────────────────────────────────────────────────────────────────────────────────────────────────────────────


T = TypeVar("T")


@dataclass(frozen=True)
class Time:
    """Wall time and processor time, in seconds."""

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
