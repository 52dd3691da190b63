"""Attention of single tokens to a cache whose entries are never moved: each row looks up its ancestors.

    B sentences   b beams   N = B·b rows   R room, in tokens   S source   D = H·K width

Beam j writes its token of time t to row j of its sentence's slot. The token of row n at time t was written by beam
`ancestor[n, t]`. So beams are reordered by selecting rows of `ancestor`, and sentences by selecting slots.

The equations here work row by row; on a GPU the kernels of `attention_kernels.py` compute the same.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regard.layers.attention import attend
from regard.layers.attention_kernels import attend_past_kernel, attend_source_kernel

Pair = tuple[Tensor, Tensor]  # keys and values


class Slots(NamedTuple):
    """The positions of sentences in a cache. All tensors are on the device, because a CUDA graph reads them there."""

    beams: int
    slot: Tensor  # (B,) the slot of each sentence
    length: Tensor  # (B,) tokens read so far
    source_length: Tensor  # (B,) tokens of its source
    live: Tensor  # (1,) number of active sentences, which come first
    ancestor: Tensor  # (N, R)


def attend_past(
    query: Tensor, key: Tensor, value: Tensor, past: Pair, slots: Slots, heads: int, note: bool = True
) -> Tensor:
    """Attention (N, D) of new tokens, each (N, D), to the tokens their rows have read, themselves included. Their keys
    and values are written into `past`, each (slots · b, R, D), and with `note` they are recorded as ancestors. Rows of
    inactive sentences have undefined values."""
    if query.is_cuda:
        return attend_past_kernel(query, key, value, past, *slots, heads, note)
    out = torch.zeros_like(query)
    for row in range(int(slots.live) * slots.beams):
        sentence, beam = divmod(row, slots.beams)
        now, first = int(slots.length[sentence]), int(slots.slot[sentence]) * slots.beams
        if note:
            slots.ancestor[row, now] = beam
        for cells, new in zip(past, (key, value), strict=True):
            cells[first + beam, now] = new[row]
        who = torch.cat([slots.ancestor[row, :now], torch.tensor([beam])]).long()
        own = [cells[first + who, torch.arange(now + 1)] for cells in past]  # each (t, D)
        out[row] = _attend(query[row], own, heads)
    return out


def attend_source(query: Tensor, source: Pair, slots: Slots, heads: int) -> Tensor:
    """Attention (N, D) of queries (N, D) to the sources, each (slots, S, D)."""
    if query.is_cuda:
        return attend_source_kernel(query, source, *slots, heads)
    out = torch.zeros_like(query)
    for row in range(int(slots.live) * slots.beams):
        sentence = row // slots.beams
        slot, length = int(slots.slot[sentence]), int(slots.source_length[sentence])
        out[row] = _attend(query[row], [cells[slot, :length] for cells in source], heads)
    return out


def _attend(query: Tensor, seen: list[Tensor], heads: int) -> Tensor:
    """query (D,), keys and values (t, D) → (D,)"""
    q, k, v = (x.view(len(x), heads, -1).transpose(0, 1) for x in (query[None], *seen))  # (H, …, K)
    return attend(q, k, v)[0].flatten()
