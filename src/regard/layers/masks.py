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
