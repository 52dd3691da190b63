"""The GPU kernels of `row_attention.py`, in Triton: one program takes one head of one row.

`asks` is (B, T, 3D) or (B, T, D) and `holds` (B, T, 3D) or (B, T, 2D): keys begin at `key_at` numbers of a position,
values D further on. In the backward pass scores are computed again; what is kept of the forward pass is the output and
the logarithm of each softmax's sum.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl

    there = True
except ImportError:  # the CPU builds of torch come without it
    there = False

if there:

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
        asks, holds, out, norms, whose, sources, ask_step, hold_step, key_at, scale,
        heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, causal: tl.constexpr,
    ):  # fmt: skip
        row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
        t, c = tl.arange(0, width), tl.arange(0, size)
        place = row * width + t
        column = head * size + c
        q = tl.load(asks + place[:, None] * ask_step + column[None, :])
        held = holds + place[:, None] * hold_step + key_at + column[None, :]
        k, v = tl.load(held), tl.load(held + heads * size)
        s = _scores(q, k, tl.load(whose + place), tl.load(sources + place), scale, width, causal)
        top = tl.max(s, 1)
        p = tl.exp(s - top[:, None])
        total = tl.sum(p, 1)
        o = tl.dot(p.to(v.dtype), v) / total[:, None]
        tl.store(out + place[:, None] * (heads * size) + column[None, :], o.to(v.dtype))
        tl.store(norms + place * heads + head, top + tl.log(total))

    @triton.jit
    def _backward(
        asks, holds, out, norms, whose, sources, given, of_asks, of_holds, ask_step, hold_step, key_at, scale,
        heads: tl.constexpr, width: tl.constexpr, size: tl.constexpr, causal: tl.constexpr,
    ):  # fmt: skip
        row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
        t, c = tl.arange(0, width), tl.arange(0, size)
        place = row * width + t
        column = head * size + c
        ask = place[:, None] * ask_step + column[None, :]
        key = place[:, None] * hold_step + key_at + column[None, :]
        value = key + heads * size
        q, k, v = tl.load(asks + ask), tl.load(holds + key), tl.load(holds + value)
        plain = place[:, None] * (heads * size) + column[None, :]
        g = tl.load(given + plain)
        delta = tl.sum(g.to(tl.float32) * tl.load(out + plain).to(tl.float32), 1)
        s = _scores(q, k, tl.load(whose + place), tl.load(sources + place), scale, width, causal)
        p = tl.exp(s - tl.load(norms + place * heads + head)[:, None])
        narrow = p.to(v.dtype)
        tl.store(of_holds + value, tl.dot(tl.trans(narrow), g).to(v.dtype))
        ds = (p * (tl.dot(g, tl.trans(v)) - delta[:, None]) * scale).to(v.dtype)
        tl.store(of_asks + ask, tl.dot(ds, k).to(v.dtype))
        tl.store(of_holds + key, tl.dot(tl.trans(ds), q).to(v.dtype))


def _shapes(asks: Tensor, holds: Tensor, heads: int) -> tuple[tuple[int, int], dict[str, int], tuple[int, int, int]]:
    """(grid, sizes, (ask_step, hold_step, key_at))"""
    itself = asks.shape[-1] == holds.shape[-1]
    width = holds.shape[-1] // (3 if itself else 2)  # D
    sizes = {"heads": heads, "width": asks.shape[1], "size": width // heads}
    return (asks.shape[0], heads), sizes, (asks.shape[-1], holds.shape[-1], width if itself else 0)


@torch.library.custom_op("regard::rows_forward", mutates_args=())
def forward(
    asks: Tensor, holds: Tensor, whose: Tensor, sources: Tensor, heads: int, causal: bool
) -> tuple[Tensor, Tensor]:
    grid, sizes, steps = _shapes(asks, holds, heads)
    out = asks.new_empty(*asks.shape[:2], heads * sizes["size"])
    norms = asks.new_empty(*asks.shape[:2], heads, dtype=torch.float32)
    scale = 1 / math.sqrt(sizes["size"])
    _forward[grid](
        asks,
        holds,
        out,
        norms,
        whose,
        sources,
        *steps,
        scale,
        **sizes,
        causal=causal,
        num_warps=4,
    )
    return out, norms


@forward.register_fake
def _(asks: Tensor, holds: Tensor, whose: Tensor, sources: Tensor, heads: int, causal: bool) -> tuple[Tensor, Tensor]:
    _, sizes, _ = _shapes(asks, holds, heads)
    out = asks.new_empty(*asks.shape[:2], heads * sizes["size"])
    return out, asks.new_empty(*asks.shape[:2], heads, dtype=torch.float32)


@torch.library.custom_op("regard::rows_backward", mutates_args=())
def backward(
    asks: Tensor, holds: Tensor, out: Tensor, norms: Tensor, whose: Tensor, sources: Tensor, given: Tensor,
    heads: int, causal: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    grid, sizes, steps = _shapes(asks, holds, heads)
    of_asks = torch.empty_like(asks)
    itself = asks.shape == holds.shape
    of_holds = of_asks if itself else torch.empty_like(holds)
    scale = 1 / math.sqrt(sizes["size"])
    _backward[grid](
        asks, holds, out, norms, whose, sources, given.contiguous(), of_asks, of_holds, *steps, scale,
        **sizes, causal=causal, num_warps=8,
    )  # fmt: skip
    return of_asks, holds.new_empty(0) if itself else of_holds


@backward.register_fake
def _(
    asks: Tensor, holds: Tensor, out: Tensor, norms: Tensor, whose: Tensor, sources: Tensor, given: Tensor,
    heads: int, causal: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    itself = asks.shape == holds.shape
    return torch.empty_like(asks), holds.new_empty(0) if itself else torch.empty_like(holds)
