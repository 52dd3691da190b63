"""Scaled dot-product attention and its multi-head form (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

    B batch   H heads   T queries   S keys   K head size   D = H·K model width

`attend` is the equation; `attend_fused` is torch's kernel for the same equation, used wherever the weights are not
needed. The notes add the mask matrix M to QKᵀ before the division by √d; with entries 0 and −∞ that is the same
thing as ours, which masks after it. This file holds no recurrent scores (additive, general): those belong to the
recurrent models.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from regard.layers.masks import causal_mask, same_sentence_mask
from regard.layers.positions import Rotation, rotate
from regard.layers.row_attention import across_rows, within_rows

# All but cuDNN's, which makes a new plan for every shape: with batches of similar lengths, or one step longer each
# time, that takes far longer than the computation (docs/log.md).
KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


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
    if (
        q.dtype == torch.bfloat16 and q.device.type == "cpu"
    ):  # the backward pass of torch's kernel is six times slower in it
        with torch.autocast("cpu", enabled=False):
            return attend_fused(q.float(), k.float(), v.float(), mask, causal, dropout).to(q.dtype)
    with sdpa_kernel(KERNELS) if q.is_cuda else nullcontext():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, dropout_p=dropout)


class KeyValue(NamedTuple):
    """Keys and values, projected and split into heads: each (B, H, S, K)."""

    key: Tensor
    value: Tensor

    def append(self, other: KeyValue) -> KeyValue:
        return KeyValue(torch.cat([self.key, other.key], dim=2), torch.cat([self.value, other.value], dim=2))


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head₁, …, head_h) Wᴼ with headᵢ = Attention(QWᵢQ, KWᵢK, VWᵢV).

    The h small projections of one kind are one D×D matrix. Keys and values (`project_keys_values`) are projected apart
    from the query (`project_query`) so that a decoder can keep them between steps; where all three come from the same
    positions, `project_all` makes them with one product.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        assert width % heads == 0, "checked by the model's configuration"
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def project_query(self, x: Tensor, rotation: Rotation | None = None) -> Tensor:
        (query,) = self._project(x, self.query)
        return query if rotation is None else rotate(query, rotation)

    def project_keys_values(self, memory: Tensor, rotation: Rotation | None = None) -> KeyValue:
        key, value = self._project(memory, self.key, self.value)
        return KeyValue(key if rotation is None else rotate(key, rotation), value)

    def project_all(self, x: Tensor, rotation: Rotation | None = None) -> tuple[Tensor, KeyValue]:
        query, key, value = self._project(x, self.query, self.key, self.value)
        if rotation is not None:
            query, key = rotate(query, rotation), rotate(key, rotation)
        return query, KeyValue(key, value)

    def split(self, joined: Tensor, rotation: Rotation | None = None) -> tuple[Tensor, KeyValue]:
        """Query, keys and values from their products side by side (B, T, 3D), as `project_all` gives them."""
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in joined.chunk(3, dim=-1))
        if rotation is not None:
            query, key = rotate(query, rotation), rotate(key, rotation)
        return query, KeyValue(key, value)

    def forward(
        self,
        query: Tensor,  # (B, H, T, K), what `project_query` gives
        seen: KeyValue,
        mask: Tensor | None = None,
        causal: bool = False,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """(B, T, D). `record`, when given, receives this layer's weights (B, H, T, S); it costs nothing if None."""
        if record is None:
            dropout = self.dropout if self.training else 0.0
            heads = attend_fused(query, *seen, mask=mask, causal=causal, dropout=dropout)
        else:
            heads, weights = attend(query, *seen, mask=causal_mask(query.shape[2], query.device) if causal else mask)
            record.append(weights)
        joined: Tensor = self.output(heads.transpose(1, 2).flatten(2))  # (B, T, H, K) → (B, T, D)
        return joined

    def within_rows(self, x: Tensor, segments: Tensor, causal: bool, rotation: Rotation | None = None) -> Tensor:
        """Self-attention where sentences share rows: x (B, T, D), the sentence of each token (B, T) → (B, T, D)."""
        if rotation is not None or (self.dropout and self.training):
            mask = same_sentence_mask(segments, segments)
            query, seen = self.project_all(x, rotation)
            return self.forward(query, seen, mask & causal_mask(x.shape[1], x.device) if causal else mask)
        qkv = _together(x, self.query, self.key, self.value)  # (B, T, 3D); nothing is split into heads
        joined: Tensor = self.output(within_rows(qkv, segments, self.heads, causal))
        return joined

    def across_rows(self, x: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor) -> Tensor:
        """Attention of x (B, T, D) to memory (B, S, D) of the same sentences, (B, T) and (B, S) → (B, T, D)."""
        if self.dropout and self.training:
            return self.forward(
                self.project_query(x), self.project_keys_values(memory), same_sentence_mask(segments, source_segments)
            )
        kv = _together(memory, self.key, self.value)  # (B, S, 2D)
        joined: Tensor = self.output(across_rows(self.query(x), kv, segments, source_segments, self.heads))
        return joined

    def _project(self, x: Tensor, *by: nn.Linear) -> list[Tensor]:
        """x through each matrix, split into heads: (B, T, D) → (B, H, T, K) each. For a single position it would cost
        more to join the matrices than it saves."""
        alone = len(by) == 1 or x.shape[1] == 1
        projected = [matrix(x) for matrix in by] if alone else list(_together(x, *by).chunk(len(by), dim=-1))
        batch, length, _ = x.shape
        return [p.view(batch, length, self.heads, -1).transpose(1, 2) for p in projected]  # (B, T, H, K) → (B, H, T, K)


def _together(x: Tensor, *by: nn.Linear) -> Tensor:
    """One product with n joined matrices, which reads x once: (B, T, D) → (B, T, nD)."""
    if by[0].weight.T.is_contiguous():  # column by column in memory, and so should be what is joined
        weight = torch.cat([m.weight.T for m in by], dim=1).T
    else:
        weight = torch.cat([m.weight for m in by])
    return F.linear(x, weight, torch.cat([m.bias for m in by]))
