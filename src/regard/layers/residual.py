"""Residual connection, dropout and layer normalization around a sublayer.

    post-norm (the notes, Vaswani et al. 2017):  LayerNorm(x + dropout(f(x)))
    pre-norm  (Wang et al. 2019):                x + dropout(f(LayerNorm(x)))
    stochastic depth (Huang et al. 2016), optional, in training: f ← 0 with chance p, else f / (1 − p)

Post-norm needs a warm-up; pre-norm trains without one and needs a final LayerNorm after the stack. In mixed precision
the sums stay in the narrow type and the norm computes in float32: memory traffic takes the time, not arithmetic.
A skipped sublayer is computed and then dropped: every pass has the same shapes and the same kernels.
Rows of a batch are dropped independently, so the two passes of R-Drop differ in depth too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.dropout import Dropout

Norm = Literal["post", "pre"]


class LayerNorm(nn.LayerNorm):
    """Layer normalization over the last axis. The output has the type of the input, also under autocast."""

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, self.weight.dtype))
        return F.layer_norm(wide, self.normalized_shape, self.weight, self.bias, self.eps).to(x.dtype)


def in_working_precision(x: Tensor) -> Tensor:
    """Casts x to the type of autocast, if it is enabled."""
    kind = x.device.type
    return x.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else x


def skipped(update: Tensor, p: float) -> Tensor:
    """Sets a sublayer's update (B, T, D) to zero in some rows; the others are scaled up to keep the mean."""
    kept = torch.rand(update.shape[0], 1, 1, device=update.device) >= p  # (B, 1, 1)
    return update * (kept / (1 - p)).to(update.dtype)


class Residual(nn.Module):
    def __init__(self, width: int, norm: Norm, dropout: float, layer_drop: float = 0.0) -> None:
        super().__init__()
        self.post = norm == "post"
        self.norm = LayerNorm(width)
        self.dropout = Dropout(dropout)
        self.layer_drop = layer_drop

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.post:
            normed: Tensor = self.norm(x + self.added(sublayer(x)))
            return normed
        return x + self.added(sublayer(self.norm(x)))

    def added(self, update: Tensor) -> Tensor:
        kept: Tensor = self.dropout(update)
        return skipped(kept, self.layer_drop) if self.training and self.layer_drop else kept
