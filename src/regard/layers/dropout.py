"""Dropout (Srivastava et al. 2014): each number becomes zero with chance p, the others grow by 1/(1 − p).

Torch's random generator is high quality but slow: in a compiled layer on a GPU it takes longer than the rest of the
layer, and on a CPU it draws one number at a time, a seventh of a training step. In a compiled GPU layer a mask is a
hash of each position and of a seed that is drawn for each call. On a CPU eight numbers share one draw of 64 bits, a
byte each, so p is rounded to 256ths (65,536ths where p is small) and kept numbers are scaled by the rounded share.
Seeds and draws come from torch's generator, so that a run can be repeated.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SMALL = 0.05  # below this probability, bytes are too coarse


class Dropout(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.is_cuda and torch.compiler.is_compiling():
            seed = torch.randint(2**31 - 1, (), device=x.device, dtype=torch.int32)
            return torch.where(hash_mask(x.shape, self.p, seed), x * (1 / (1 - self.p)), 0)
        if x.device.type == "cpu":
            return x * byte_mask(x.shape, self.p, x.dtype)
        return F.dropout(x, self.p)


def byte_mask(shape: torch.Size, p: float, kind: torch.dtype) -> Tensor:
    """Draws a mask: 0 with probability p, else 1/(1 − p), for p in steps of 1/256 or, where it is small, 1/65,536."""
    steps, view = (256, torch.uint8) if p >= SMALL else (65536, torch.uint16)
    dropped = min(max(1, round(p * steps)), steps - 1)
    count = shape.numel()
    draws = torch.empty(-(-count * view.itemsize // 8), dtype=torch.int64)
    draws.random_(-(2**63), None)  # without bounds the top bit would never be set
    drawn = draws.view(view)[:count].view(shape)
    if view is torch.uint16:  # torch compares uint16 only as a wider type
        drawn = drawn.to(torch.int32)
    return drawn.ge_(dropped).to(kind).mul_(steps / (steps - dropped))  # in place: a comparison to bool is far slower


def hash_mask(shape: torch.Size, p: float, seed: Tensor) -> Tensor:
    """Returns True with probability 1 − p, in steps of 2⁻¹⁶, by three multiply-shift rounds on int32 with overflow."""
    h = torch.arange(shape.numel(), device=seed.device, dtype=torch.int32).view(shape) ^ seed
    h = (h ^ (h >> 16)) * 569420461
    h = (
        h ^ (h >> 15)
    ) * 1935289751 + seed * 1640531527  # the seed again: without it two masks would be permutations of one
    h = (h ^ (h >> 14)) * 747796405
    return ((h >> 16) & 0xFFFF) >= round(p * 65536)
