"""Positions of tokens: sinusoids as in the notes, learned vectors, or rotations of queries and keys.

    … tokens, (T,) or (B, T)   D model width   K head size

Attention alone does not depend on the order of tokens. Sinusoids (Vaswani et al. 2017) and learned vectors are added
to the embeddings; rotary positions (Su et al. 2021) rotate each query and key by an angle that grows with its position,
so that their product depends on the distance.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.errors import InputError

Rotation = tuple[Tensor, Tensor]  # cos, sin: each (T, K/2), or (B, 1, T, K/2) where rows differ


def frequencies(width: int, device: torch.device | str | None = None) -> Tensor:
    """(D/2,): 1 / 10000^(2i/D), from one turn per 2π positions to one per 20000π."""
    return 10000.0 ** (-torch.arange(0, width, 2, device=device, dtype=torch.float32) / width)


def sinusoids(position: Tensor, width: int) -> Tensor:
    """(…) positions → (…, D): PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(pos / 10000^(2i/D)). With an
    odd width the last sine has no cosine.

    >>> [round(x, 3) for x in sinusoids(torch.arange(2), 4)[1].tolist()]
    [0.841, 0.54, 0.01, 1.0]
    """
    angle = position[..., None] * frequencies(width, position.device)  # (…, D/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)[..., :width]  # (…, D/2, 2) → (…, D)


class AddedPositions(nn.Module):
    """The sum of embeddings and positions. It is a module so that a hook can change it (`explain/ablation.py`)."""

    def forward(self, x: Tensor, vectors: Tensor) -> Tensor:
        """(N, T, D) embeddings + (T, D) or (N, T, D) vectors of the positions → (N, T, D)"""
        return x + vectors.to(x.dtype)


def learned(position: Tensor, table: nn.Embedding) -> Tensor:
    """(…) positions → (…, D), a learned vector for each. Raises if a position has no vector."""
    most = table.num_embeddings
    if position.shape[-1] > most or not position.is_cuda:  # on a GPU the maximum is read only if it may be too large
        tokens = int(position.max()) + 1 if position.numel() else 0
        if tokens > most:
            raise InputError(
                f"a sentence of {tokens} tokens is longer than the {most} learned positions of this model; "
                "give shorter sentences, or train with a larger model.max_positions"
            )
    vectors: Tensor = table(position)
    return vectors


def rotation(position: Tensor, size: int) -> Rotation:
    """Returns the rotation angles of positions (T,) or (B, T), for heads of size `size`."""
    if position.dim() == 2:
        position = position[:, None]  # (B, 1, T): the same for every head
    angle = position[..., None] * frequencies(size, position.device)  # (…, K/2)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, by: Rotation) -> Tensor:
    """Rotates each pair (x₂ᵢ, x₂ᵢ₊₁) of every head by its position's angle: (B, H, T, K) → (B, H, T, K)."""
    cos, sin = by[0].to(x.dtype), by[1].to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]  # (B, H, T, K/2)
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)
