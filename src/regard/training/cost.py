"""What training costs: floating-point operations, counted while it runs, and memory.

A forward pass by the architecture's own formula (`Model.flops`), times three: the backward pass takes twice as much.
Padding is not counted; it is waste, not work. A search is counted as if each step reused what the ones before it had
computed, as the models do. Masked scores count in full there too, so that a Transformer's search is counted a little
high. Evaluations on the development set are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from regard.batch import FlatBatch
from regard.models.base import Model

FORWARD_AND_BACKWARD = 3


class Cost:
    def __init__(self, model: Model, passes: int = FORWARD_AND_BACKWARD) -> None:
        self.model, self.passes = model, passes  # forward passes that learning costs
        self._known: dict[tuple[int, int], float] = {}  # (source, target) → forward pass; lengths repeat all the time

    def of(self, batch: FlatBatch) -> float:
        """Learning from a batch."""
        lengths = zip(batch.src_offsets.diff().tolist(), batch.tgt_offsets.diff().tolist(), strict=True)
        return sum(self.of_learning(source, target) for source, target in lengths)

    def of_learning(self, source: int, target: int) -> float:
        """One pair of so many tokens, EOS counted, forward and backward."""
        return self.passes * self._forward(source, target)

    def of_search(self, source: int, steps: Sequence[int]) -> float:
        """Translations of one sentence, each of so many steps: the source is read once for all of them."""
        reading = self._forward(source, 0)
        return reading + sum(self._forward(source, taken) - reading for taken in steps)

    def _forward(self, source: int, target: int) -> float:
        if (source, target) not in self._known:
            self._known[source, target] = self.model.flops(source, target)
        return self._known[source, target]


def peak_bytes(device: torch.device) -> int | None:
    """The most memory so far: of the device's tensors on a GPU, of the whole process elsewhere, where Linux tells."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
