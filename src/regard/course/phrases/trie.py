"""All n-grams of a text as one trie in flat arrays: the basis of the phrase table and the language model.

    node 0            the empty n-gram
    nodes 1 … V       the words, in the order of their numbers
    nodes V + 1 …     the bigrams that occur, by their first word, then by their second; then the trigrams, …

In this order the children of a node are contiguous, sorted by their last word, and followed by the children of the next
node: one array has the start of each node's children, among which a binary search finds a child. A node takes twelve
bytes. The trie is built level by level, each by one sort of the whole text.

Axes: N words of the whole text, K orders.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.align.numbered import Numbers, Sentences

Int32 = NDArray[np.int32]
ABSENT = -1


@dataclass(frozen=True)
class NgramTrie:
    """All n-grams of a text."""

    words: Int32  # (nodes,) the last word of each n-gram
    parents: Int32  # (nodes,) the n-gram without its last word
    levels: tuple[int, ...]  # where the n-grams of 0, 1, 2, … words begin, and the number of all nodes

    @cached_property
    def first(self) -> Int32:
        """(nodes + 1,) the index of the first child of each node, also for nodes without children."""
        found: Int32 = (1 + np.searchsorted(self.parents[1:], np.arange(len(self.words) + 1))).astype(np.int32)
        return found

    @cached_property
    def _views(self) -> tuple[memoryview, memoryview]:
        """The arrays as memoryviews, from which Python reads single numbers fastest."""
        return np.ascontiguousarray(self.words).data, self.first.data

    def child(self, node: int, word: int) -> int:
        """Returns the n-gram extended by one word, or ABSENT."""
        words, first = self._views
        end = first[node + 1]
        place = bisect_left(words, word, first[node], end)
        return place if place < end and words[place] == word else ABSENT

    def find(self, words: Sequence[int]) -> int:
        """Returns the node of an n-gram, or ABSENT."""
        node = 0
        for word in words:
            node = self.child(node, word)
            if node == ABSENT:
                break
        return node

    def spell(self, node: int) -> list[int]:
        """Returns the words of an n-gram.

        >>> text = Sentences.of([[0, 1, 0, 2]])
        >>> trie, _ = build_trie(text, 3, 2)
        >>> trie.spell(trie.find([1, 0]))
        [1, 0]
        """
        words = []
        while node:
            words.append(int(self.words[node]))
            node = int(self.parents[node])
        return words[::-1]


def build_trie(text: Sentences, vocabulary: int, order: int) -> tuple[NgramTrie, list[Numbers]]:
    """Builds the trie of all n-grams of up to `order` words; also returns, for each n, the node (N,) of the n-gram that
    begins at each word of the text, or ABSENT if the sentence ends within it."""
    numbers = np.asarray(text.numbers, dtype=np.int64)
    left = np.repeat(np.cumsum(text.lengths), text.lengths) - np.arange(len(numbers))  # words to the sentence's end
    words, parents = [np.zeros(1), np.arange(vocabulary)], [np.zeros(1), np.zeros(vocabulary)]
    levels, at = [0, 1, 1 + vocabulary], [1 + numbers]
    for n in range(2, order + 1):
        whole = np.flatnonzero(left >= n)
        keys = at[-1][whole] * vocabulary + numbers[whole + n - 1]
        known, places = np.unique(keys, return_inverse=True)
        words.append(known % vocabulary)
        parents.append(known // vocabulary)
        nodes = np.full(len(numbers), ABSENT, dtype=np.int64)
        nodes[whole] = levels[-1] + places.reshape(-1)
        at.append(nodes)
        levels.append(levels[-1] + len(known))
    trie = NgramTrie(np.concatenate(words).astype(np.int32), np.concatenate(parents).astype(np.int32), tuple(levels))
    return trie, at
