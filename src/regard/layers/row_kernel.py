"""The GPU kernels of `row_attention.py`, in Triton: one program takes one head of one row.

`queries` is (B, T, 3D) or (B, T, D) and `memory` (B, T, 3D) or (B, T, 2D): keys begin at number `key_at` of a position,
values D later. The backward pass computes the scores again; of the forward pass it needs the output and the logarithm
of each softmax's sum.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.layers.has_triton import HAS_TRITON

if HAS_TRITON:
    import triton
    import triton.language as tl

    @triton.jit
    def _scores(q, k, mine, theirs, scale, width: tl.constexpr, causal: tl.constexpr):
        """QKᵀ / √d with −∞, or nearly, where sentences differ: (T, T)."""
        s = tl.dot(q, tl.trans(k)) * scale
        seen = mine[:, None] == theirs[None, :]
        if causal:
            t = tl.arange(0, width)
            seen = seen & (t[:, None] >= t[None, :])
        return tl.where(seen | (mine[:, None] == 0), s, -1.0e30)

    @triton.jit
    def _forward(
        queries, memory, out, norms, segments, source_segments, query_step, memory_step, key_at, scale,
        heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, causal: tl.constexpr,
    ):  # fmt: skip
        row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
        t, c = tl.arange(0, width), tl.arange(0, size)
        place = row * width + t
        column = head * size + c
        q = tl.load(queries + place[:, None] * query_step + column[None, :])
        keys = memory + place[:, None] * memory_step + key_at + column[None, :]
        k, v = tl.load(keys), tl.load(keys + heads * size)
        s = _scores(q, k, tl.load(segments + place), tl.load(source_segments + place), scale, width, causal)
        top = tl.max(s, 1)
        p = tl.exp(s - top[:, None])
        total = tl.sum(p, 1)
        o = tl.dot(p.to(v.dtype), v) / total[:, None]
        tl.store(out + place[:, None] * (heads * size) + column[None, :], o.to(v.dtype))
        tl.store(norms + place * heads + head, top + tl.log(total))

    @triton.jit
    def _backward(
        queries, memory, out, norms, segments, source_segments, grad_out, grad_queries, grad_memory,
        query_step, memory_step, key_at, scale,
        heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, causal: tl.constexpr,
    ):  # fmt: skip
        row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
        t, c = tl.arange(0, width), tl.arange(0, size)
        place = row * width + t
        column = head * size + c
        query = place[:, None] * query_step + column[None, :]
        key = place[:, None] * memory_step + key_at + column[None, :]
        value = key + heads * size
        q, k, v = tl.load(queries + query), tl.load(memory + key), tl.load(memory + value)
        plain = place[:, None] * (heads * size) + column[None, :]
        g = tl.load(grad_out + plain)
        delta = tl.sum(g.to(tl.float32) * tl.load(out + plain).to(tl.float32), 1)
        s = _scores(q, k, tl.load(segments + place), tl.load(source_segments + place), scale, width, causal)
        p = tl.exp(s - tl.load(norms + place * heads + head)[:, None])
        narrow = p.to(v.dtype)
        tl.store(grad_memory + value, tl.dot(tl.trans(narrow), g).to(v.dtype))
        ds = (p * (tl.dot(g, tl.trans(v)) - delta[:, None]) * scale).to(v.dtype)
        tl.store(grad_queries + query, tl.dot(ds, k).to(v.dtype))
        tl.store(grad_memory + key, tl.dot(tl.trans(ds), q).to(v.dtype))


def _shapes(
    queries: Tensor, memory: Tensor, heads: int
) -> tuple[tuple[int, int], dict[str, int], tuple[int, int, int]]:
    """(grid, sizes, (query_step, memory_step, key_at))"""
    self_attention = queries.shape[-1] == memory.shape[-1]
    width = memory.shape[-1] // (3 if self_attention else 2)  # D
    sizes = {"heads": heads, "width": queries.shape[1], "size": width // heads}
    return (queries.shape[0], heads), sizes, (queries.shape[-1], memory.shape[-1], width if self_attention else 0)


@torch.library.custom_op("regard::rows_forward", mutates_args=())
def forward(
    queries: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor, heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    grid, sizes, steps = _shapes(queries, memory, heads)
    out = queries.new_empty(*queries.shape[:2], heads * sizes["size"])
    norms = queries.new_empty(*queries.shape[:2], heads, dtype=torch.float32)
    scale = 1 / math.sqrt(sizes["size"])
    _forward[grid](
        queries,
        memory,
        out,
        norms,
        segments,
        source_segments,
        *steps,
        scale,
        **sizes,
        causal=causal,
        num_warps=4,
    )
    return out, norms


@forward.register_fake
def _(
    queries: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor, heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    _, sizes, _ = _shapes(queries, memory, heads)
    out = queries.new_empty(*queries.shape[:2], heads * sizes["size"])
    return out, queries.new_empty(*queries.shape[:2], heads, dtype=torch.float32)


@torch.library.custom_op("regard::rows_backward", mutates_args=())
def backward(
    queries: Tensor, memory: Tensor, out: Tensor, norms: Tensor, segments: Tensor, source_segments: Tensor,
    grad_out: Tensor, heads: int, causal: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    grid, sizes, steps = _shapes(queries, memory, heads)
    grad_queries = torch.empty_like(queries)
    self_attention = queries.shape == memory.shape
    grad_memory = grad_queries if self_attention else torch.empty_like(memory)
    scale = 1 / math.sqrt(sizes["size"])
    _backward[grid](
        queries, memory, out, norms, segments, source_segments, grad_out.contiguous(), grad_queries, grad_memory,
        *steps, scale, **sizes, causal=causal, num_warps=8,
    )  # fmt: skip
    return grad_queries, memory.new_empty(0) if self_attention else grad_memory


@backward.register_fake
def _(
    queries: Tensor, memory: Tensor, out: Tensor, norms: Tensor, segments: Tensor, source_segments: Tensor,
    grad_out: Tensor, heads: int, causal: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    self_attention = queries.shape == memory.shape
    return torch.empty_like(queries), memory.new_empty(0) if self_attention else torch.empty_like(memory)
