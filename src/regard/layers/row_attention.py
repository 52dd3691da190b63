"""Attention among sentences that share rows (`batch.Shared`): a query attends to tokens of its own sentence only.

    B rows   T positions of a row   H heads   K head size   D = H·K width

`within_rows` is self-attention and `across_rows` is attention from target rows to the source rows of the same
sentences. Their meaning is `attend` under `same_sentence_mask`. On a GPU one small kernel does it (`row_kernel.py`): a
row is short, so a whole T×T square of scores fits on the chip, and queries, keys and values are read and their
gradients written in the layout of the projections, without rearranging. No attention dropout here; with it the layers
use masks.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers import row_kernel
from regard.layers.has_triton import HAS_TRITON
from regard.layers.masks import causal_mask, same_sentence_mask

WIDTHS = (16, 32, 64, 128)  # of rows that the kernel takes; longer rows go to torch


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
        out, norms = row_kernel.forward(qkv, qkv, segments, segments, heads, causal)
        ctx.save_for_backward(qkv, out, norms, segments)
        ctx.heads, ctx.causal = heads, causal
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, None, None, None]:
        qkv, out, norms, segments = ctx.saved_tensors
        grad_qkv, _ = row_kernel.backward(qkv, qkv, out, norms, segments, segments, grad_out, ctx.heads, ctx.causal)
        return grad_qkv, None, None, None


class _AcrossRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, kv: Tensor, segments: Tensor, source_segments: Tensor, heads: int) -> Tensor:
        out: Tensor
        out, norms = row_kernel.forward(query, kv, segments, source_segments, heads, False)
        ctx.save_for_backward(query, kv, out, norms, segments, source_segments)
        ctx.heads = heads
        return out

    @staticmethod
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        query, kv, out, norms, segments, source_segments = ctx.saved_tensors
        grad_query, grad_kv = row_kernel.backward(
            query, kv, out, norms, segments, source_segments, grad_out, ctx.heads, False
        )
        return grad_query, grad_kv, None, None, None
