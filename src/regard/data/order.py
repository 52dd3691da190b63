"""The random order of an epoch, and mixtures of several weighted corpora (`Mixture`).

The order is a pure function that is never in memory as a whole, for corpora of any size. Up to SEGMENT pairs are
shuffled as one. A larger corpus is cut into blocks of consecutive pairs; the blocks are shuffled, and groups of blocks
of SEGMENT pairs are shuffled, sorted and batched together. So time to the first batch and memory depend on the size of
a segment, and files are read in blocks, not pair by pair. `batching.py` and `rows.py` make batches of the order.

In a mixture each corpus is visited according to its weight: an epoch makes weight × n visits to a corpus of n pairs.
Visits are numbered through all epochs: visit v is position v mod n of pass v div n over the corpus, and every pass has
its own order. So with weight 2 an epoch has every pair twice, with weight 0.5 two epochs have every pair once, and the
pairs of an epoch are a pure function of its number. Batches take a mixture in place of a corpus.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.encode import EncodedCorpus, gather_ids, gather_pairs
from regard.data.filters import FilterReport
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.batch import FlatBatch


Ints = NDArray[np.int64]
SEGMENT = 2**18  # pairs
BLOCK = 1024  # most pairs of a block
BLOCKS = 1024  # a smaller corpus has this many blocks, or blocks of one pair


def segment_bounds(pairs: int) -> list[int]:
    """Returns the starts of segments of about equal size, and the end of the last one.

    >>> segment_bounds(1000), segment_bounds(600_000)
    ([0, 1000], [0, 200000, 400000, 600000])
    """
    count = -(-pairs // SEGMENT)
    return [number * pairs // count for number in range(count + 1)]


def segment_pairs(pairs: int, seed: int, epoch: int, number: int) -> Ints:
    """Returns the pairs of one segment, not yet shuffled; all segments together contain every pair once."""
    bounds = segment_bounds(pairs)
    places = np.arange(bounds[number], bounds[number + 1])
    return places if len(bounds) == 2 else in_blocks(places, pairs, [seed, epoch])


def in_blocks(places: Ints, pairs: int, seed: Sequence[int]) -> Ints:
    """Returns the pair at each position after shuffling blocks; an incomplete last block stays at the end."""
    size = max(1, min(BLOCK, pairs // BLOCKS))
    blocks = np.random.default_rng(seed).permutation(pairs // size)
    block, inside = np.divmod(places, size)
    whole = block < len(blocks)
    return np.where(whole, blocks[np.where(whole, block, 0)] * size + inside, places)


def visits_of(pairs: int, weight: float, epoch: int) -> tuple[int, int]:
    """Returns the first visit of an epoch, and the first of the next.

    >>> visits_of(100, 2, epoch=0), visits_of(100, 0.5, epoch=3)
    ((0, 200), (150, 200))
    """
    return math.ceil(epoch * weight * pairs), math.ceil((epoch + 1) * weight * pairs)


def pairs_visited(visits: Ints, pairs: int, seed: Sequence[int]) -> Ints:
    """Returns the pair of each visit."""
    passes, places = np.divmod(visits, pairs)
    found = np.empty_like(visits)
    for number in np.unique(passes).tolist():
        here = passes == number
        found[here] = in_blocks(places[here], pairs, [*seed, number])
    return found


class Mixture:
    """One epoch's visits, numbered from 0 on: all of the first corpus, then all of the second, and so on."""

    def __init__(self, corpora: Sequence[EncodedCorpus], weights: Sequence[float], seed: int, epoch: int) -> None:
        self.corpora, self._seed = corpora, seed
        spans = [visits_of(len(c), weight, epoch) for c, weight in zip(corpora, weights, strict=True)]
        self._first = [first for first, _ in spans]
        self._bounds = np.cumsum([0] + [end - first for first, end in spans])
        if len(self) == 0:
            raise InputError(f"the weights of [[data.corpus]] leave no pair for epoch {epoch}; raise them")
        self.longest = max(corpus.longest for corpus in corpora)
        self.report = sum((corpus.report for corpus in corpora), FilterReport())

    def __len__(self) -> int:
        return int(self._bounds[-1])

    @property
    def tokens(self) -> int:
        """The approximate number of tokens of an epoch, on the longer side, each sentence with its EOS."""
        shares = np.diff(self._bounds) / [len(corpus) for corpus in self.corpora]
        return round(sum(float(s) * corpus.tokens for s, corpus in zip(shares, self.corpora, strict=True)))

    def has_target_ids(self, wanted: Collection[int]) -> bool:
        return any(corpus.has_target_ids(wanted) for corpus in self.corpora)

    def lengths_of(self, rows: Ints) -> tuple[Ints, Ints]:
        src, tgt = np.empty_like(rows), np.empty_like(rows)
        for corpus, here, pairs in self._found(rows):
            src[here], tgt[here] = corpus.lengths_of(pairs)
        return src, tgt

    def gather(self, indices: NDArray[np.integer[Any]] | Sequence[int]) -> FlatBatch:
        rows = np.asarray(indices, dtype=np.int64)
        sources, targets, places = [], [], []
        for corpus, here, pairs in self._found(rows):
            sources.append(gather_ids(corpus.src, corpus.src_offsets, pairs))
            targets.append(gather_ids(corpus.tgt, corpus.tgt_offsets, pairs))
            places.append(here)
        order = np.argsort(np.concatenate(places))  # row i is at order[i] of the concatenated parts
        return gather_pairs(*_end_to_end(sources), *_end_to_end(targets), order)

    def _found(self, rows: Ints) -> list[tuple[EncodedCorpus, Ints, Ints]]:
        """Returns, for every corpus with some of the rows, the indices of these rows, and their pairs."""
        owner = np.searchsorted(self._bounds, rows, side="right") - 1
        found = []
        for number in np.unique(owner).tolist():
            here = np.flatnonzero(owner == number)
            visits = rows[here] - self._bounds[number] + self._first[number]
            corpus = self.corpora[number]
            found.append((corpus, here, pairs_visited(visits, len(corpus), [self._seed, number])))
        return found


def _end_to_end(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Concatenates several (ids, offsets)."""
    before = np.cumsum([0] + [int(offsets[-1]) for _, offsets in parts[:-1]])
    shifted = [offsets[:-1] + start for (_, offsets), start in zip(parts, before, strict=True)]
    ids = np.concatenate([ids for ids, _ in parts])
    return ids, np.concatenate([*shifted, [len(ids)]])
