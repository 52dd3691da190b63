"""Attention among sentences that share rows (`batch.Shared`): whoever asks sees the tokens of its own sentence only.

    B rows   T positions of a row   H heads   K head size   D = H·K width

`within_rows` is self-attention and `across_rows` is attention from target rows to the source rows of the same
sentences. Their meaning is `attend` under `same_sentence_mask`. On a GPU one small kernel does it (`row_kernel.py`): a
row is short, so a whole T×T square of scores fits on the chip, and queries, keys and values are read and their
gradients written where the projections left them, without rearranging. No attention dropout here; the layers fall back
where it is asked for.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.layers import row_kernel
from regard.layers.masks import causal_mask, same_sentence_mask

WIDTHS = (16, 32, 64, 128)  # of rows that the kernel takes; longer rows go to torch


def within_rows(qkv: Tensor, whose: Tensor, heads: int, causal: bool) -> Tensor:
    """(B, T, 3D), query, key and value side by side, and whose each token is (B, T) → (B, T, D)."""
    if _fits(qkv, heads, 3):
        out: Tensor = _WithinRows.apply(qkv, whose, heads, causal)  # type: ignore[no-untyped-call]
        return out
    query, key, value = qkv.chunk(3, dim=-1)
    mask = same_sentence_mask(whose, whose)
    return _plain(query, key, value, mask & causal_mask(whose.shape[1], whose.device) if causal else mask, heads)


def across_rows(query: Tensor, kv: Tensor, whose: Tensor, sources: Tensor, heads: int) -> Tensor:
    """(B, T, D) asks (B, S, 2D), key and value side by side → (B, T, D)."""
    if query.shape[1] == kv.shape[1] and _fits(query, heads, 1):
        out: Tensor = _AcrossRows.apply(query, kv, whose, sources, heads)  # type: ignore[no-untyped-call]
        return out
    key, value = kv.chunk(2, dim=-1)
    return _plain(query, key, value, same_sentence_mask(whose, sources), heads)


def _fits(x: Tensor, heads: int, parts: int) -> bool:
    size = x.shape[-1] // parts // heads
    narrow = x.dtype in (torch.bfloat16, torch.float16)
    return row_kernel.there and x.is_cuda and narrow and x.shape[1] in WIDTHS and size in (16, 32, 64, 128)


def _plain(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, heads: int) -> Tensor:
    q, k, v = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (query, key, value))  # (B, T, D) → (B, H, T, K)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)


class _WithinRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, qkv: Tensor, whose: Tensor, heads: int, causal: bool) -> Tensor:
        out: Tensor
        out, norms = row_kernel.forward(qkv, qkv, whose, whose, heads, causal)
        ctx.save_for_backward(qkv, out, norms, whose)
        ctx.heads, ctx.causal = heads, causal
        return out

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None, None, None]:
        qkv, out, norms, whose = ctx.saved_tensors
        of_qkv, _ = row_kernel.backward(qkv, qkv, out, norms, whose, whose, given, ctx.heads, ctx.causal)
        return of_qkv, None, None, None


class _AcrossRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, kv: Tensor, whose: Tensor, sources: Tensor, heads: int) -> Tensor:
        out: Tensor
        out, norms = row_kernel.forward(query, kv, whose, sources, heads, False)
        ctx.save_for_backward(query, kv, out, norms, whose, sources)
        ctx.heads = heads
        return out

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        query, kv, out, norms, whose, sources = ctx.saved_tensors
        of_query, of_kv = row_kernel.backward(query, kv, out, norms, whose, sources, given, ctx.heads, False)
        return of_query, of_kv, None, None, None
