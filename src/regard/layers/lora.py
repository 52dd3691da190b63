"""Low-rank adaptation (Hu et al. 2021): a trained matrix is frozen, and an update of small rank is learnt beside it.

    W' = W + (α / r) B A        A: r × in, drawn at random        B: out × r, zero at first

With B at zero the adapted model starts as the model itself. Only A and B are trained, so the optimizer keeps moments
for 2 · r · D numbers of a D × D matrix instead of D². The product is added to the matrix before it is used, so layers
need no change, and a saved model is a plain one with W' in place of W. Matrices of attention and of feed-forward layers
are adapted; embeddings, norms and biases are frozen. So an adapted model differs from its base by some BA, which
`updates_between` recovers: a few numbers that can be stored in place of a whole model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.attention import MultiHeadAttention
from regard.layers.feedforward import FeedForward


def low_rank(weight: Tensor, up: Tensor, down: Tensor, scale: float) -> Tensor:
    """W + scale · BA: (out, in), (out, r), (r, in) → (out, in)"""
    return weight + scale * (up @ down)


class LowRank(nn.Module):
    """Replaces a linear layer: (…, in) → (…, out), with a learnable low-rank update."""

    def __init__(self, layer: nn.Linear, rank: int, alpha: float, generator: torch.Generator) -> None:
        super().__init__()
        self.in_features, self.out_features, self.scale = layer.in_features, layer.out_features, alpha / rank
        self.frozen, self.bias = layer.weight, layer.bias
        down = nn.init.kaiming_uniform_(torch.empty(rank, layer.in_features), a=math.sqrt(5), generator=generator)
        self.up = nn.Parameter(layer.weight.new_zeros(layer.out_features, rank))
        self.down = nn.Parameter(down.to(layer.weight))

    @property
    def weight(self) -> Tensor:
        return low_rank(self.frozen, self.up, self.down, self.scale)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


def adapt(model: nn.Module, rank: int, alpha: float, seed: int = 0) -> int:
    """Freezes a model and adds updates of this rank to its matrices, in place; returns their number. The seed is for
    their initial values."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    owners = [module for module in model.modules() if isinstance(module, (MultiHeadAttention, FeedForward))]
    count = 0
    for owner in owners:
        for name, layer in list(owner.named_children()):
            if not isinstance(layer, nn.Linear):
                raise TypeError(f"{name} of a {type(owner).__name__} is a {type(layer).__name__}, not a linear layer")
            setattr(owner, name, LowRank(layer, rank, alpha, generator))
            count += 1
    return count


UP, DOWN = ".up", ".down"  # suffixes of a matrix's name for B and A of its update, which include the scale


def factors(change: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Factors W' − W into BA: (out, in) → (out, r), (r, in), the nearest of that rank by SVD, √Σ to each factor."""
    u, sigma, vt = torch.linalg.svd(change.double(), full_matrices=False)
    half = sigma[:rank].sqrt()
    return (u[:, :rank] * half).float(), (half[:, None] * vt[:rank]).float()


def updates_between(before: Mapping[str, Tensor], after: Mapping[str, Tensor], rank: int) -> dict[str, Tensor]:
    """Returns the updates of all matrices that changed. Vectors must be equal, because updates are of matrices only."""
    found: dict[str, Tensor] = {}
    for name, weight in before.items():
        if torch.equal(weight, after[name]):
            continue
        if weight.dim() != 2:
            raise ValueError(f"{name} has changed, which is no matrix")
        found[name + UP], found[name + DOWN] = factors(after[name] - weight, rank)
    return found


def updated(weights: Mapping[str, Tensor], updates: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the weights with W + BA for every matrix that has an update."""
    named = {name.removesuffix(UP) for name in updates if name.endswith(UP)}
    if updates.keys() != {name + part for name in named for part in (UP, DOWN)} or not named <= weights.keys():
        raise ValueError("it does not hold two factors for each of some of the matrices")
    new = {name: low_rank(weights[name], updates[name + UP], updates[name + DOWN], 1.0) for name in named}
    return {**weights, **new}


def merged(model: nn.Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors of a model by name, with updates merged into their matrices, as if without `LowRank`."""
    plain = dict(tensors)
    for path, layer in model.named_modules():
        if isinstance(layer, LowRank):
            for part in ("frozen", "up", "down"):
                del plain[f"{path}.{part}"]
            plain[f"{path}.weight"] = layer.weight
    return plain
