"""Forward and backward of one batch shape as a CUDA graph: recorded once, then replayed without Python.

A small model's kernels are so short that the host cannot launch them fast enough; replaying costs one launch. It needs
batches of one shape (`data/rows.py`) and work that never asks the GPU for a number. Gradients are added to those that
are there, as backward does, so micro-batches and the optimizer stay outside and stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from regard.batch import Batch

WARM = 3  # passes before recording: compilation, workspaces and caches come into being


class Captured:
    """`work(batch, scale)`, which calls backward and returns a loss, recorded."""

    def __init__(self, work: Callable[[Batch, Tensor], Tensor], batch: Batch, parameters: Sequence[Tensor]) -> None:
        self.batch = batch.clone()
        self.scale = torch.ones((), device=batch.src.device)
        generator = torch.cuda.default_generators[batch.src.device.index or 0]
        dice = generator.get_state()
        learnt = [None if p.grad is None else p.grad.clone() for p in parameters]  # from earlier micro-batches
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                work(self.batch, self.scale)
        torch.cuda.current_stream().wait_stream(stream)
        for parameter, before in zip(parameters, learnt, strict=True):  # gradients live at fixed places from here on
            parameter.grad = torch.zeros_like(parameter) if before is None else before
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = work(self.batch, self.scale)
        generator.set_state(dice)  # as if nothing had been tried

    def __call__(self, batch: Batch, scale: float | Tensor) -> Tensor:
        for mine, given in zip(self.batch.tensors(), batch.tensors(), strict=True):
            mine.copy_(given, non_blocking=True)
        self.scale.fill_(scale)
        self.graph.replay()
        return self.loss.clone()
