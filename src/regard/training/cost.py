"""What training costs: floating-point operations and memory, and what a device can do.

A forward pass by the architecture's own formula (`Model.flops`), times three: the backward pass takes twice as much.
Padding is not counted. A search is counted with cached keys and values, as the models do it. Masked scores count in
full there too, so a Transformer's search is counted a little too high. Evaluations on the development set are not
counted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import torch

from regard.batch import FlatBatch
from regard.models.base import Model

FORWARD_AND_BACKWARD = 3
DATASHEET = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}  # dense bfloat16, FLOP/s


class Cost:
    def __init__(self, model: Model, passes: int = FORWARD_AND_BACKWARD) -> None:
        self.model, self.passes = model, passes  # forward passes per batch learnt from
        self._known: dict[tuple[int, int], float] = {}  # (source, target) lengths → forward pass

    def of(self, batch: FlatBatch) -> float:
        """Learning from a batch."""
        lengths = zip(batch.src_offsets.diff().tolist(), batch.tgt_offsets.diff().tolist(), strict=True)
        return sum(self.of_learning(source, target) for source, target in lengths)

    def of_learning(self, source: int, target: int) -> float:
        """One pair of these lengths, EOS counted, forward and backward."""
        return self.passes * self._forward(source, target)

    def of_search(self, source: int, steps: Sequence[int]) -> float:
        """Translations of one sentence, each of so many steps; the source is encoded once."""
        encoding = self._forward(source, 0)
        return encoding + sum(self._forward(source, count) - encoding for count in steps)

    def _forward(self, source: int, target: int) -> float:
        if (source, target) not in self._known:
            self._known[source, target] = self.model.flops(source, target)
        return self._known[source, target]


def peak_bytes(device: torch.device) -> int | None:
    """The most memory used so far: of tensors on a GPU, of the whole process elsewhere, where Linux reports it."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])


def peak_flops(device: torch.device, kind: torch.dtype) -> tuple[float, str]:
    """(FLOP/s that a device can reach, where the number is from)"""
    if device.type == "cuda" and kind == torch.bfloat16:
        words = torch.cuda.get_device_name(device).replace("-", " ").split()
        known = next((DATASHEET[word] for word in words if word in DATASHEET), None)
        if known is not None and "PCIe" not in words:
            return known, "datasheet"
    size = 8192 if device.type == "cuda" else 1024
    return measured_peak(device, kind, size), f"a product of {size} × {size} matrices"


def measured_peak(device: torch.device, kind: torch.dtype, size: int, seconds: float = 0.5) -> float:
    """The best of many trials, since other work on the machine makes some of them slow."""
    a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    best, end = float("inf"), time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        (a @ b)[0, 0].item()  # waits for the product
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best
