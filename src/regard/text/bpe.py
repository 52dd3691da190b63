"""Byte-pair encoding in Python (Sennrich et al. 2016): the merge loop, BPE-dropout (Provilkov et al. 2020), learning.

Vocabularies are learned by the Rust library `tokenizers`, which is far faster; tests compare all of this with it.
Learning repeatedly merges the most frequent pair of neighboring symbols:

    words with their counts        ▁low 5 · ▁lower 2 · ▁newest 6 · …
    each word as symbols           ▁ l o w
    repeatedly                     count pairs of neighboring symbols, merge the most frequent one everywhere

Of equally frequent pairs the one whose symbols were known first is taken, characters in the order of their code points.
Not here: the bound on a piece's length, the bytes of rare characters.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

MIN_COUNT = 2  # a pair that occurs once is not merged, as in `learn_bpe`

Pair = tuple[str, str]
Ranks = Mapping[Pair, int]


def merge(symbols: Sequence[str], ranks: Ranks, rng: random.Random | None = None, dropout: float = 0.0) -> list[str]:
    """Repeatedly merges the pair learned earliest; each candidate is skipped with probability `dropout`.

    >>> merge("chat", {("c", "h"): 0, ("a", "t"): 1, ("ch", "at"): 2})
    ['chat']
    """
    symbols = list(symbols)
    while True:
        candidates = [
            (ranks[pair], i)
            for i, pair in enumerate(pairwise(symbols))
            if pair in ranks and not (rng and rng.random() < dropout)
        ]
        if not candidates:
            return symbols
        _, i = min(candidates)
        symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


def merge_by_heap(symbols: Sequence[str], ranks: Ranks) -> list[str]:
    """Like `merge` without dropout, in O(n log n): a text may be one long word.

    >>> merge_by_heap("chat", {("c", "h"): 0, ("a", "t"): 1, ("ch", "at"): 2})
    ['chat']
    """
    parts = [*symbols]  # a merge leaves "" in the place of its second symbol
    before, after = [*range(-1, len(parts) - 1)], [*range(1, len(parts) + 1)]
    heap = [(ranks[pair], i, pair) for i, pair in enumerate(pairwise(parts)) if pair in ranks]
    heapq.heapify(heap)
    while heap:
        _, i, pair = heapq.heappop(heap)
        j = after[i]
        if j == len(parts) or (parts[i], parts[j]) != pair:  # another merge took one of the two
            continue
        parts[i], parts[j] = parts[i] + parts[j], ""
        after[i] = after[j]
        if after[j] < len(parts):
            before[after[j]] = i
        for left, right in ((before[i], i), (i, after[i])):
            if left >= 0 and right < len(parts) and (pair := (parts[left], parts[right])) in ranks:
                heapq.heappush(heap, (ranks[pair], left, pair))
    return [part for part in parts if part]


def first_drop(rng: random.Random, dropout: float) -> int:
    """Draws the number of merges before the first one that is skipped: one geometric draw instead of many."""
    if dropout >= 1.0:
        return 0
    return int(math.log(1.0 - rng.random()) / math.log(1.0 - dropout))


def merge_from(symbols: Sequence[str], ranks: Ranks, rng: random.Random, dropout: float, steps: int) -> list[str]:
    """Like `merge` with dropout, given that the best pair is skipped for the first time after `steps` merges.

    A word that needs k merges is unchanged when `first_drop` is at least k; only otherwise is it merged again. Both
    cases together have exactly the distribution of `merge(symbols, ranks, rng, dropout)`.
    """
    symbols = list(symbols)
    for step in range(steps + 1):
        candidates = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
        best = min(candidates)
        if step == steps:  # skip the best, and each other one with probability `dropout`
            candidates = [c for c in candidates if c != best and rng.random() >= dropout]
            if not candidates:
                return symbols
            best = min(candidates)
        i = best[1]
        symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
    return merge(symbols, ranks, rng, dropout)


class LearnedMerge(NamedTuple):
    pair: Pair
    times: int  # occurrences of the pair when it was merged

    @property
    def piece(self) -> str:
        return self.pair[0] + self.pair[1]


def learn_merges(words: Mapping[str, int], most: int) -> list[LearnedMerge]:
    """Returns at most `most` merges, in the order in which they are learned.

    >>> [f"{a} {b} {count}" for (a, b), count in learn_merges({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 4)]
    ['e s 9', 'es t 9', 'l o 7', 'lo w 7']
    """
    spelled = [(list(word), count) for word, count in words.items()]
    known = {symbol: number for number, symbol in enumerate(sorted({s for symbols, _ in spelled for s in symbols}))}
    counts: Counter[Pair] = Counter()
    where: defaultdict[Pair, set[int]] = defaultdict(set)  # words that contain or contained the pair

    def count_pairs(number: int, times: int) -> None:
        for pair in pairwise(spelled[number][0]):
            counts[pair] += times
            where[pair].add(number)

    for number, (_, count) in enumerate(spelled):
        count_pairs(number, count)
    learned: list[LearnedMerge] = []
    while len(learned) < most and counts:
        best = min(counts, key=lambda pair: (-counts[pair], known[pair[0]], known[pair[1]]))
        if counts[best] < MIN_COUNT:
            break
        learned.append(LearnedMerge(best, counts[best]))
        known.setdefault(best[0] + best[1], len(known))
        for number in where.pop(best):
            symbols, count = spelled[number]
            count_pairs(number, -count)
            symbols[:] = merge_pair(symbols, best)
            count_pairs(number, count)
        counts = +counts  # removes pairs without occurrences
    return learned


def merge_pair(symbols: Sequence[str], pair: Pair) -> list[str]:
    """
    >>> merge_pair(["a", "a", "a"], ("a", "a"))
    ['aa', 'a']
    """
    merged: list[str] = []
    for symbol in symbols:
        if merged and (merged[-1], symbol) == pair:
            merged[-1] += symbol
        else:
            merged.append(symbol)
    return merged
