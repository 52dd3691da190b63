"""A padded batch read in portions of sentences of nearly equal length, so that little of the work goes into padding.

    B sentences   S source tokens of the longest   D width

Worth it on a CPU, where the time of an encoder is that of its matrix products, and those of one portion fill a core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

SHARE = 0.85  # of the longest sentence of a portion that each of its sentences has
FEWEST = 256  # tokens of a portion: products of fewer rows are slower for each row


def in_portions(encode: Callable[[Tensor, Tensor], Tensor], src: Tensor, mask: Tensor) -> Tensor:
    """`encode` of src (B, S) with its mask, whose padding is at the end, → (B, S, D)."""
    lengths = mask.sum(1).tolist()
    cut = portions(lengths)
    if len(cut) == 1:
        return encode(src, mask)
    states: Tensor | None = None
    for places in cut:
        index, longest = torch.tensor(places), lengths[places[0]]
        some = encode(src[index, :longest], mask[index, :longest])  # (b, s, D)
        if states is None:
            states = some.new_zeros(*src.shape, some.shape[-1])
        states[index, :longest] = some
    assert states is not None
    return states


def portions(lengths: Sequence[int], fewest: int = FEWEST) -> list[list[int]]:
    """Which sentences are read together, the longest of them first.

    >>> portions([5, 40, 38, 6], fewest=10)
    [[1, 2], [3, 0]]
    """
    cut: list[list[int]] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if not cut or (tokens >= fewest and lengths[place] < SHARE * lengths[cut[-1][0]]):
            cut.append([])
            tokens = 0
        cut[-1].append(place)
        tokens += lengths[place]
    return cut
