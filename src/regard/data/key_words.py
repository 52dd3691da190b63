"""The words of a sentence whatever its spelling, and 64-bit hashes of runs of them.

    words            the alphanumeric runs of the text in NFKC, without case; those of a line of punctuation alone are
                     what stands between its spaces
    hash of a run    Σ_k h(w_k) · M^k  mod 2^64,  k = 0 … n − 1,  with a hash h of each word

so that the hashes of all runs of n + 1 words come from those of n words by one addition, for many lines at once. Hashes
are the same in every process.

Axes: L lines, W words of all lines, end to end.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

ALPHANUMERIC = re.compile(r"[^\W_]+")
BASE = 0x9E3779B97F4A7C15  # M, odd
BITS = 2**64

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]


def key_words(text: str) -> list[str]:
    """
    >>> key_words("It’s  LATE!"), key_words("...")
    (['it', 's', 'late'], ['...'])
    """
    return ALPHANUMERIC.findall(unicodedata.normalize("NFKC", text).casefold()) or text.split()


@lru_cache(maxsize=1 << 20)
def word_hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class HashedLines:
    """Lines as hashes of their words."""

    words: Hashes  # (W,)
    lengths: Ints  # (L,)

    @classmethod
    def of(cls, lines: Sequence[Sequence[str]]) -> HashedLines:
        flat = np.fromiter((word_hash(word) for line in lines for word in line), dtype=np.uint64)
        return cls(flat, np.fromiter(map(len, lines), dtype=np.int64, count=len(lines)))

    @property
    def starts(self) -> Ints:
        return np.cumsum(self.lengths) - self.lengths

    def whole(self) -> Hashes:
        """(L,): of each line as one run; 0 for a line without words."""
        sums = np.zeros(len(self.lengths), dtype=np.uint64)
        filled = self.lengths > 0
        if filled.any():
            place = np.arange(len(self.words)) - np.repeat(self.starts, self.lengths)
            powers = np.array([pow(BASE, k, BITS) for k in range(int(self.lengths.max()))], dtype=np.uint64)
            sums[filled] = np.add.reduceat(self.words * powers[place], self.starts[filled])
        return sums

    def runs(self, longest: int) -> Iterator[tuple[Hashes, Ints]]:
        """For n = 1 … `longest`, the hashes of all runs of n words and the line of each run.

        >>> lines = HashedLines.of([["a", "b"], ["b"]])
        >>> [line.tolist() for _, line in lines.runs(2)]
        [[0, 0, 1], [0]]
        """
        line = np.repeat(np.arange(len(self.lengths)), self.lengths)
        left = np.repeat(self.starts + self.lengths, self.lengths) - np.arange(len(self.words))  # words from here on
        starts, sums = np.arange(len(self.words)), np.zeros(len(self.words), dtype=np.uint64)
        for n in range(longest):
            inside = left[starts] > n
            starts, sums = starts[inside], sums[inside]
            sums = sums + self.words[starts + n] * np.uint64(pow(BASE, n, BITS))
            yield sums, line[starts]


def contains(sorted_hashes: Hashes, wanted: Hashes) -> NDArray[np.bool_]:
    """Which of the wanted hashes are among the sorted ones."""
    if not len(sorted_hashes):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_hashes, wanted), len(sorted_hashes) - 1)
    found: NDArray[np.bool_] = sorted_hashes[place] == wanted
    return found
