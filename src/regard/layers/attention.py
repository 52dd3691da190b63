"""Scaled dot-product attention and its multi-head form (Vaswani et al. 2017, sections 3.2.1 and 3.2.2).

    B batch   H heads   T queries   S keys   K head size   D = H·K model width

`attend` is the equation; `attend_fused` is torch's kernel for the same equation, used wherever the weights are not
needed. The notes add the mask matrix M to QKᵀ before the division by √d; with entries 0 and −∞ that equals our masking
after the division. The scores of recurrent models (additive, general) are in `scores.py`.

Masks are boolean, True = may attend, and broadcast to (B, H, T, S). Where sentences share rows (`batch.Shared`), a
query attends to tokens of its own sentence only: `within_rows` is self-attention, `across_rows` is attention from
target rows to the source rows of the same sentences. Both equal `attend` under `same_sentence_mask`. On a GPU one small
kernel computes this (`attention_kernels.py`): rows are short, so all T×T scores fit on the chip, and queries, keys and
values are read and their gradients written in the layout of the projections, without rearranging. The kernel has no
attention dropout; with it the layers use masks.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from regard.layers.attention_kernels import rows_backward, rows_forward
from regard.layers.kernels import HAS_TRITON
from regard.layers.positions import Rotation, rotate

# All backends but cuDNN's, which makes a new plan for every shape: with batches of similar lengths, or one step longer
# each time, that takes far longer than the computation (docs/log.md).
KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
WIDTHS = (16, 32, 64, 128)  # row lengths that the kernel supports; longer rows use torch


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Returns Attention(Q, K, V) = softmax(QKᵀ / √d_k) V, and the weights.

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
    """Computes the output of `attend` by torch's kernels, without storing the (T, S) weights where possible."""
    if (
        q.dtype == torch.bfloat16 and q.device.type == "cpu"
    ):  # the backward pass of torch's kernel is six times slower in it
        with torch.autocast("cpu", enabled=False):
            return attend_fused(q.float(), k.float(), v.float(), mask, causal, dropout).to(q.dtype)
    with sdpa_kernel(KERNELS) if q.is_cuda else nullcontext():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, dropout_p=dropout)


# ── masks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── heads ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


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
        """Splits joined projections (B, T, 3D) into query, keys and values, as returned by `project_all`."""
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in joined.chunk(3, dim=-1))
        if rotation is not None:
            query, key = rotate(query, rotation), rotate(key, rotation)
        return query, KeyValue(key, value)

    def forward(
        self,
        query: Tensor,  # (B, H, T, K), from `project_query`
        seen: KeyValue,
        mask: Tensor | None = None,
        causal: bool = False,
        record: list[Tensor] | None = None,
    ) -> Tensor:
        """Returns (B, T, D). Appends this layer's weights (B, H, T, S) to `record`, if given; None costs nothing."""
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
        """Projects x by each matrix and splits it into heads: (B, T, D) → (B, H, T, K) each. For a single position,
        joining the matrices would cost more than it saves."""
        alone = len(by) == 1 or x.shape[1] == 1
        projected = [matrix(x) for matrix in by] if alone else list(_together(x, *by).chunk(len(by), dim=-1))
        batch, length, _ = x.shape
        return [p.view(batch, length, self.heads, -1).transpose(1, 2) for p in projected]  # (B, T, H, K) → (B, H, T, K)


def _together(x: Tensor, *by: nn.Linear) -> Tensor:
    """Multiplies x by n joined matrices in one product, which reads x once: (B, T, D) → (B, T, nD)."""
    if by[0].weight.T.is_contiguous():  # column-major in memory, so the joined matrix should be too
        weight = torch.cat([m.weight.T for m in by], dim=1).T
    else:
        weight = torch.cat([m.weight for m in by])
    return F.linear(x, weight, torch.cat([m.bias for m in by]))


# ── sentences that share rows ─────────────────────────────────────────────────────────────────────────────────────────


def within_rows(qkv: Tensor, segments: Tensor, heads: int, causal: bool) -> Tensor:
    """(B, T, 3D), query, key and value side by side, and the sentence of each token (B, T) → (B, T, D)."""
    if _fits(qkv, heads, 3):
        out: Tensor = _WithinRows.apply(qkv, segments, heads, causal)  # type: ignore[no-untyped-call]
        return out
    query, key, value = qkv.chunk(3, dim=-1)
    mask = same_sentence_mask(segments, segments)
    return _plain(query, key, value, mask & causal_mask(segments.shape[1], segments.device) if causal else mask, heads)


def across_rows(query: Tensor, kv: Tensor, segments: Tensor, source_segments: Tensor, heads: int) -> Tensor:
    """Queries (B, T, D), keys and values side by side (B, S, 2D) → (B, T, D)."""
    if query.shape[1] == kv.shape[1] and _fits(query, heads, 1):
        out: Tensor = _AcrossRows.apply(query, kv, segments, source_segments, heads)  # type: ignore[no-untyped-call]
        return out
    key, value = kv.chunk(2, dim=-1)
    return _plain(query, key, value, same_sentence_mask(segments, source_segments), heads)


def _fits(x: Tensor, heads: int, parts: int) -> bool:
    size = x.shape[-1] // parts // heads
    narrow = x.dtype in (torch.bfloat16, torch.float16)
    return HAS_TRITON and x.is_cuda and narrow and x.shape[1] in WIDTHS and size in (16, 32, 64, 128)


def _plain(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, heads: int) -> Tensor:
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (query, key, value))  # (B, T, D) → (B, H, T, K)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)


class _WithinRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, segments: Tensor, heads: int, causal: bool) -> Tensor:
        out: Tensor
        out, norms = rows_forward(qkv, qkv, segments, segments, heads, causal)
        ctx.save_for_backward(qkv, out, norms, segments)
        ctx.heads, ctx.causal = heads, causal
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, None, None, None]:
        qkv, out, norms, segments = ctx.saved_tensors
        grad_qkv, _ = rows_backward(qkv, qkv, out, norms, segments, segments, grad_out, ctx.heads, ctx.causal)
        return grad_qkv, None, None, None


class _AcrossRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, kv: Tensor, segments: Tensor, source_segments: Tensor, heads: int) -> Tensor:
        out: Tensor
        out, norms = rows_forward(query, kv, segments, source_segments, heads, False)
        ctx.save_for_backward(query, kv, out, norms, segments, source_segments)
        ctx.heads = heads
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        query, kv, out, norms, segments, source_segments = ctx.saved_tensors
        grad_query, grad_kv = rows_backward(
            query, kv, out, norms, segments, source_segments, grad_out, ctx.heads, False
        )
        return grad_query, grad_kv, None, None, None
