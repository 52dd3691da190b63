"""Attention kernels in Triton for GPUs: sentences that share rows (`attention.py`), and a cache (`cache_attention.py`).

Rows: one program computes one head of one row. `queries` is (B, T, 3D) or (B, T, D), `memory` (B, T, 3D) or (B, T, 2D):
the keys of a position begin at offset `key_at`, its values D later. The backward pass recomputes the scores; it needs
only the output and the log-sum-exp of each softmax from the forward pass.

Cache: one program computes one head of one row, or of one sentence.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.layers.kernels import HAS_TRITON

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
def rows_forward(
    queries: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor, heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    grid, sizes, steps = _shapes(queries, memory, heads)
    out = queries.new_empty(*queries.shape[:2], heads * sizes["size"])
    norms = queries.new_empty(*queries.shape[:2], heads, dtype=torch.float32)
    scale = 1 / math.sqrt(sizes["size"])
    arrays = (queries, memory, out, norms, segments, source_segments)
    _forward[grid](*arrays, *steps, scale, **sizes, causal=causal, num_warps=4)
    return out, norms


@rows_forward.register_fake
def _(
    queries: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor, heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    _, sizes, _ = _shapes(queries, memory, heads)
    out = queries.new_empty(*queries.shape[:2], heads * sizes["size"])
    return out, queries.new_empty(*queries.shape[:2], heads, dtype=torch.float32)


@torch.library.custom_op("regard::rows_backward", mutates_args=())
def rows_backward(
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


@rows_backward.register_fake
def _(
    queries: Tensor, memory: Tensor, out: Tensor, norms: Tensor, segments: Tensor, source_segments: Tensor,
    grad_out: Tensor, heads: int, causal: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    self_attention = queries.shape == memory.shape
    return torch.empty_like(queries), memory.new_empty(0) if self_attention else torch.empty_like(memory)


# ── a cache ───────────────────────────────────────────────────────────────────────────────────────────────────────────

if HAS_TRITON:

    @triton.jit
    def _attend_past(
        query, key, value, query_step, key_step, value_step, past_key, past_value, out,
        ancestor, slots, length, live, room, scale,
        beams: tl.constexpr, heads: tl.constexpr, size: tl.constexpr, padded: tl.constexpr, block: tl.constexpr,
        note: tl.constexpr,
    ):  # fmt: skip
        row, head = tl.program_id(0), tl.program_id(1)
        sentence, beam = row // beams, row % beams
        if sentence >= tl.load(live):
            return
        now = tl.load(length + sentence)
        own = tl.load(slots + sentence).to(tl.int64) * beams  # the first row of the sentence in the cache
        c = tl.arange(0, padded)
        inside = c < size
        column = head * size + c
        q = tl.load(query + row * query_step + column, mask=inside, other=0.0).to(tl.float32) * scale
        k = tl.load(key + row * key_step + column, mask=inside, other=0.0)
        v = tl.load(value + row * value_step + column, mask=inside, other=0.0)
        here = ((own + beam) * room + now) * (heads * size) + column
        tl.store(past_key + here, k, mask=inside)
        tl.store(past_value + here, v, mask=inside)
        if note:
            tl.store(ancestor + row * room + now, beam, mask=head == 0)
        top = tl.sum(q * k.to(tl.float32), 0)  # the new token is seen too: its score, weight 1, and value
        total = top * 0.0 + 1.0
        mean = v.to(tl.float32)
        for at in range(0, now, block):
            time = at + tl.arange(0, block)
            before = time < now
            who = tl.load(ancestor + row * room + time, mask=before, other=0)
            cell = ((own + who) * room + time) * (heads * size)
            there = cell[:, None] + column[None, :]
            mask = before[:, None] & inside[None, :]
            keys = tl.load(past_key + there, mask=mask, other=0.0).to(tl.float32)
            values = tl.load(past_value + there, mask=mask, other=0.0).to(tl.float32)
            score = tl.where(before, tl.sum(keys * q[None, :], 1), -float("inf"))
            new = tl.maximum(top, tl.max(score, 0))
            weight = tl.exp(score - new)
            shrink = tl.exp(top - new)
            total = total * shrink + tl.sum(weight, 0)
            mean = mean * shrink + tl.sum(weight[:, None] * values, 0)
            top = new
        o = mean / total
        tl.store(out + row * (heads * size) + column, o.to(out.dtype.element_ty), mask=inside)

    @triton.jit
    def _attend_source(
        query, source_key, source_value, out, slots, source_length, live, room, scale,
        beams: tl.constexpr, heads: tl.constexpr, size: tl.constexpr, padded: tl.constexpr,
        queries: tl.constexpr, block: tl.constexpr, exact: tl.constexpr,
    ):  # fmt: skip
        sentence, head = tl.program_id(0), tl.program_id(1)
        if sentence >= tl.load(live):
            return
        own = tl.load(slots + sentence).to(tl.int64) * room
        size_of_source = tl.load(source_length + sentence)
        c, beam = tl.arange(0, padded), tl.arange(0, queries)
        inside = c < size
        column = head * size + c
        asks = (sentence * beams + beam)[:, None] * (heads * size) + column[None, :]
        real = (beam < beams)[:, None] & inside[None, :]
        q = tl.load(query + asks, mask=real, other=0.0)
        top = tl.full([queries], -float("inf"), tl.float32)
        total = tl.zeros([queries], tl.float32)
        mean = tl.zeros([queries, padded], tl.float32)
        for at in range(0, size_of_source, block):
            place = at + tl.arange(0, block)
            before = place < size_of_source
            there = (own + place)[:, None] * (heads * size) + column[None, :]
            mask = before[:, None] & inside[None, :]
            keys = tl.load(source_key + there, mask=mask, other=0.0)
            values = tl.load(source_value + there, mask=mask, other=0.0)
            if exact:
                score = tl.dot(q, tl.trans(keys), input_precision="ieee") * scale
            else:
                score = tl.dot(q, tl.trans(keys)) * scale
            score = tl.where(before[None, :], score, -float("inf"))
            new = tl.maximum(top, tl.max(score, 1))
            weight = tl.exp(score - new[:, None])
            shrink = tl.exp(top - new)
            total = total * shrink + tl.sum(weight, 1)
            if exact:
                mean = mean * shrink[:, None] + tl.dot(weight, values, input_precision="ieee")
            else:
                mean = mean * shrink[:, None] + tl.dot(weight.to(values.dtype), values)
            top = new
        o = mean / total[:, None]
        tl.store(out + asks, o.to(out.dtype.element_ty), mask=real)


def attend_past_kernel(
    query: Tensor, key: Tensor, value: Tensor,  # each (N, D); rows may be strided
    past: tuple[Tensor, Tensor],  # each (slots · b, R, D)
    beams: int, slot: Tensor, length: Tensor, source_length: Tensor, live: Tensor, ancestor: Tensor,
    heads: int, note: bool,
) -> Tensor:  # fmt: skip
    size = query.shape[1] // heads
    out = torch.empty(query.shape, dtype=query.dtype, device=query.device)
    _attend_past[(len(slot) * beams, heads)](
        query, key, value, query.stride(0), key.stride(0), value.stride(0), *past, out,
        ancestor, slot, length, live, past[0].shape[1], 1 / math.sqrt(size),
        beams=beams, heads=heads, size=size, padded=triton.next_power_of_2(size), block=16, note=note, num_warps=1,
    )  # fmt: skip
    return out


def attend_source_kernel(
    query: Tensor,  # (N, D)
    source: tuple[Tensor, Tensor],  # each (slots, S, D)
    beams: int, slot: Tensor, length: Tensor, source_length: Tensor, live: Tensor, ancestor: Tensor,
    heads: int,
) -> Tensor:  # fmt: skip
    size = query.shape[1] // heads
    out = torch.empty_like(query)
    _attend_source[(len(slot), heads)](
        query, *source, out, slot, source_length, live, source[0].shape[1], 1 / math.sqrt(size),
        beams=beams, heads=heads, size=size, padded=max(16, triton.next_power_of_2(size)),
        queries=max(16, triton.next_power_of_2(beams)), block=32, exact=query.dtype == torch.float32, num_warps=1,
    )  # fmt: skip
    return out
