"""The phrase table: the translations of every phrase, each with four scores (Koehn, Och and Marcu, 2003).

    p(t | s), p(s | t)    count of the pair ÷ count of the given phrase
    lex(t | s)            ∏_j 1/|{i: (i, j) linked}| Σ_i w(t_j | s_i),  w(t | s) the share of the links of s that t has
    lex(s | t)            the same in the other direction

A word without a link is linked to NULL. The lexical weights estimate whether a rare pair is plausible word by word; if
a pair has several alignments, the best one counts.

A phrase pair contains every link of its words, so a word's factor of lex does not depend on the phrase that it is in:
the weight of a phrase is a difference of two cumulative sums over the corpus.

Phrases are nodes of two tries (`trie.py`); the entries of one source phrase are contiguous, best first. Axes: N source
words, M target words, E entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.align.ibm import Floats
from regard.align.numbered import Link, NumberedPairs, Numbers
from regard.course.phrases.extract import LONGEST, CorpusLinks, occurrences
from regard.course.phrases.trie import ABSENT, Int32, NgramTrie, build_trie
from regard.errors import InputError

SCORES = ("p(t|s)", "p(s|t)", "lex(t|s)", "lex(s|t)")
KEPT = 30  # maximum translations of a phrase


@dataclass(frozen=True)
class PhraseTable:
    """Phrase pairs with their scores."""

    source: NgramTrie
    target: NgramTrie
    first: Int32  # (source nodes + 1,) the first entry of each source phrase
    targets: Int32  # (E,) nodes of the target trie
    scores: NDArray[np.float32]  # (E, 4) natural logarithms, in the order of SCORES

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def longest(self) -> int:
        return len(self.source.levels) - 2

    def lookup(self, words: Sequence[int]) -> list[tuple[list[int], list[float]]]:
        """Returns the words and scores of the translations of a phrase; empty if it was never extracted."""
        node = self.source.find(words)
        if node == ABSENT:
            return []
        place = slice(self.first[node], self.first[node + 1])
        return [
            (self.target.spell(int(target)), scores)
            for target, scores in zip(self.targets[place], self.scores[place].tolist(), strict=True)
        ]


def build_table(
    pairs: NumberedPairs, links: Sequence[Sequence[Link]], longest: int = LONGEST, kept: int = KEPT
) -> PhraseTable:
    """Builds the table of a corpus from the links of each of its pairs."""
    joined = CorpusLinks.of(links, pairs.source, pairs.target)
    source, source_at = build_trie(pairs.source, len(pairs.source_words), longest)
    target, target_at = build_trie(pairs.target, len(pairs.target_words), longest)
    to_target = cumulative_log(word_factors(pairs.source.numbers, pairs.target.numbers, joined))
    to_source = cumulative_log(word_factors(pairs.target.numbers, pairs.source.numbers, CorpusLinks(*joined[::-1])))
    starting = np.stack(target_at)  # (longest, M)
    keys, forward, backward = [], [], []
    for found in occurrences(joined, pairs.source, pairs.target, longest):
        keys.append(
            source_at[found.length - 1][found.source] * target.levels[-1]
            + starting[found.target_lengths - 1, found.target]
        )
        forward.append(to_target[found.target + found.target_lengths] - to_target[found.target])
        backward.append(to_source[found.source + found.length] - to_source[found.source])
    if not keys:
        raise InputError("no phrase can be extracted, because the aligner found no link; give more sentence pairs")
    lexical = [np.concatenate(parts).astype(np.float32) for parts in (forward, backward)]
    return _scored(source, target, np.concatenate(keys), lexical, kept)


def _scored(
    source: NgramTrie, target: NgramTrie, keys: Numbers, lexical: list[NDArray[np.float32]], kept: int
) -> PhraseTable:
    """Counts and scores occurrences, given by a key and two lexical weights each; keeps the best of each phrase."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.diff(first, append=len(keys)).astype(np.float64)
    sources, targets = np.divmod(keys[first], target.levels[-1])
    scores = np.stack(
        [
            np.log(counts / np.bincount(sources, counts)[sources]),
            np.log(counts / np.bincount(targets, counts)[targets]),
            *(np.maximum.reduceat(one[order], first) for one in lexical),
        ],
        axis=1,
    ).astype(np.float32)
    best = np.lexsort((-scores[:, 2], -scores[:, 0], sources))
    starts = np.searchsorted(sources[best], sources[best])
    best = best[np.arange(len(best)) - starts < kept]
    entries = np.searchsorted(sources[best], np.arange(source.levels[-1] + 1))
    return PhraseTable(source, target, entries.astype(np.int32), targets[best].astype(np.int32), scores[best])


# ------------------------------------------------------------------------------------------------ lexical weights


def word_factors(source: Numbers, target: Numbers, links: CorpusLinks) -> Floats:
    """Returns (M,): for each target word of the corpus the mean of w(word | source word) over its links; NULL is 0.

    >>> links = CorpusLinks(np.array([0, 1]), np.array([0, 0]))
    >>> word_factors(np.array([5, 6]), np.array([7, 7]), links).tolist()
    [1.0, 1.0]
    """
    free = np.setdiff1d(np.arange(len(target)), links.target)
    places = np.concatenate([links.target, free])
    source_words = np.concatenate([1 + np.asarray(source, dtype=np.int64)[links.source], np.zeros_like(free)])
    words = np.asarray(target, dtype=np.int64)[places]
    _, pair, count = np.unique(source_words * (words.max() + 1) + words, return_inverse=True, return_counts=True)
    w = count[pair.reshape(-1)] / np.bincount(source_words)[source_words]
    factors: Floats = np.bincount(places, w, minlength=len(target)) / np.bincount(places, minlength=len(target))
    return factors


def cumulative_log(factors: Floats) -> Floats:
    """Returns (M + 1,): the logarithm of the product of all factors before each word."""
    sums: Floats = np.concatenate([[0.0], np.cumsum(np.log(factors))])
    return sums
