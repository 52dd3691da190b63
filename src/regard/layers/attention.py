"""Scaled dot-product attention and its multi-head form (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

    B batch   H heads   T queries   S keys   K head size   D = H·K model width

`attend` is the equation; `attend_fused` is torch's kernel for the same equation, used whenever nobody asked to see
the weights. The notes add the mask matrix M to QKᵀ before the division by √d; with entries 0 and −∞ that is the same
thing as ours, which masks after it. This file holds no recurrent scores (additive, general): those belong to the
recurrent models.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.layers.masks import causal_mask
from regard.layers.positions import Rotation, rotate


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, and the weights themselves.

    >>> q, k, v = torch.tensor([[2.0]]), torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[2.0], [4.0], [6.0]])
    >>> out, weights = attend(q, k, v)  # "I love NLP", the query of "love"
    >>> [round(w, 3) for w in weights[0].tolist()], round(out.item(), 2)  # one set of notes says .1 .3 .6 and 5.0
    ([0.016, 0.117, 0.867], 5.7)
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (…, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights


def attend_fused(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False, dropout: float = 0.0
) -> Tensor:
    """The same output as `attend` without ever holding the (T, S) weights where the hardware can avoid it."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, dropout_p=dropout)


class KeyValue(NamedTuple):
    """What queries look at, already projected and split into heads: each (B, H, S, K)."""

    key: Tensor
    value: Tensor

    def append(self, other: KeyValue) -> KeyValue:
        return KeyValue(torch.cat([self.key, other.key], dim=2), torch.cat([self.value, other.value], dim=2))

    def select(self, rows: Tensor) -> KeyValue:
        return KeyValue(self.key.index_select(0, rows), self.value.index_select(0, rows))


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head₁, …, head_h) Wᴼ with headᵢ = Attention(QWᵢQ, KWᵢK, VWᵢV).

    The h small projections of one kind stand side by side in one D×D matrix. Keys and values are projected apart from
    the query (`look_at`) so that a decoder can keep them between steps.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        assert width % heads == 0, "checked by the model's configuration"
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def look_at(self, memory: Tensor, rotation: Rotation | None = None) -> KeyValue:
        key = self._split(self.key(memory))
        return KeyValue(key if rotation is None else rotate(key, rotation), self._split(self.value(memory)))

    def forward(
        self,
        x: Tensor,  # (B, T, D)
        seen: KeyValue,
        mask: Tensor | None = None,
        causal: bool = False,
        rotation: Rotation | None = None,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """`record`, when given, receives this layer's weights (B, H, T, S); it costs nothing when it is None."""
        q = self._split(self.query(x))
        if rotation is not None:
            q = rotate(q, rotation)
        if record is None:
            dropout = self.dropout if self.training else 0.0
            heads = attend_fused(q, *seen, mask=mask, causal=causal, dropout=dropout)
        else:
            heads, weights = attend(q, *seen, mask=causal_mask(x.shape[1], x.device) if causal else mask)
            record.append(weights)
        joined: Tensor = self.output(heads.transpose(1, 2).flatten(2))  # (B, T, H, K) → (B, T, D)
        return joined

    def _split(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        return x.view(batch, length, self.heads, -1).transpose(1, 2)  # (B, T, D) → (B, T, H, K) → (B, H, T, K)
