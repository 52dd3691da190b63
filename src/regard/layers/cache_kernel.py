"""The GPU kernels of `cache_attention.py`, in Triton: one program takes one head of one row, or of one sentence."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.layers.has_triton import HAS_TRITON

if HAS_TRITON:
    import triton
    import triton.language as tl

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
    query: Tensor, key: Tensor, value: Tensor,  # each (N, D); their rows may lie apart
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
