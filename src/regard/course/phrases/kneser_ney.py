"""An n-gram language model with interpolated modified Kneser–Ney smoothing (Chen and Goodman, 1998).

    p(w | h)  = (c(hw) − D(c(hw))) / Σ_w' c(hw') + γ(h) · p(w | h')        h': h without its first word
    γ(h)      = (D₁ · N₁(h·) + D₂ · N₂(h·) + D₃ · N₃₊(h·)) / Σ_w' c(hw')   Nₖ(h·): words seen k times after h
    Dₖ        = k − (k + 1) · Y · nₖ₊₁ / nₖ,  Y = n₁ / (n₁ + 2 n₂)         nₖ: n-grams of this order seen k times

For the highest order c is the count of an n-gram; for the others it is the number of different words before it, so that
"Francisco", which follows only "San", is improbable elsewhere. An n-gram at the start of a sentence, which no word can
precede, keeps its own count. Words are interpolated with 1 / (words + 2): an unknown word and the end of the sentence
are possible too. If a text is too small to estimate a D, it is k/2, as in KenLM.

A node of the trie (`trie.py`) stores ln p of its last word, ln γ, and its suffix: the n-gram without its first word. So
a state is a node, the longest known suffix of the output; a word that does not follow there costs γ, and is searched
for after the node's suffix. Nothing is pruned. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from regard.align.ibm import Floats
from regard.align.numbered import Numbers, Sentences
from regard.course.phrases.trie import ABSENT, Int32, NgramTrie, build_trie

ORDER = 5


@dataclass(frozen=True)
class KneserNey:
    """A language model over words that are numbered from 0 to `size` − 1."""

    trie: NgramTrie
    log_probs: Floats  # (nodes,) ln p of the last word after the others
    log_backoffs: Floats  # (nodes,) ln γ
    suffixes: Int32  # (nodes,)

    @property
    def size(self) -> int:
        """The number of words of the text; the three numbers after them are UNKNOWN, BEGIN and END."""
        return self.trie.levels[2] - 4

    @property
    def unknown(self) -> int:
        return self.size

    @property
    def end(self) -> int:
        return self.size + 2

    @property
    def start(self) -> int:
        """The state at the beginning of a sentence."""
        return 1 + self.size + 1

    @cached_property
    def _known(self) -> dict[int, tuple[float, int]]:
        return {}

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview, memoryview]:
        arrays = (self.log_probs, self.log_backoffs, self.suffixes)
        one, two, three = (np.ascontiguousarray(array).data for array in arrays)
        return one, two, three

    def follow(self, state: int, word: int) -> tuple[float, int]:
        """Returns ln p(word | state), and the state after it."""
        key = state * (self.size + 3) + word
        found = self._known.get(key)
        if found is None:
            if len(self._known) > _MEMORY:
                self._known.clear()
            found = self._known[key] = self._follow(state, word)
        return found

    def _follow(self, state: int, word: int) -> tuple[float, int]:
        log_probs, log_backoffs, suffixes = self._views
        total = 0.0
        while state:
            child = self.trie.child(state, word)
            if child != ABSENT:
                break
            total += log_backoffs[state]
            state = suffixes[state]
        else:
            child = 1 + word
        return total + log_probs[child], suffixes[child] if child >= self.trie.levels[-2] else child

    def log_prob(self, words: Iterable[int]) -> float:
        """Returns ln p of a sentence, including its end."""
        total, state = 0.0, self.start
        for word in (*words, self.end):
            gain, state = self.follow(state, word)
            total += gain
        return total


_MEMORY = 2_000_000  # maximum cached results, of some 150 bytes each


def train_language_model(text: Sentences, size: int, order: int = ORDER) -> KneserNey:
    """Trains on sentences of words numbered 0 … `size` − 1."""
    numbers, lengths = with_boundaries(text, begin=size + 1, end=size + 2)
    trie, at = build_trie(Sentences(numbers, lengths), size + 3, order)
    nodes = trie.levels[-1]
    suffixes, begins = np.zeros(nodes, dtype=np.int32), np.zeros(nodes, dtype=bool)
    counts = np.zeros(nodes, dtype=np.int64)
    for n in range(1, order + 1):
        here = np.flatnonzero(at[n - 1] != ABSENT)
        nodes_here = at[n - 1][here]
        counts += np.bincount(nodes_here, minlength=nodes)
        begins[nodes_here] = numbers[here] == size + 1
        if n > 1:
            suffixes[nodes_here] = at[n - 2][here + 1]
    for n in range(1, order):
        level, above = slice(trie.levels[n], trie.levels[n + 1]), slice(trie.levels[n + 1], trie.levels[n + 2])
        different = np.bincount(suffixes[above], minlength=nodes)[level]
        counts[level] = np.where(begins[level] & (n > 1), counts[level], different)
    log_probs, log_backoffs = interpolated(trie, suffixes, counts)
    return KneserNey(trie, log_probs, log_backoffs, suffixes)


def with_boundaries(text: Sentences, begin: int, end: int) -> tuple[Numbers, Numbers]:
    """Puts every sentence between two marks; returns all numbers concatenated, and the lengths."""
    starts = text.starts()
    ends = starts + text.lengths
    places = np.stack([starts, ends], axis=1).ravel()
    marks = np.tile([begin, end], len(starts))
    return np.insert(np.asarray(text.numbers, dtype=np.int64), places, marks), text.lengths + 2


def interpolated(trie: NgramTrie, suffixes: Int32, counts: Numbers) -> tuple[Floats, Floats]:
    """Returns ln p and ln γ of every node, computed order by order from single words upwards."""
    probs, backoffs = np.zeros(len(counts)), np.ones(len(counts))
    probs[0] = 1 / (trie.levels[2] - 2)  # uniform over words, UNKNOWN and END
    for n in range(1, len(trie.levels) - 1):
        level = slice(trie.levels[n], trie.levels[n + 1])
        parents, count = trie.parents[level], counts[level]
        discount = discounts(count)[np.minimum(count, 3)]
        sums = np.bincount(parents, weights=count, minlength=level.start)
        freed = np.bincount(parents, weights=discount, minlength=level.start)
        with_children = sums > 0
        backoffs[: level.start][with_children] = freed[with_children] / sums[with_children]
        own = np.divide(count - discount, sums[parents], out=np.zeros(len(count)), where=sums[parents] > 0)
        probs[level] = own + backoffs[parents] * probs[suffixes[level]]
    with np.errstate(divide="ignore"):
        return np.log(probs), np.log(backoffs)


def discounts(counts: Numbers) -> Floats:
    """Returns D of an n-gram that was seen 0, 1, 2, and 3 times or more.

    >>> discounts(np.repeat([1, 2, 3, 4], [8, 4, 2, 1])).tolist()
    [0.0, 0.5, 1.25, 2.0]
    """
    n1, n2, n3, n4 = (float(np.count_nonzero(counts == k)) for k in (1, 2, 3, 4))
    if not all((n1, n2, n3, n4)):
        return np.array([0.0, 0.5, 1.0, 1.5])
    y = n1 / (n1 + 2 * n2)
    found = np.array([0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3])
    return found if found[1:].min() > 0 else np.array([0.0, 0.5, 1.0, 1.5])
