"""What training costs: floating-point operations, counted while it runs, and memory.

A forward pass by the architecture's own formula (`Model.flops`), times three: the backward pass takes twice as much.
Padding is not counted; it is waste, not work.
"""

from __future__ import annotations

from pathlib import Path

import torch

from regard.batch import PackedBatch
from regard.models.base import Model

FORWARD_AND_BACKWARD = 3


class Cost:
    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: dict[tuple[int, int], float] = {}  # (source, target) → forward pass; lengths repeat all the time

    def of(self, batch: PackedBatch) -> float:
        total = 0.0
        lengths = zip(batch.src_offsets.diff().tolist(), batch.tgt_offsets.diff().tolist(), strict=True)
        for pair in lengths:
            if pair not in self._known:
                self._known[pair] = self.model.flops(*pair)
            total += self._known[pair]
        return FORWARD_AND_BACKWARD * total


def peak_bytes(device: torch.device) -> int | None:
    """The most memory so far: of the device's tensors on a GPU, of the whole process elsewhere, where Linux tells."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
