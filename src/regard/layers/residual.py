"""Residual connection, dropout and layer normalisation around a sublayer.

    post-norm (the notes, Vaswani et al. 2017):  LayerNorm(x + dropout(f(x)))
    pre-norm  (Wang et al. 2019):                x + dropout(f(LayerNorm(x)))

Post-norm needs a warm-up; pre-norm trains without one and wants a last LayerNorm after the stack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn

Norm = Literal["post", "pre"]


class Residual(nn.Module):
    def __init__(self, width: int, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.post = norm == "post"
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        if self.post:
            normed: Tensor = self.norm(x + self.dropout(sublayer(x)))
            return normed
        return x + self.dropout(sublayer(self.norm(x)))  # type: ignore[no-any-return]
