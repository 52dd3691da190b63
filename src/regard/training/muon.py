"""Muon: momentum that is orthogonalised before it is applied (Jordan et al. 2024).

A gradient matrix is dominated by a few directions, and so is Adam's update. Muon keeps the singular vectors of the
momentum, M = UΣVᵀ, and sets all singular values to one: the update is UVᵀ, and every direction learns at the same
speed. A few Newton–Schulz steps approximate UVᵀ by matrix products alone; matrices of one shape are batched.

It is for the matrices of layers. Embeddings, biases and norms stay with AdamW, in the same object, so that one learning
rate, one schedule and one checkpoint serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
# (a, b, c) of each step: the odd quintic with the smallest maximal distance to one over the singular values that reach
# the step (Amsel et al. 2025), for values from 0.01 to 1 at the start; after three steps they are within 0.27 of one.
QUINTICS = ((8.0934, -23.6204, 17.4462), (3.6366, -2.7219, 0.5365), (2.6613, -1.9772, 0.4526))
ADAM_RMS = 0.2  # root mean square of an entry of AdamW's usual update; ours is scaled to it (Liu et al. 2025)


def orthogonalised(matrices: Tensor) -> Tensor:
    """About UVᵀ of each matrix (…, M, N); singular values below a hundredth of the matrix's norm stay below one.

    X ← aX + b(XXᵀ)X + c(XXᵀ)²X takes every singular value s to as + bs³ + cs⁵ and leaves the vectors alone.
    """
    tall = matrices.shape[-2] > matrices.shape[-1]
    x = matrices.mT if tall else matrices  # XXᵀ is then the smaller square
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)  # no singular value above one
    for a, b, c in QUINTICS:
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    found: Tensor = x.mT if tall else x
    return found


class Muon(torch.optim.Optimizer):
    """Muon for `matrices`, AdamW for the groups of `rest`."""

    def __init__(self, matrices: Sequence[Tensor], rest: list[dict[str, Any]], lr: float, weight_decay: float) -> None:
        groups = [{"params": list(matrices), "weight_decay": weight_decay}, *rest]
        super().__init__(groups, {"lr": lr})
        # The same group dictionaries and the same state: setting a rate or saving the state applies to both.
        self.adam = torch.optim.AdamW(self.param_groups[1:], betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.adam.state = self.state

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        assert closure is None, "the training loop passes no closure"
        self.adam.step()
        group = self.param_groups[0]
        by_shape: dict[torch.Size, list[Tensor]] = {}
        for matrix in group["params"]:
            if matrix.grad is not None:
                by_shape.setdefault(matrix.shape, []).append(matrix)
        for shape, matrices in by_shape.items():
            gradients = [m.grad for m in matrices if m.grad is not None]
            momenta = [self.state[m].setdefault("momentum", torch.zeros_like(m)) for m in matrices]
            torch._foreach_lerp_(momenta, gradients, 1 - MOMENTUM)
            ahead = torch._foreach_lerp(gradients, momenta, MOMENTUM)  # Nesterov
            directions = orthogonalised(torch.stack(ahead))  # (matrices, M, N)
            scale = ADAM_RMS * max(shape) ** 0.5  # an orthogonal M×N matrix has entries of about 1/√max(M, N)
            torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_add_(matrices, list(directions.unbind()), alpha=-group["lr"] * scale)
        return None
