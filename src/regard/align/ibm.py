"""IBM model 1: which word translates which, from sentence pairs alone (Brown and others, 1993).

Every target word f_j is made by one source word e_i, or by NULL, the word e_0 that stands in every source sentence;
all positions are equally likely, so only the lexical table t(f | e) is learnt:

    p(f | e)           = ∏_j 1 / (I + 1) · Σ_i t(f_j | e_i)                        i = 0 … I
    p(a_j = i | f, e)  = t(f_j | e_i) / Σ_k t(f_j | e_k)                           the E-step
    t(f | e)           = (c(f, e) + α) / Σ_f' (c(f', e) + α)                       the M-step, α = 0 unless smoothed

where c(f, e) sums the posteriors of all places where f and e meet, and f' runs over the words that e ever meets. The
E-step of one pair is written out in `link_posteriors`; `train` does it for many pairs at once.

Axes: B sentence pairs of one group, I source words (I + 1 with NULL), T target words, P word pairs that ever meet.
RAM holds the table, which grows with P; the corpus is in temporary files (`numbered.py`) and read group by group.

This file knows nothing of word order (`hmm.py` does) or of words that translate to several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.align.numbered import (
    CELLS,
    NULL,
    DiskArray,
    Group,
    Link,
    NumberedPairs,
    Numbers,
    Sentences,
    Text,
    align_in_chunks,
    grouped,
    words_of,
)
from regard.errors import InputError

Floats = NDArray[np.float64]

UNKNOWN = -1


def link_posteriors(source: Text, target: Text, t: Callable[[str, str], float]) -> tuple[list[list[float]], float]:
    """The E-step of one sentence pair: a row for each target word, in it p(NULL), p(first source word) … ; and
    ln p(target | source). `t(target word, source word)` is the table.

    >>> link_posteriors("a b", "x", lambda f, e: {"a": 0.2, "b": 0.6, NULL: 0.2}[e])[0]
    [[0.2, 0.2, 0.6]]
    """
    rows, log_likelihood = [], 0.0
    makers = [NULL, *words_of(source)]
    for f in words_of(target):
        scores = [t(f, e) for e in makers]
        total = sum(scores)
        rows.append([score / total for score in scores])
        log_likelihood += float(np.log(total / len(makers)))
    return rows, log_likelihood


# ------------------------------------------------------------------------------------------------ the lexical table


@dataclass(frozen=True)
class LexicalTable:
    """t(target word | source word) for the pairs of words that ever meet."""

    source_words: tuple[str, ...]  # number 0 is NULL
    target_words: tuple[str, ...]
    keys: Numbers  # (P,) source number × target words + target number, rising
    probabilities: Floats  # (P,)

    @cached_property
    def source_numbers(self) -> dict[str, int]:
        return {word: n for n, word in enumerate(self.source_words)}

    @cached_property
    def target_numbers(self) -> dict[str, int]:
        return {word: n for n, word in enumerate(self.target_words)}

    @property
    def sources(self) -> Numbers:
        """(P,) the source word of each pair."""
        return self.keys // len(self.target_words)

    def places(self, source: Numbers, target: Numbers) -> Numbers:
        """Where pairs stand in `keys`; UNKNOWN for those that never met. The two shapes are broadcast."""
        wanted = np.where(target == UNKNOWN, UNKNOWN, source * len(self.target_words) + target)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where((self.keys[place] == wanted) & (source != UNKNOWN), place, UNKNOWN)

    def probability(self, target: str, source: str) -> float:
        """t(target | source); 0 for words that never met. `source` may be NULL."""
        e = self.source_numbers.get(source.casefold(), UNKNOWN)
        f = self.target_numbers.get(target.casefold(), UNKNOWN)
        place = int(self.places(np.array(e), np.array(f)))
        return 0.0 if place == UNKNOWN else float(self.probabilities[place])

    def best(self, source: str, count: int = 5) -> list[tuple[str, float]]:
        """The most probable translations of a word, best first; of equals the one that was met first."""
        e = self.source_numbers.get(source.casefold())
        if e is None:
            return []
        size = len(self.target_words)
        start, end = np.searchsorted(self.keys, [e * size, (e + 1) * size])
        row = self.probabilities[start:end]
        chosen = np.argsort(-row, kind="stable")[:count]
        return [(self.target_words[self.keys[start + n] - e * size], float(row[n])) for n in chosen]

    def estimated(self, counts: Floats, smoothing: float) -> LexicalTable:
        """The M-step: counts (P,) become probabilities that sum to one for each source word."""
        counts = counts + smoothing
        totals = np.bincount(self.sources, weights=counts, minlength=len(self.source_words))
        totals[totals == 0] = 1.0  # a word whose every meeting has been explained by others
        return replace(self, probabilities=counts / totals[self.sources])

    def numbered(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[Group]:
        """Any sentence pairs in the numbers of this table, UNKNOWN where a word is."""
        sources, targets = [], []
        for source, target in pairs:
            sources.append([self.source_numbers.get(w, UNKNOWN) for w in words_of(source)])
            targets.append([self.target_numbers.get(w, UNKNOWN) for w in words_of(target)])
        return grouped(Sentences.of(sources), Sentences.of(targets))

    def emissions(self, group: Group) -> Floats:
        """(B, T, I + 1): t(f_j | e_i), 0 where the words never met."""
        place = self.places(group.source[:, None, :], group.target[:, :, None])
        return np.where(place == UNKNOWN, 0.0, self.probabilities[place])


class Meetings:
    """Where the word pairs of a corpus stand in the keys of a table, group by group, in a temporary file."""

    def __init__(self, table: LexicalTable, pairs: NumberedPairs) -> None:
        self._stored = DiskArray(np.int32)
        self._shapes: list[tuple[int, int, int]] = []  # of each group: B, target words, I + 1
        for group in pairs.groups():
            places = table.places(group.source[:, None, :], group.target[:, :, None])[group.mask]  # (words, I + 1)
            self._stored.append(group.mask.sum(axis=1))
            self._stored.append(places)
            self._shapes.append((len(group.pairs), *places.shape))

    def __iter__(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.int32]]]:
        """Of each group the mask (B, T), and the places (words, I + 1) of all its target words, padding left out."""
        start = 0
        for pairs, words, positions in self._shapes:
            stored = self._stored.read(start, pairs + words * positions)
            lengths, places = stored[:pairs], stored[pairs:].reshape(words, positions)
            yield np.arange(lengths.max()) < lengths[:, None], places
            start += len(stored)


def meetings(pairs: NumberedPairs) -> tuple[LexicalTable, Meetings]:
    """A table in which all translations of all words are equally likely, and where its entries meet."""
    size = len(pairs.target_words)
    keys = _distinct(_met(group, size) for group in pairs.groups())
    table = LexicalTable((NULL, *pairs.source_words), pairs.target_words, keys, np.full(len(keys), 1 / size))
    return table, Meetings(table, pairs)


def _met(group: Group, size: int) -> Numbers:
    keys = group.source[:, None, :] * size + group.target[:, :, None]  # (B, T, I + 1)
    return np.unique(keys[group.mask])


def _distinct(parts: Iterable[Numbers]) -> Numbers:
    """The distinct numbers, rising. They are merged whenever there are more new ones than known ones."""
    known, new = np.empty(0, dtype=np.int64), list[Numbers]()
    for part in parts:
        new.append(part)
        if sum(map(len, new)) > max(len(known), CELLS):
            known, new = np.unique(np.concatenate([known, *new])), []
    return np.unique(np.concatenate([known, *new]))


# ------------------------------------------------------------------------------------------------ the model


@dataclass(frozen=True)
class Model1:
    table: LexicalTable
    log_likelihoods: tuple[float, ...]  # of all pairs, by the table that each iteration started from

    def align(self, source: Text, target: Text) -> list[Link]:
        """The link of each target word with the source word that most probably made it, NULL's left out."""
        return self.align_all([(source, target)])[0]

    def align_all(self, pairs: Sequence[tuple[Text, Text]]) -> list[list[Link]]:
        links: list[list[Link]] = [[] for _ in pairs]
        for group in self.table.numbered(pairs):
            makers = self.table.emissions(group).argmax(axis=2)  # (B, T); NULL comes first and wins where all are 0
            for pair, row, mask in zip(group.pairs, makers, group.mask, strict=True):
                links[pair] = links_of(row[mask])
        return links

    def align_each(self, pairs: Iterable[tuple[Text, Text]]) -> Iterator[list[Link]]:
        """As `align_all`, for a stream of any length."""
        return align_in_chunks(pairs, self.align_all)


