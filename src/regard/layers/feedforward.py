"""The position-wise feed-forward layer: the same small network at every position.

FFN(x) = max(0, xW₁ + b₁)W₂ + b₂          (ReLU, as in the notes; GELU and SiLU the same with another nonlinearity)
SwiGLU(x) = (silu(xW₁) ⊙ xW₃)W₂           (Shazeer 2020)
"""

from __future__ import annotations

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Activation = Literal["relu", "gelu", "silu", "swiglu"]  # SiLU is what others call swish


class FeedForward(nn.Module):
    """(B, T, D) → (B, T, D) with a hidden layer of `inner` units."""

    def __init__(self, width: int, inner: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.activation = activation
        self.expand = nn.Linear(width, inner)
        self.contract = nn.Linear(inner, width)
        self.gate = nn.Linear(width, inner) if activation == "swiglu" else None

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """`real` marks the positions that are tokens; only `moe.py` uses it, here positions are independent."""
        if self.gate is not None:
            hidden = F.silu(self.gate(x)) * self.expand(x)
        elif self.activation == "gelu":
            hidden = F.gelu(self.expand(x))
        elif self.activation == "silu":
            hidden = F.silu(self.expand(x))
        elif x.is_cuda and torch.is_autocast_enabled("cuda"):
            hidden = _ExpandRelu.apply(x, self.expand.weight.to(x.dtype), self.expand.bias.to(x.dtype))  # type: ignore[no-untyped-call]
        else:
            expanded = self.expand(x)
            hidden = F.relu(expanded, inplace=not torch.is_grad_enabled())
        out: Tensor = self.contract(hidden)
        return out

    def flops(self, tokens: int) -> float:
        """Operations of two matrix products, three with a gate."""
        matrices = 3 if self.gate is not None else 2
        return 2.0 * tokens * matrices * self.expand.in_features * self.expand.out_features


@torch.library.custom_op("regard::expand_relu", mutates_args=())
def expand_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Computes max(0, xWᵀ + b) of rows (M, D) in one kernel; torch's compiler would use two."""
    return torch._addmm_activation(bias, x, weight.T)


@expand_relu.register_fake
def _(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x.new_empty(x.shape[0], weight.shape[0])


class _ExpandRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        hidden: Tensor = expand_relu(x.flatten(0, -2), weight, bias)  # (M, inner)
        ctx.save_for_backward(x, weight, hidden)
        return hidden.view(*x.shape[:-1], len(weight))  # an expert without tokens has no rows

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight, hidden = ctx.saved_tensors
        grad = grad_out.flatten(0, -2) * (hidden > 0)  # (M, inner)
        return (grad @ weight).view(x.shape), grad.T @ x.flatten(0, -2), grad.sum(0)
