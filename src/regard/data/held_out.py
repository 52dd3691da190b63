"""Sentences that no training line may have: those of test and development sets, in whatever spelling.

A line is
    same    if it is one of them but for case, punctuation and spaces (`key_words.py`),
    inside  if it contains one of SPAN or more words whole, or LONG words in a row of a longer one,
    near    if SHARE of its runs of FIVE words are runs of theirs: the same sentence with a few words changed.

13 words in a row is what GPT-3's authors took for an overlap (Brown et al. 2020). Shorter sentences are looked for as
whole lines only: "Thank you very much." is part of many lines that have nothing to do with a test. Only hashes are
kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from regard.data.key_words import HashedLines, Hashes, contains, key_words

FIVE, SPAN, LONG = 5, 8, 13
SHARE = 0.8
FEWEST = 6  # runs of five words that a line needs to be judged by their share
CHUNK = 10_000


class Overlap(IntEnum):
    """How much of a line is held out; the greatest that holds."""

    NONE = 0
    NEAR = 1
    INSIDE = 2
    SAME = 3


@dataclass(frozen=True)
class HeldOutText:
    whole: Hashes  # of all sentences, rising, as are the others
    spans: dict[int, Hashes]  # by length: whole sentences of SPAN … LONG − 1 words; all runs of LONG words
    fives: Hashes

    @classmethod
    def of(cls, sentences: Iterable[str]) -> HeldOutText:
        """Sentences without any text are left out."""
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
        """Different sentences."""
        return len(self.whole)

    def overlaps(self, lines: HashedLines) -> NDArray[np.uint8]:
        """(L,): an `Overlap` for each line."""
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
    """Rising, each once."""
    return np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *parts]))
