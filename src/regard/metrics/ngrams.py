"""Matching n-grams, of all orders and many lines at once.

The definition is a sum over the n-grams of one line (`bleu.clipped_matches`). This is its fast version: an (n+1)-gram
is a pair of overlapping n-grams and can only match if both do. So each order numbers the remaining n-grams by one
sort, and the next order starts from those that matched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Ragged:
    """Lines of tokens or characters as numbers, concatenated."""

    flat: NDArray[Any]
    lengths: Numbers  # of each line

    def __len__(self) -> int:
        return len(self.lengths)


def matching(hypotheses: Ragged, references: Sequence[Ragged], order: int) -> Numbers:
    """(lines, order): how many 1-grams … N-grams of each hypothesis are in a reference, each credited at most as often
    as in the single reference that has it most often.

    >>> the, cat, on, mat = range(4)
    >>> hypothesis = Ragged(np.array([the, the, the, cat]), np.array([4]))
    >>> reference = Ragged(np.array([the, cat, on, the, mat]), np.array([5]))
    >>> matching(hypothesis, [reference], 2)
    array([[3, 1]])
    """
    streams = (hypotheses, *references)
    lines = len(hypotheses)
    numbers = np.arange(lines)
    tokens = np.concatenate([s.flat for s in streams]).astype(np.int64)  # of all streams, one after the other
    line = np.concatenate([np.repeat(numbers, s.lengths) for s in streams])
    stream = np.repeat(np.arange(len(streams)), [len(s.flat) for s in streams])
    same_line = (line[1:] == line[:-1]) & (stream[1:] == stream[:-1])  # as the token before

    found = np.zeros((lines, order), dtype=np.int64)
    place = np.arange(len(tokens))  # where the remaining n-grams begin
    gram = line * (int(tokens.max(initial=0)) + 1) + tokens  # and a number for each, equal for equal n-grams
    for n in range(order):
        rank, distinct = ranks(gram)
        counts = [
            np.bincount(rank[slice(*np.searchsorted(stream[place], [s, s + 1]))], minlength=distinct)
            for s in range(len(streams))
        ]
        clipped = np.minimum(counts[0], np.maximum.reduce(counts[1:]))
        line_of = np.empty(distinct, dtype=np.int64)
        line_of[rank] = line[place]
        found[:, n] = np.bincount(line_of, weights=clipped, minlength=lines)

        matched = clipped[rank] > 0
        number = np.full(len(tokens), -1)
        number[place[matched]] = rank[matched]
        place = np.flatnonzero(same_line & (number[1:] >= 0) & (number[:-1] >= 0))
        gram = number[place] * distinct + number[place + 1]
    return found


def ranks(values: Numbers) -> tuple[Numbers, int]:
    """The rank of each value among the distinct values, and their number."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.empty(len(values), dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(new) - 1
    return ranks, int(new.sum())
