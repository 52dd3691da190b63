"""Optimizers: AdamW with the paper's moments, Muon or Adafactor; matrices decay, biases and norms do not.

Adafactor (Shazeer and Stern 2018) keeps one row and one column of second moments per matrix and no first moments: about
a hundredth of AdamW's memory. Its rate is relative to the size of the weights; 0.01 to 0.03 is usual. Torch's
implementation reads two numbers per parameter, so on a GPU the host waits at every update.

Muon (Jordan et al. 2024) is momentum that is orthogonalized before it is applied. A gradient matrix is dominated by a
few directions, and so is Adam's update. Muon keeps the singular vectors of the momentum, M = UΣVᵀ, and sets all
singular values to one: the update is UVᵀ, and every direction learns at the same speed. A few Newton–Schulz steps
approximate UVᵀ by matrix products alone; matrices of one shape are batched. It is for the matrices of layers.
Embeddings, biases and norms stay with AdamW, in the same object, so that one learning rate, one schedule and one
checkpoint serve both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from regard.models.base import Model
from regard.recipe.train import TrainConfig


def make_optimizer(model: Model, config: TrainConfig) -> torch.optim.Optimizer:
    embedded, parameters = embedding_parameters(model), list(model.parameters())
    embeddings = [p for p in parameters if p.dim() >= 2 and id(p) in embedded]
    matrices = [p for p in parameters if p.dim() >= 2 and id(p) not in embedded]
    vectors = [p for p in parameters if p.dim() < 2]
    others: list[dict[str, Any]] = [
        {"params": embeddings, "weight_decay": config.weight_decay, "factor": config.embedding_rate},
        {"params": vectors, "weight_decay": 0.0},
    ]
    others = [group for group in others if group["params"]]
    if config.optimizer == "muon":
        return Muon(matrices, others, config.learning_rate, config.weight_decay)
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, *others]
    if config.optimizer == "adafactor":
        # Torch clamps √v, not v, at the first number; its default of 1e-7 is larger than most of our gradients.
        return torch.optim.Adafactor(groups, lr=config.learning_rate, eps=(1e-15, 1e-3))
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def embedding_parameters(model: Model) -> set[int]:
    """Returns the Python ids of all embedding parameters: those of the two tables that every architecture has, whatever
    their class, and of other tables, such as learned positions."""
    tables: list[Any] = [m for m in model.modules() if isinstance(m, nn.Embedding)]
    tables += [model.source_embedding, model.target_embedding]
    return {id(p) for table in tables for p in table.parameters()}


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)


MOMENTUM = 0.95
# (a, b, c) of each step: the odd quintic with the smallest maximal distance to one over the singular values that reach
# the step (Amsel et al. 2025), for values from 0.01 to 1 at the start; after three steps they are within 0.27 of one.
QUINTICS = ((8.0934, -23.6204, 17.4462), (3.6366, -2.7219, 0.5365), (2.6613, -1.9772, 0.4526))
ADAM_RMS = 0.2  # root mean square of an entry of AdamW's usual update; ours is scaled to it (Liu et al. 2025)


def orthogonalize(matrices: Tensor) -> Tensor:
    """Approximates UVᵀ of each matrix (…, M, N); singular values below a hundredth of the matrix's norm stay below one.

    X ← aX + b(XXᵀ)X + c(XXᵀ)²X maps every singular value s to as + bs³ + cs⁵ and keeps the singular vectors.
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
            directions = orthogonalize(torch.stack(ahead))  # (matrices, M, N)
            scale = ADAM_RMS * max(shape) ** 0.5  # an orthogonal M×N matrix has entries of about 1/√max(M, N)
            torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_add_(matrices, list(directions.unbind()), alpha=-group["lr"] * scale)
        return None
