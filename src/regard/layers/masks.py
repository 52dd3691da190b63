"""Attention masks: which keys a query may attend to. Boolean, True = may attend; they broadcast to (B, H, T, S)."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(tokens: Tensor) -> Tensor:
    """(B, S), True at real tokens → (B, 1, 1, S): no query attends to padding."""
    return tokens[:, None, None, :]


def causal_mask(length: int, device: torch.device | str | None = None) -> Tensor:
    """(T, T): position t attends to itself and the past, never to the future.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def same_sentence_mask(queries: Tensor, keys: Tensor) -> Tensor:
    """(B, T) and (B, S), the sentence of each token → (B, 1, T, S): sentences of one row do not attend to each other.

    0 is padding. It attends to everything, so that no query is left without keys; its output is not used.

    >>> same_sentence_mask(torch.tensor([[1, 2, 0]]), torch.tensor([[1, 1, 2]])).int().tolist()
    [[[[1, 1, 0], [0, 0, 1], [1, 1, 1]]]]
    """
    of_query, of_key = queries[:, None, :, None], keys[:, None, None, :]
    return (of_query == of_key) | (of_query == 0)
