"""Byte-pair encoding in Python: the merge loop, and BPE-dropout (Sennrich et al. 2016; Provilkov et al. 2020).

The Rust library encodes without dropout, and a test holds this loop equal to it. Dropout is done here, because the
library's cannot be seeded. Nothing is learnt here.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

Ranks = Mapping[tuple[str, str], int]


def merge(symbols: Sequence[str], ranks: Ranks, rng: random.Random | None = None, dropout: float = 0.0) -> list[str]:
    """Merge the pair learned earliest, repeatedly; each candidate is skipped with probability `dropout`.

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


def first_drop(rng: random.Random, dropout: float) -> int:
    """How many merges in a row are done before one is skipped: one geometric draw instead of many."""
    if dropout >= 1.0:
        return 0
    return int(math.log(1.0 - rng.random()) / math.log(1.0 - dropout))


def merge_from(symbols: Sequence[str], ranks: Ranks, rng: random.Random, dropout: float, steps: int) -> list[str]:
    """`merge` with dropout, given that the best pair is skipped for the first time after `steps` merges.

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
