"""`loss_and_gradient` of `loss.py` as one GPU kernel: it reads a row of logits and writes the gradient in its place.

The row is still in the cache when it is written. What torch's compiler makes of the same lines is slower, and needs a
second array as large as the logits.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.layers.kernels import HAS_TRITON

BLOCK = 4096

if HAS_TRITON:
    import triton
    import triton.language as tl

    @triton.jit
    def _loss_kernel(logits, targets, counts, losses, smoothing, size: tl.constexpr, block: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        z = logits + row * size
        places = tl.arange(0, block)
        top, total, plain = -1.0e30, 0.0, 0.0
        for at in range(0, size, block):
            inside = at + places < size
            some = tl.load(z + at + places, inside, other=-1.0e30).to(tl.float32)
            higher = tl.maximum(top, tl.max(some))
            total = total * tl.exp(top - higher) + tl.sum(tl.exp(some - higher))
            plain += tl.sum(tl.where(inside, some, 0.0))
            top = higher
        normaliser = top + tl.log(total)
        target, count = tl.load(targets + row), tl.load(counts + row).to(tl.float32)
        right = tl.load(z + target).to(tl.float32)
        tl.store(losses + row, count * (normaliser - (1 - smoothing) * right - smoothing * plain / size))
        for at in range(0, size, block):
            inside = at + places < size
            some = tl.load(z + at + places, inside, other=-1.0e30).to(tl.float32)
            gradient = (
                tl.exp(some - normaliser) - smoothing / size - tl.where(at + places == target, 1 - smoothing, 0.0)
            )
            tl.store(z + at + places, (count * gradient).to(logits.dtype.element_ty), inside)


def loss_and_gradient(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """(summed loss, gradient); the gradient overwrites the logits (M, V)."""
    losses = torch.empty(len(logits), dtype=torch.float32, device=logits.device)
    _loss_kernel[(len(logits),)](
        logits, targets, mask, losses, smoothing, size=logits.shape[1], block=BLOCK, num_warps=8
    )
    return losses.sum(), logits
