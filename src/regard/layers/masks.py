"""Who may look at what. Masks are boolean, True = may attend, and broadcast to (B, H, T, S)."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(tokens: Tensor) -> Tensor:
    """(B, S), True at real tokens → (B, 1, 1, S): no query may look at padding."""
    return tokens[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """(T, T): position t may look at itself and the past, never at the future.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def same_sentence_mask(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, T) and (B, S), whose each token is → (B, 1, T, S): a row's sentences do not see each other.

    0 is padding. It sees everything, so that no query is left with nothing to look at; nobody looks at what it says.

    >>> same_sentence_mask(torch.tensor([[1, 2, 0]]), torch.tensor([[1, 1, 2]])).int().tolist()
    [[[[1, 1, 0], [0, 0, 1], [1, 1, 1]]]]
    """
    asks, holds = queries[:, None, :, None], keys[:, None, None, :]
    return (asks == holds) | (asks == 0)
