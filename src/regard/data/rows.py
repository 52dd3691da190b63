"""Pairs that share rows: batches of one size with almost no padding, for GPUs.

    width positions of a row, on either side   rows of a batch

A batch takes pairs in the epoch's random order, as many as fit, and places them in its rows: the longest first, each in
the row where it leaves the least space (best-fit decreasing). Nothing is sorted by length, so batches are random
samples of the corpus; rows are still filled to 96 percent and more on the longer side. A position in the epoch is the
number of pairs before it, and everything is a pure function of (lengths, seed, epoch, position, width). The width is
that of the longest sentence, rounded up; where epochs differ, as with BPE-dropout, it may grow and never shrinks, so
that a CUDA graph recorded for one shape can be used for all batches.

With several processes a batch has rows for all of them, and each uses its part. The tokens are in `encode.py`; batches
of similar lengths, for models that cannot separate the sentences of a row, are in `batching.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.data.batching import EpochBatches
from regard.data.order import segment_bounds, segment_pairs
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.batch import FlatBatch

Ints = NDArray[np.int64]
FILLED = 0.965  # share of a batch that the first try fills: nearly always possible, and each further try costs as much
WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096)  # attention kernels are fastest at these


@dataclass(frozen=True)
class RowLayout:
    """Pairs placed in rows: pair i is in row `row[i]`, from `src_start[i]` and `tgt_start[i]` on."""

    rows: int
    row: Ints
    src_start: Ints
    tgt_start: Ints


def lay_out_rows(src_lengths: Sequence[int], tgt_lengths: Sequence[int], width: int) -> RowLayout:
    """Places the longest pairs first, each in the row where it leaves the least space.

    >>> layout = lay_out_rows([5, 3, 2], [4, 4, 2], width=8)
    >>> layout.rows, layout.row.tolist(), layout.tgt_start.tolist()
    (2, [0, 0, 1], [0, 4, 0])
    """
    count = len(src_lengths)
    order = sorted(range(count), key=[-max(pair) for pair in zip(src_lengths, tgt_lengths, strict=True)].__getitem__)
    open_rows = _OpenRows(width)
    src_room, tgt_room = open_rows.src_room, open_rows.tgt_room
    row, src_start, tgt_start = [0] * count, [0] * count, [0] * count
    for i in order:
        place = open_rows.tightest(src_lengths[i], tgt_lengths[i])
        row[i], src_start[i], tgt_start[i] = place, width - src_room[place], width - tgt_room[place]
        src_room[place] -= src_lengths[i]
        tgt_room[place] -= tgt_lengths[i]
        open_rows.put_back(place)
    return RowLayout(len(src_room), *(np.array(part, dtype=np.int64) for part in (row, src_start, tgt_start)))


class _OpenRows:
    """Rows with space left, by the smaller of the spaces for source and target: a pair whose longer side is no longer
    than that fits. A bit of `open` is set for each amount of space that some row has, so that the tightest is found at
    once: a batch of short sentences needs thousands of searches. A row in which only this source and this target fit,
    such as one with much space for a target and little for a source, is searched for only if no other fits."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.by_room: list[list[int]] = [[] for _ in range(width + 1)]
        self.src_room: list[int] = []
        self.tgt_room: list[int] = []
        self.open = 0

    def tightest(self, src: int, tgt: int) -> int:
        """Returns a row that fits a pair and closes it; a new row if none fits."""
        longer = src if src > tgt else tgt
        fitting = self.open >> longer  # spaces of at least that size
        if fitting:
            room = longer + (fitting & -fitting).bit_length() - 1
            return self._take(room, len(self.by_room[room]) - 1)
        shorter = src if src < tgt else tgt
        left = self.open >> shorter << shorter
        while left:
            room = left.bit_length() - 1
            for at, place in enumerate(self.by_room[room]):
                if self.src_room[place] >= src and self.tgt_room[place] >= tgt:
                    return self._take(room, at)
            left ^= 1 << room
        self.src_room.append(self.width)
        self.tgt_room.append(self.width)
        return len(self.src_room) - 1

    def _take(self, room: int, at: int) -> int:
        rows = self.by_room[room]
        place = rows.pop(at)
        if not rows:
            self.open ^= 1 << room
        return place

    def put_back(self, row: int) -> None:
        room = min(self.src_room[row], self.tgt_room[row])
        if room:
            self.by_room[room].append(row)
            self.open |= 1 << room


