"""Overlap of training lines with held-out sentences, in whatever spelling, by 64-bit hashes of runs of words.

    words            the alphanumeric runs of the text in NFKC, without case; a line of punctuation only is split at
                     its spaces
    hash of a run    Σ_k h(w_k) · M^k  mod 2^64,  k = 0 … n − 1,  with a hash h of each word

The hashes of all runs of n + 1 words come from those of n words by one addition, for many lines at once. Hashes
are the same in every process.

No training line may have a sentence of a test or development set. A line is
    same    if it equals one of them except for case, punctuation and spaces,
    inside  if it contains one of SPAN or more words whole, or LONG words in a row of a longer one,
    near    if SHARE of its runs of FIVE words are runs of theirs: the same sentence with a few words changed.

GPT-3's authors define an overlap as 13 words in a row (Brown et al. 2020). Shorter sentences are compared with whole
lines only: "Thank you very much." is part of many lines that have nothing to do with a test. Only hashes are
stored.

Axes: L lines, W words of all lines, concatenated.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import islice

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
        """Returns the hash of each line as one run, (L,); 0 for a line without words."""
        sums = np.zeros(len(self.lengths), dtype=np.uint64)
        filled = self.lengths > 0
        if filled.any():
            place = np.arange(len(self.words)) - np.repeat(self.starts, self.lengths)
            powers = np.array([pow(BASE, k, BITS) for k in range(int(self.lengths.max()))], dtype=np.uint64)
            sums[filled] = np.add.reduceat(self.words * powers[place], self.starts[filled])
        return sums

    def runs(self, longest: int) -> Iterator[tuple[Hashes, Ints]]:
        """Yields, for n = 1 … `longest`, the hashes of all runs of n words and the line of each run.

        >>> lines = HashedLines.of([["a", "b"], ["b"]])
        >>> [line.tolist() for _, line in lines.runs(2)]
        [[0, 0, 1], [0]]
        """
        line = np.repeat(np.arange(len(self.lengths)), self.lengths)
        left = np.repeat(self.starts + self.lengths, self.lengths) - np.arange(len(self.words))  # words left in line
        starts, sums = np.arange(len(self.words)), np.zeros(len(self.words), dtype=np.uint64)
        for n in range(longest):
            inside = left[starts] > n
            starts, sums = starts[inside], sums[inside]
            sums = sums + self.words[starts + n] * np.uint64(pow(BASE, n, BITS))
            yield sums, line[starts]


def contains(sorted_hashes: Hashes, wanted: Hashes) -> NDArray[np.bool_]:
    """Returns which of the wanted hashes are among the sorted ones."""
    if not len(sorted_hashes):
        return np.zeros(len(wanted), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_hashes, wanted), len(sorted_hashes) - 1)
    found: NDArray[np.bool_] = sorted_hashes[place] == wanted
    return found


FIVE, SPAN, LONG = 5, 8, 13
SHARE = 0.8
FEWEST = 6  # minimum runs of five words for a line to be judged by their share
CHUNK = 10_000


class Overlap(IntEnum):
    """The overlap of a line with held-out sentences; the strongest kind that applies."""

    NONE = 0
    NEAR = 1
    INSIDE = 2
    SAME = 3


@dataclass(frozen=True)
class HeldOutText:
    whole: Hashes  # of all sentences, ascending, as are the others
    spans: dict[int, Hashes]  # by length: whole sentences of SPAN … LONG − 1 words; all runs of LONG words
    fives: Hashes

    @classmethod
    def of(cls, sentences: Iterable[str]) -> HeldOutText:
        """Hashes the sentences; those without any text are left out."""
        stream = (words for line in sentences if (words := key_words(line)))
        whole, fives = list[Hashes](), list[Hashes]()
        spans: dict[int, list[Hashes]] = {n: [] for n in range(SPAN, LONG + 1)}
        while chunk := list(islice(stream, CHUNK)):
            lines = HashedLines.of(chunk)
            whole.append(lines.whole())
            for n in range(SPAN, LONG):
                spans[n].append(whole[-1][lines.lengths == n])
            for n, (hashes, _) in enumerate(lines.runs(LONG), start=1):
                if n == FIVE:
                    fives.append(hashes)
                elif n == LONG:
                    spans[LONG].append(hashes)
        return cls(_joined(whole), {n: _joined(some) for n, some in spans.items()}, _joined(fives))

    def __len__(self) -> int:
        """The number of distinct sentences."""
        return len(self.whole)

    def overlaps(self, lines: HashedLines) -> NDArray[np.uint8]:
        """Returns an `Overlap` for each line, (L,)."""
        count = len(lines.lengths)
        found = np.zeros(count, dtype=np.uint8)
        if not len(self):
            return found
        for n, (hashes, line) in enumerate(lines.runs(LONG), start=1):
            if n == FIVE:
                total = np.bincount(line, minlength=count)
                shared = np.bincount(line[contains(self.fives, hashes)], minlength=count)
                found[(total >= FEWEST) & (shared >= SHARE * total)] = Overlap.NEAR
            elif n >= SPAN:
                found[line[contains(self.spans[n], hashes)]] = Overlap.INSIDE
        found[contains(self.whole, lines.whole()) & (lines.lengths > 0)] = Overlap.SAME
        return found

    def judge(self, texts: Sequence[str]) -> list[Overlap]:
        """
        >>> held = HeldOutText.of(["Where is the nearest railway station, please, sir?"])
        >>> [o.name for o in held.judge(["where is the nearest RAILWAY station please sir", "Where is it?"])]
        ['SAME', 'NONE']
        >>> [o.name for o in held.judge(["Good day! Where is the nearest railway station, please, sir? It is late."])]
        ['INSIDE']
        """
        return [Overlap(o) for o in self.overlaps(HashedLines.of([key_words(text) for text in texts]))]


def _joined(parts: list[Hashes]) -> Hashes:
    """Concatenates, sorts and removes duplicates."""
    return np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *parts]))
