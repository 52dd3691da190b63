"""Filters that drop pairs, and a count of what each dropped.

Texts are filtered before they are encoded (empty, duplicate, far too long), ids after (too long, too unequal). Every
pair that is dropped is counted under one name. Nothing is repaired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus import DataConfig

SHORT = 10  # tokens; the ratio of two short sides is not informative
COMPOSED = 4  # characters that NFC may compose to one

Numbered = tuple[int, str, str]  # pair number, source, target


@dataclass
class FilterReport:
    """Counts of what was read, kept and dropped."""

    read: int = 0
    kept: int = 0
    empty: int = 0  # a side without any visible text
    too_long: int = 0
    ratio: int = 0
    duplicates: int = 0  # found, whether dropped or not
    duplicates_dropped: int = 0

    def __add__(self, other: FilterReport) -> FilterReport:
        return FilterReport(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def summary(self) -> str:
        """
        >>> FilterReport(read=10, kept=8, empty=2, duplicates=1).summary()
        'kept 8 of 10 pairs; dropped 2 empty; 1 duplicate kept'
        """
        counts = {"empty": self.empty, "too long": self.too_long, "of unequal length": self.ratio}
        counts["duplicate"] = self.duplicates_dropped
        dropped = [f"{count:,} {name}" for name, count in counts.items() if count]
        left = self.duplicates - self.duplicates_dropped
        return (
            f"kept {self.kept:,} of {self.read:,} pairs"
            + ("; dropped " + ", ".join(dropped) if dropped else "")
            + (f"; {left:,} duplicate{'s' * (left > 1)} kept" if left else "")
        )


class Filters:
    """The filters of one pass over a corpus. No token covers more than `longest_piece` characters (None: no bound)."""

    def __init__(self, config: DataConfig, longest_piece: int | None) -> None:
        self.config, self.report, self.seen = config, FilterReport(), Seen()
        self._reach = COMPOSED * config.max_length * longest_piece if longest_piece else None

    def texts(self, chunk: Sequence[Numbered]) -> list[Numbered]:
        """The pairs to encode. A line of a megabyte is dropped by its length, before it is encoded."""
        filled = [row for row in chunk if row[1].strip() and row[2].strip()]
        new = self.seen.add([f"{src}\t{tgt}" for _, src, tgt in filled])
        self.report.read += len(chunk)
        self.report.empty += len(chunk) - len(filled)
        self.report.duplicates += len(filled) - int(new.sum())
        if self.config.dedupe:
            self.report.duplicates_dropped = self.report.duplicates
            filled = [row for row, is_new in zip(filled, new.tolist(), strict=True) if is_new]
        if self._reach is None:
            return filled
        short = [row for row in filled if max(len(row[1]), len(row[2])) <= self._reach]
        self.report.too_long += len(filled) - len(short)
        return short

    def tokens(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[int]:
        """The indices of the pairs that pass."""
        passed = []
        for i, (src, tgt) in enumerate(zip(sources, targets, strict=True)):
            longer, shorter = max(len(src), len(tgt)), min(len(src), len(tgt))
            if longer > self.config.max_length:
                self.report.too_long += 1
            elif longer > SHORT and longer > self.config.max_ratio * shorter:
                self.report.ratio += 1
            else:
                passed.append(i)
        self.report.kept += len(passed)
        return passed


@dataclass
class Seen:
    """The texts so far, as 64-bit hashes in a few sorted arrays, each at least twice as long as the next."""

    runs: list[NDArray[np.uint64]] = field(default_factory=list)

    def add(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Remember the texts; True for those that are new."""
        digests = b"".join(hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=8).digest() for t in texts)
        hashes, first = np.unique(np.frombuffer(digests, dtype=np.uint64), return_index=True)
        fresh = np.ones(len(hashes), dtype=bool)
        for run in self.runs:
            at = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            fresh &= run[at] != hashes
        new = np.zeros(len(texts), dtype=bool)
        new[first[fresh]] = True
        if fresh.any():
            self.runs.append(hashes[fresh])
        while len(self.runs) > 1 and len(self.runs[-2]) < 2 * len(self.runs[-1]):
            merged = np.concatenate(self.runs[-2:])
            merged.sort()  # in place, without a third copy
            self.runs[-2:] = [merged]
        return new
