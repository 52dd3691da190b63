"""Filters that drop pairs, with counts by filter.

Texts are filtered before they are encoded (empty, duplicate, far too long), ids after (too long, too unequal). Every
dropped pair is counted under one name. Nothing is repaired.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, field
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from regard.data.config import DataConfig
from regard.data.corpus import Pair

SHORT = 10  # tokens; the ratio of two short sides is not informative
COMPOSED = 4  # maximum characters that NFC composes to one

Numbered = tuple[int, str, str]  # pair number, source, target


@dataclass
class FilterReport:
    """The numbers of pairs read, kept and dropped."""

    read: int = 0
    kept: int = 0
    empty: int = 0  # a side without any visible text
    too_long: int = 0
    ratio: int = 0
    duplicates: int = 0  # found, whether dropped or not
    duplicates_dropped: int = 0

    def __add__(self, other: FilterReport) -> FilterReport:
        return FilterReport(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def dropped(self) -> dict[str, int]:
        """Reason for dropping → number of pairs."""
        counts = {"empty": self.empty, "too long": self.too_long, "of unequal length": self.ratio}
        return counts | {"duplicate": self.duplicates_dropped}

    def summary(self) -> str:
        """
        >>> FilterReport(read=10, kept=8, empty=2, duplicates=1).summary()
        'kept 8 of 10 pairs; dropped 2 empty; 1 duplicate kept'
        """
        dropped = [f"{count:,} {name}" for name, count in self.dropped.items() if count]
        left = self.duplicates - self.duplicates_dropped
        return (
            f"kept {self.kept:,} of {self.read:,} pairs"
            + ("; dropped " + ", ".join(dropped) if dropped else "")
            + (f"; {left:,} duplicate{'s' * (left > 1)} kept" if left else "")
        )


class Filters:
    """The filters of one pass over a corpus. No token covers more than `longest_piece` characters (None: no bound)."""

    def __init__(self, config: DataConfig, longest_piece: int | None) -> None:
        self.config, self.report, self.seen = config, FilterReport(), SeenHashes()
        self._reach = COMPOSED * config.max_length * longest_piece if longest_piece else None

    def texts(self, first: int, pairs: Sequence[Pair]) -> list[Numbered]:
        """Returns those of some pairs, numbered from `first`, that pass. A line of a megabyte is dropped by its length,
        before it is encoded."""
        report = self.report
        filled = [
            (number, *pair)
            for number, pair in enumerate(pairs, start=first)
            if not (pair[0].isspace() or pair[1].isspace()) and pair[0] and pair[1]
        ]
        new = self.seen.add(pairs if len(filled) == len(pairs) else [(src, tgt) for _, src, tgt in filled])
        report.read += len(pairs)
        report.empty += len(pairs) - len(filled)
        report.duplicates += len(filled) - int(new.sum())
        if self.config.dedupe:
            report.duplicates_dropped = report.duplicates
            filled = list(compress(filled, new.tolist()))
        if self._reach is None:
            return filled
        short = [row for row in filled if len(row[1]) <= self._reach and len(row[2]) <= self._reach]
        report.too_long += len(filled) - len(short)
        return short


def tokens_pass(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], config: DataConfig
) -> tuple[list[int], int, int]:
    """Returns the indices of the pairs that pass, and the numbers of those too long and too unequal in length."""
    src, tgt = (np.fromiter(map(len, rows), np.int64, len(rows)) for rows in (sources, targets))
    longer, shorter = np.maximum(src, tgt), np.minimum(src, tgt)
    too_long = longer > config.max_length
    unequal = ~too_long & (longer > SHORT) & (longer > config.max_ratio * shorter)
    passed = np.flatnonzero(~(too_long | unequal))
    return passed.tolist(), int(too_long.sum()), int(unequal.sum())


@dataclass
class SeenHashes:
    """The texts so far, as 64-bit hashes in a few sorted arrays, each at least twice as long as the next."""

    runs: list[NDArray[np.int64]] = field(default_factory=list)

    def add(self, texts: Sequence[Hashable]) -> NDArray[np.bool_]:
        """Adds texts, or pairs of them; returns True for those that are new."""
        return self.add_hashes(np.fromiter(map(hash, texts), np.int64, len(texts)))

    def add_hashes(self, given: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Adds hashes; returns True for those that are new."""
        hashes, first = np.unique(given, return_index=True)
        fresh = np.ones(len(hashes), dtype=bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            fresh &= run[at] != hashes
        new = np.zeros(len(given), dtype=bool)
        new[first[fresh]] = True
        if fresh.any():
            self.runs.append(hashes[fresh])
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            merged = np.concatenate(self.runs[-2:])
            merged.sort()  # in place, without a third copy
            self.runs[-2:] = [merged]
        return new
