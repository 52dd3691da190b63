"""Encoded pairs without files, for tests of what is made of them."""

from __future__ import annotations

import numpy as np

from regard.data.encode import EncodedCorpus
from regard.data.filters import FilterReport


class Fixed(EncodedCorpus):
    """Pairs in memory: sources and targets begin with a number of their own."""

    def __init__(self, sources: list[list[int]], targets: list[list[int]]) -> None:
        (self.src, self.src_offsets), (self.tgt, self.tgt_offsets) = (self._laid(s) for s in (sources, targets))
        self.kept = np.arange(len(sources))
        self.longest = 1 + max(map(len, sources + targets))
        self.report = FilterReport(read=len(sources), kept=len(sources))

    @staticmethod
    def _laid(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([np.array(r, dtype=np.uint16) for r in rows]), np.cumsum([0, *map(len, rows)])

    @classmethod
    def of(cls, count: int, first: int = 0) -> Fixed:
        numbers = [100 + first + i for i in range(count)]
        return cls([[n] * (1 + n % 7) for n in numbers], [[n] * (1 + n % 5) for n in numbers])
