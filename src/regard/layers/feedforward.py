"""The position-wise feed-forward layer: the same small network at every position.

FFN(x) = max(0, xW₁ + b₁)W₂ + b₂          (ReLU, as in the notes; GELU the same with another bend)
SwiGLU(x) = (silu(xW₁) ⊙ xW₃)W₂           (Shazeer 2020)
"""

from __future__ import annotations

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

Activation = Literal["relu", "gelu", "swiglu"]


class FeedForward(nn.Module):
    """(B, T, D) → (B, T, D) through `inner` units."""

    def __init__(self, width: int, inner: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.activation = activation
        self.expand = nn.Linear(width, inner)
        self.contract = nn.Linear(inner, width)
        self.gate = nn.Linear(width, inner) if activation == "swiglu" else None

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is not None:
            hidden = F.silu(self.gate(x)) * self.expand(x)
        elif self.activation == "gelu":
            hidden = F.gelu(self.expand(x))
        else:
            hidden = F.relu(self.expand(x))
        out: Tensor = self.contract(hidden)
        return out

    def flops(self, tokens: int) -> float:
        """Two matrices, three with a gate."""
        matrices = 3 if self.gate is not None else 2
        return 2.0 * tokens * matrices * self.expand.in_features * self.expand.out_features
