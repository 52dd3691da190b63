"""The random order of an epoch, for corpora of any size: a pure function that never holds the whole of it.

Up to SEGMENT pairs are shuffled as one. A larger corpus is cut into blocks of neighbours; the blocks are shuffled, and
as many of them as make a segment are shuffled, sorted and put into batches together. So time to the first batch and
memory depend on the size of a segment, and files are read in blocks, not pair by pair. `batching.py` and `rows.py` make
batches of the order; `mixture.py` says how often a corpus is visited.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SEGMENT = 2**18  # pairs
BLOCK = 1024  # most pairs of a block
BLOCKS = 1024  # a smaller corpus has this many blocks, or blocks of one pair


def segment_bounds(pairs: int) -> list[int]:
    """Where segments of about equal size begin, and where the last one ends.

    >>> segment_bounds(1000), segment_bounds(600_000)
    ([0, 1000], [0, 200000, 400000, 600000])
    """
    count = -(-pairs // SEGMENT)
    return [number * pairs // count for number in range(count + 1)]


def segment_pairs(pairs: int, seed: int, epoch: int, number: int) -> Ints:
    """The pairs of one segment, not shuffled yet; of all segments together, every pair once."""
    bounds = segment_bounds(pairs)
    places = np.arange(bounds[number], bounds[number + 1])
    return places if len(bounds) == 2 else in_blocks(places, pairs, [seed, epoch])


def in_blocks(places: Ints, pairs: int, seed: Sequence[int]) -> Ints:
    """The pair at each position when blocks of neighbours are shuffled; an incomplete last block stays at the end."""
    size = max(1, min(BLOCK, pairs // BLOCKS))
    blocks = np.random.default_rng(seed).permutation(pairs // size)
    block, inside = np.divmod(places, size)
    whole = block < len(blocks)
    return np.where(whole, blocks[np.where(whole, block, 0)] * size + inside, places)