def fill_batch(src_lengths: Ints, tgt_lengths: Ints, rows: int, width: int) -> tuple[int, RowLayout]:
    """Returns how many of the first pairs fit in a batch, and their positions in it."""
    room = int(FILLED * rows * width)
    longest = np.maximum(np.cumsum(src_lengths), np.cumsum(tgt_lengths))
    count = max(1, int(np.searchsorted(longest, room, side="right")))
    while True:
        layout = lay_out_rows(src_lengths[:count].tolist(), tgt_lengths[:count].tolist(), width)
        if layout.rows <= rows:
            return count, layout
        room = min(int(room * rows / layout.rows), int(longest[count - 1]) - 1)
        count = max(1, int(np.searchsorted(longest, room, side="right")))


class RowBatches(EpochBatches):
    """An endless stream of training batches, like `batching.Batches`; the position is (epoch, pairs used of it)."""

    def _open(self) -> None:
        self.corpus = self._corpus_of(self.epoch)
        longest = self.corpus.longest
        self.width = max(self.width, next((w for w in WIDTHS if w >= longest), longest))
        if self._budget < self.width:
            raise InputError(
                f"batch_tokens is {self._budget:,}, but the longest sentence needs rows of {self.width:,}; "
                f"set batch_tokens to at least {self.width:,}, or a shorter max_length"
            )
        self.rows = self._budget // self.width
        self._open_segment()

    def _open_segment(self) -> None:
        """Opens the segment of the epoch's order that contains `index`."""
        bounds = segment_bounds(len(self.corpus))
        number = min(bisect_right(bounds, self.index), len(bounds) - 1) - 1
        pairs = segment_pairs(len(self.corpus), self._seed, self.epoch, number)
        seed = [self._seed, self.epoch, number] if number else [self._seed, self.epoch]
        self._order = pairs[np.random.default_rng(seed).permutation(len(pairs))]
        self._lengths = self.corpus.lengths_of(self._order)
        self._begin, self._end = bounds[number], bounds[number + 1]

    @property
    def per_epoch(self) -> int:
        """The estimated number of batches of an epoch; their exact filling is known only when they are made."""
        return max(1, round(self.corpus.tokens / (0.98 * self.rows * self.width * self._world_size)))

    def largest(self) -> FlatBatch:
        """Returns the first batch of this segment, as all have one size. The position does not change."""
        return self._from(0)[1]

    def __next__(self) -> FlatBatch:
        if self.index >= len(self.corpus):
            self.epoch, self.index = self.epoch + 1, 0
            self._open()
        elif self.index >= self._end:
            self._open_segment()
        count, batch = self._from(self.index - self._begin)
        self.index += count
        return batch

    def _from(self, at: int) -> tuple[int, FlatBatch]:
        """Returns how many pairs of the segment's order, from `at` on, fit into a batch, and this rank's rows of it."""
        rows = self.rows * self._world_size
        most = rows * self.width // 2  # a pair has two tokens at least
        src_lengths, tgt_lengths = (side[at : at + most] for side in self._lengths)
        count, layout = fill_batch(src_lengths, tgt_lengths, rows, self.width)
        return count, self._gather(self._order[at : at + count], layout)

    def _gather(self, pairs: Ints, layout: RowLayout) -> FlatBatch:
        """Returns this rank's rows of a batch: every `world_size`-th one."""
        import torch

        from regard.batch import Places

        mine = layout.row % self._world_size == self._rank
        places = (layout.row[mine] // self._world_size, layout.src_start[mine], layout.tgt_start[mine])
        layout_places = Places(self.rows, self.width, *(torch.from_numpy(a) for a in places))
        return replace(self.corpus.gather(pairs[mine]), places=layout_places)
