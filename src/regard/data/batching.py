"""Batches of pairs of similar lengths within a token budget, planned from lengths alone.

A plan is a pure function of (lengths, budget, seed, epoch, rank, world size); a position in it is two numbers. No batch
exceeds the budget, every pair occurs once per epoch over all ranks, and all ranks get equally many batches. A large
corpus is planned segment by segment (`order.py`). The tokens are in `encode.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.data.encode import EncodedCorpus
from regard.data.order import SEGMENT, Mixture, segment_bounds, segment_pairs
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.batch import FlatBatch

Ints = NDArray[np.int64]
Encoded = EncodedCorpus | Mixture
BAND = 1.1  # the longest target of a band is this many times the shortest


def plan_epoch(
    src_lengths: Ints,
    tgt_lengths: Ints,
    batch_tokens: int,
    seed: int,
    epoch: int,
    rank: int = 0,
    world_size: int = 1,
    segment: int = 0,
) -> list[Ints]:
    """Returns the batches of one rank in one epoch, or in one segment of it, as arrays of pair numbers."""
    _check_longest(int(max(src_lengths.max(), tgt_lengths.max())), batch_tokens)
    rng = np.random.default_rng([seed, epoch, segment] if segment else [seed, epoch])
    order = _by_length(src_lengths, tgt_lengths, rng)
    batches = _even(_cut(order, src_lengths, tgt_lengths, batch_tokens), world_size)
    shuffled = rng.permutation(len(batches))
    return [batches[i] for i in shuffled[rank::world_size]]


def _check_longest(longest: int, batch_tokens: int) -> None:
    if longest > batch_tokens:
        raise InputError(
            f"batch_tokens is {batch_tokens:,}, but the longest sentence has {longest:,} tokens; "
            f"set batch_tokens to at least {longest:,}, or max_length below {batch_tokens:,}"
        )


def _by_length(src_lengths: Ints, tgt_lengths: Ints, rng: np.random.Generator) -> Ints:
    """Returns an order in which neighbours have similar lengths: bands of similar target lengths, each sorted by source
    length, alternately ascending and descending. The band borders and the order among equals are random, so that every
    epoch has different batches.
    """
    band = np.floor(np.log(tgt_lengths) / np.log(BAND) + rng.random()).astype(np.int64)
    alternating = np.where(band % 2, src_lengths, -src_lengths)
    return np.lexsort((rng.permutation(len(band)), tgt_lengths, alternating, band))


def _cut(order: Ints, src_lengths: Ints, tgt_lengths: Ints, batch_tokens: int) -> list[Ints]:
    """Cuts the order into batches, each as long as both padded sides fit the budget."""
    widest = np.maximum(src_lengths, tgt_lengths)[order]
    batches, at = [], 0
    while at < len(order):
        most = batch_tokens // widest[at]  # more than this many never fit
        width = np.maximum.accumulate(widest[at : at + most])
        count = int(np.searchsorted(width * np.arange(1, len(width) + 1), batch_tokens, side="right"))
        batches.append(order[at : at + count])
        at += count
    return batches


def _even(batches: list[Ints], world_size: int) -> list[Ints]:
    """Halves the largest batches until their number is a multiple of `world_size`."""
    batches = list(batches)
    while len(batches) % world_size:
        largest = max(range(len(batches)), key=lambda i: len(batches[i]))
        rows = batches[largest]
        if len(rows) < 2:
            raise InputError(
                f"{len(batches):,} batches of one pair cannot be shared evenly by {world_size} processes; "
                "raise batch_tokens, or use fewer processes"
            )
        batches[largest] = rows[: len(rows) // 2]
        batches.append(rows[len(rows) // 2 :])
    return batches


class EpochBatches(ABC):
    """An endless stream of batches of a corpus, with a budget of tokens and the position (epoch, index).

    `corpus` may be a function of the epoch, where it differs between epochs (BPE-dropout, transforms, a mixture). Where
    that takes a while, `begin_epoch` starts encoding a later epoch in the background.
    """

    begin_epoch: Callable[[int], None] | None = None

    def __init__(
        self,
        corpus: Encoded | Callable[[int], Encoded],
        batch_tokens: int,
        seed: int,
        rank: int = 0,
        world_size: int = 1,
        state: dict[str, int] | None = None,
    ) -> None:
        self._corpus_of = corpus if callable(corpus) else lambda epoch: corpus
        self._budget, self._seed, self._rank, self._world_size = batch_tokens, seed, rank, world_size
        start = state or {"epoch": 0, "index": 0}
        self.epoch, self.index, self.width = start["epoch"], start["index"], start.get("width", 0)
        self._open()

    @abstractmethod
    def _open(self) -> None:
        """Opens the corpus of the current epoch."""

    @abstractmethod
    def __next__(self) -> FlatBatch: ...

    def __iter__(self) -> Iterator[FlatBatch]:
        return self

    def state(self) -> dict[str, int]:
        """Returns the position: a new stream over the same corpus with this state yields the same next batch."""
        return {"epoch": self.epoch, "index": self.index, "width": self.width}


class Batches(EpochBatches):
    """An endless stream of training batches, epoch after epoch. The position is (epoch, index): a segment of an epoch
    has at most SEGMENT batches, so index = SEGMENT × segment + batch is the next batch.
    """

    def _open(self) -> None:
        self.corpus = self._corpus_of(self.epoch)
        _check_longest(self.corpus.longest, self._budget)
        self._segments = len(segment_bounds(len(self.corpus))) - 1
        self._open_segment()

    def _open_segment(self) -> None:
        number = self.index // SEGMENT
        self._pairs = segment_pairs(len(self.corpus), self._seed, self.epoch, number)
        lengths = self.corpus.lengths_of(self._pairs)
        self._plan = plan_epoch(*lengths, self._budget, self._seed, self.epoch, self._rank, self._world_size, number)

    @property
    def per_epoch(self) -> int:
        """The number of batches of this rank in the current epoch; an estimate if it has several segments."""
        return round(len(self._plan) * len(self.corpus) / len(self._pairs))

    def largest(self) -> FlatBatch:
        """Returns the batch of this segment with the most positions, padding included; the position is unchanged."""
        src, tgt = self.corpus.lengths_of(self._pairs)
        rows = max(self._plan, key=lambda rows: len(rows) * int(src[rows].max() + tgt[rows].max()))
        return self.corpus.gather(self._pairs[rows])

    def __next__(self) -> FlatBatch:
        if self.index % SEGMENT >= len(self._plan):
            self.index = (self.index // SEGMENT + 1) * SEGMENT
            if self.index < self._segments * SEGMENT:
                self._open_segment()
            else:
                self.epoch, self.index = self.epoch + 1, 0
                self._open()
        rows = self._pairs[self._plan[self.index % SEGMENT]]
        self.index += 1
        return self.corpus.gather(rows)
