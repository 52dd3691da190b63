"""Forward and backward of one batch shape as a CUDA graph: recorded once, then replayed without Python.

The kernels of a small model are so short that the host cannot launch them fast enough; a replay is one launch. It needs
batches of one shape (`data/rows.py`) and a pass that reads no number back from the GPU. Gradients are added to those
that exist, as by backward, so micro-batches and the optimizer stay outside the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from regard.batch import Batch

WARM_UP = 3  # passes before recording, for compilation, workspaces and caches


class CudaGraphPass:
    """`work(batch, scale)`, which calls backward and returns a loss, recorded."""

    def __init__(self, work: Callable[[Batch, Tensor], Tensor], batch: Batch, parameters: Sequence[Tensor]) -> None:
        self.batch = batch.clone()
        self.scale = torch.ones((), device=batch.src.device)
        generator = torch.cuda.default_generators[batch.src.device.index or 0]
        rng_state = generator.get_state()
        gradients = [None if p.grad is None else p.grad.clone() for p in parameters]  # of earlier micro-batches
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                work(self.batch, self.scale)
        torch.cuda.current_stream().wait_stream(stream)
        for parameter, before in zip(parameters, gradients, strict=True):  # their addresses are fixed from here on
            parameter.grad = torch.zeros_like(parameter) if before is None else before
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = work(self.batch, self.scale)
        generator.set_state(rng_state)  # the warm-up passes must not change what is drawn later

    def __call__(self, batch: Batch, scale: float | Tensor) -> Tensor:
        for own, given in zip(self.batch.tensors(), batch.tensors(), strict=True):
            own.copy_(given, non_blocking=True)
        self.scale.fill_(scale)
        self.graph.replay()
        return self.loss.clone()
