"""Attention scores of recurrent models, and the weighted mean that follows from them.

    additive   vᵀ tanh(W₁h + W₂s)     Bahdanau et al. 2015; the notes leave out v, without which it is not one number
    general    sᵀWh                   Luong et al. 2015; the notes' QᵀWK
    dot        sᵀh                    Luong et al. 2015
    scaled     sᵀh / √d               Vaswani et al. 2017

    N rows   T queries   S keys   Q query width   K key width   A width of the additive score

What depends on the keys alone is computed once for a sentence (`prepare`). The Transformer's own attention, many heads
at a time, is in `attention.py`.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import require

Score = Literal["additive", "general", "dot", "scaled"]


def additive_score(query: Tensor, keys: Tensor, v: Tensor) -> Tensor:
    """vᵀ tanh(W₂s + W₁h) of each pair: W₂s (N, T, A), W₁h (N, S, A), v (A,) → (N, T, S)"""
    return torch.tanh(query[:, :, None] + keys[:, None]) @ v


def weighted_mean(scores: Tensor, mask: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the mean of the values weighted by softmax(scores) over the unmasked keys, and these weights.

    scores (N, T, S), mask (N, S), values (N, S, D) → context (N, T, D), weights (N, T, S)
    """
    weights = scores.masked_fill(~mask[:, None], -math.inf).softmax(dim=-1)
    return weights @ values, weights


class Scores(nn.Module):
    """One of the four scores, with its matrices."""

    def __init__(
        self, kind: Score, query_width: int, key_width: int, width: int | None = None, bias: bool = True
    ) -> None:
        super().__init__()
        self.kind = kind
        if kind == "additive":
            width = width or key_width
            self.of_key = nn.Linear(key_width, width, bias=False)  # W₁
            self.of_query = nn.Linear(query_width, width, bias=bias)  # W₂
            self.v = nn.Parameter(torch.empty(width))
            nn.init.uniform_(self.v, -(width**-0.5), width**-0.5)
        elif kind == "general":
            self.of_key = nn.Linear(key_width, query_width, bias=False)  # W
        else:
            require(
                query_width == key_width,
                f"a {kind} score needs queries as wide as keys, but they are {query_width} and {key_width}",
            )

    def prepare(self, keys: Tensor) -> Tensor:
        """Computes the part of the score that depends on keys (N, S, K) alone: (N, S, ·)."""
        if self.kind in ("additive", "general"):
            projected: Tensor = self.of_key(keys)
            return projected
        return keys

    def forward(self, query: Tensor, prepared: Tensor) -> Tensor:
        """(N, T, Q), (N, S, ·) → (N, T, S)"""
        if self.kind == "additive":
            return additive_score(self.of_query(query), prepared, self.v)
        scores: Tensor = query @ prepared.transpose(1, 2)
        return scores / math.sqrt(query.shape[-1]) if self.kind == "scaled" else scores
