"""Byte-pair encoding learnt step by step (Sennrich et al. 2016): the most frequent pair of neighbours becomes a piece.

    words with their counts        ▁low 5 · ▁lower 2 · ▁newest 6 · …
    each word as symbols           ▁ l o w
    again and again                count pairs of neighbouring symbols, merge the most frequent one everywhere

Models learn their pieces with the Rust library (`learnt_vocabulary.py`), which does the same far faster; a test holds
this loop equal to it, merge for merge, ties included: of pairs that occur equally often the one whose symbols were
known first is taken, characters in the order of their code points. Not here: the bound on a piece's length, the bytes
of rare characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

LEAST = 2  # a pair that occurs once is not merged, as in `learn_bpe`

Pair = tuple[str, str]


class LearntMerge(NamedTuple):
    pair: Pair
    times: int  # how often the pair occurred when it was merged

    @property
    def piece(self) -> str:
        return self.pair[0] + self.pair[1]


def learn_merges(words: Mapping[str, int], most: int) -> list[LearntMerge]:
    """At most so many merges, in the order they are learnt.

    >>> [f"{a} {b} {count}" for (a, b), count in learn_merges({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 4)]
    ['e s 9', 'es t 9', 'l o 7', 'lo w 7']
    """
    spelled = [(list(word), count) for word, count in words.items()]
    known = {symbol: number for number, symbol in enumerate(sorted({s for symbols, _ in spelled for s in symbols}))}
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)  # words that have the pair, or had it
    for number, (symbols, count) in enumerate(spelled):
        _count(symbols, count, number, counts, where)
    learnt: list[LearntMerge] = []
    while len(learnt) < most and counts:
        best = min(counts, key=lambda pair: (-counts[pair], known[pair[0]], known[pair[1]]))
        if counts[best] < LEAST:
            break
        learnt.append(LearntMerge(best, counts[best]))
        known.setdefault(best[0] + best[1], len(known))
        for number in where.pop(best):
            symbols, count = spelled[number]
            _count(symbols, -count, number, counts, where)
            symbols[:] = merged(symbols, best)
            _count(symbols, count, number, counts, where)
        counts = +counts  # without those that are gone
    return learnt


def merged(symbols: list[str], pair: Pair) -> list[str]:
    """
    >>> merged(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    found, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            found.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            found.append(symbols[i])
            i += 1
    return found


def _count(
    symbols: list[str], times: int, number: int, counts: Counter[Pair], where: defaultdict[Pair, set[int]]
) -> None:
    for pair in pairwise(symbols):
        counts[pair] += times
        where[pair].add(number)
