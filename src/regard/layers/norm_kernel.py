"""A sum and its layer normalisation, on a GPU in one kernel, in Triton: one program takes one row.

    s = x + y        n = LayerNorm(s)

The sum of a residual connection is needed by the next sublayer (pre-norm) or not at all (post-norm). `Residual` of
`residual.py` is the definition.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.layers.has_triton import HAS_TRITON

if HAS_TRITON:
    import triton
    import triton.language as tl

    @triton.jit
    def _add_norm(x, y, weight, bias, summed, normed, eps, width: tl.constexpr, padded: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * width
        c = tl.arange(0, padded)
        inside = c < width
        s = tl.load(x + row + c, mask=inside, other=0.0).to(tl.float32)
        s += tl.load(y + row + c, mask=inside, other=0.0).to(tl.float32)
        s = s.to(summed.dtype.element_ty)
        tl.store(summed + row + c, s, mask=inside)
        s = s.to(tl.float32)  # what the norm sees is what is stored
        mean = tl.sum(s, 0) / width
        centred = tl.where(inside, s - mean, 0.0)
        n = centred * tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
        w = tl.load(weight + c, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
        tl.store(normed + row + c, (n * w + b).to(normed.dtype.element_ty), mask=inside)


def add_norm(x: Tensor, y: Tensor, norm: torch.nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """x + y and its normalisation, each (N, D)"""
    if not x.is_cuda:
        return x + y, norm(x + y)
    summed, normed = torch.empty_like(x), torch.empty_like(x)
    width = x.shape[-1]
    _add_norm[(x.numel() // width,)](
        x, y, norm.weight, norm.bias, summed, normed, norm.eps,
        width=width, padded=triton.next_power_of_2(width), num_warps=1 if width <= 512 else 4,
    )  # fmt: skip
    return summed, normed