def links_of(makers: Numbers) -> list[Link]:
    """From the maker of each target word, 0 for NULL.

    >>> links_of(np.array([2, 0, 1]))
    [(0, 2), (1, 0)]
    """
    return sorted((int(maker) - 1, j) for j, maker in enumerate(makers) if maker > 0)


def train(pairs: Iterable[tuple[Text, Text]], iterations: int = 5, smoothing: float = 0.0) -> Model1:
    """Model 1 from (source, target) pairs, which are read once, by EM. Without smoothing the likelihood never falls."""
    return train_on(*meetings(NumberedPairs.of(pairs)), iterations, smoothing)


def train_on(table: LexicalTable, met: Meetings, iterations: int, smoothing: float) -> Model1:
    if iterations < 1 or smoothing < 0:
        raise InputError(
            f"model 1 takes one iteration or more and a smoothing of 0 or more, but got {iterations} and {smoothing}"
        )
    log_likelihoods = []
    for _ in range(iterations):
        counts = np.zeros(len(table.keys))
        log_likelihood = 0.0
        for _, places in met:
            scores = table.probabilities[places]  # (words, I + 1)
            totals = scores.sum(axis=1, keepdims=True)
            counts += np.bincount(places.ravel(), (scores / totals).ravel(), minlength=len(counts))
            log_likelihood += float(np.log(totals / places.shape[1]).sum())
        table = table.estimated(counts, smoothing)
        log_likelihoods.append(log_likelihood)
    return Model1(table, tuple(log_likelihoods))
