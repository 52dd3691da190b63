"""Phrase pairs from aligned sentence pairs (Koehn, Och and Marcu, 2003).

A source span and a target span are a phrase pair if they are consistent with the alignment: at least one link joins
them, and no link joins a word inside either to a word outside the other. Target words without a link at the border may
belong to it or not, so they give several pairs.

    michael geht davon aus , dass er im haus bleibt          geht davon aus , — assumes
    michael assumes that he will stay in the house           geht davon aus — assumes  …

`extract_phrases` is the definition, for one sentence pair. `occurrences` finds the same in a whole corpus at once, with
one array operation for each length of a phrase; a test compares the two.

Axes: N source words and M target words of the whole corpus, L links.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from regard.align.numbered import Link, Numbers, Sentences

LONGEST = 5  # maximum words of a phrase

Span = tuple[int, int]  # the first word, and the word after the last


def extract_phrases(source: int, target: int, links: Sequence[Link], longest: int = LONGEST) -> set[tuple[Span, Span]]:
    """Returns all consistent pairs of spans of a source and a target with these numbers of words.

    >>> sorted(extract_phrases(2, 2, [(0, 1), (1, 0)]))
    [((0, 1), (1, 2)), ((0, 2), (0, 2)), ((1, 2), (0, 1))]
    """
    spans = {
        size: [(a, b) for a in range(size) for b in range(a + 1, min(a + longest, size) + 1)]
        for size in (source, target)
    }
    found = set()
    for first, last in spans[source]:
        for start, end in spans[target]:
            inside = [(first <= i < last, start <= j < end) for i, j in links]
            if (True, True) in inside and all(one == other for one, other in inside):
                found.add(((first, last), (start, end)))
    return found


# ------------------------------------------------------------------------------------------------ a whole corpus


class CorpusLinks(NamedTuple):
    """The links of all sentence pairs, as positions in the whole text of each side."""

    source: Numbers  # (L,)
    target: Numbers  # (L,)

    @classmethod
    def of(cls, links: Sequence[Sequence[Link]], source: Sentences, target: Sentences) -> CorpusLinks:
        """Converts the links of each sentence pair to positions in the corpus."""
        counts = [len(some) for some in links]
        flat = np.array([link for some in links for link in some], dtype=np.int64).reshape(-1, 2)
        starts = np.repeat(np.stack([source.starts(), target.starts()], axis=1), counts, axis=0)
        return cls(*(flat + starts).T)


class Occurrences(NamedTuple):
    """Occurrences of phrase pairs in the corpus: `length` source words from position `source`, and so on."""

    source: Numbers
    length: int
    target: Numbers
    target_lengths: Numbers


class LinkedRange(NamedTuple):
    """The lowest and the highest position linked to the words of each span; row n is for spans of n + 1 words."""

    low: Numbers  # (longest, N)
    high: Numbers  # (longest, N); −1 where no word has a link


def occurrences(
    links: CorpusLinks, source: Sentences, target: Sentences, longest: int = LONGEST
) -> Iterator[Occurrences]:
    """Yields every phrase pair of every sentence pair."""
    forward = linked_range(links.source, links.target, source, longest)
    backward = linked_range(links.target, links.source, target, longest)
    before, after = unlinked_words(backward.high[0] < 0, target, longest)
    for length in range(1, longest + 1):
        low, high = forward.low[length - 1], forward.high[length - 1]
        start = np.flatnonzero((high >= 0) & (high - low < longest))
        low, width = low[start], high[start] - low[start] + 1
        closed = (backward.low[width - 1, low] >= start) & (backward.high[width - 1, low] < start + length)
        start, low, width = start[closed], low[closed], width[closed]
        for left in range(longest):
            for right in range(longest - left):
                fits = (left <= before[low]) & (right <= after[low + width - 1]) & (width + left + right <= longest)
                if fits.any():
                    yield Occurrences(start[fits], length, low[fits] - left, width[fits] + left + right)


def linked_range(words: Numbers, partners: Numbers, text: Sentences, longest: int) -> LinkedRange:
    """Returns the linked range of every span of up to `longest` words; a span that leaves its sentence has no links."""
    size = len(text.numbers)
    nowhere = np.iinfo(np.int64).max
    low, high = np.full((longest, size), nowhere), np.full((longest, size), -1)
    np.minimum.at(low[0], words, partners)
    np.maximum.at(high[0], words, partners)
    left = np.repeat(np.cumsum(text.lengths), text.lengths) - np.arange(size)  # words to the sentence's end
    for n in range(1, min(longest, size)):
        low[n, : size - n] = np.minimum(low[n - 1, : size - n], low[0, n:])
        high[n, : size - n] = np.maximum(high[n - 1, : size - n], high[0, n:])
        low[n, left <= n], high[n, left <= n] = nowhere, -1
    return LinkedRange(low, high)


def unlinked_words(free: Numbers, text: Sentences, longest: int) -> tuple[Numbers, Numbers]:
    """Returns the numbers (M,) of unlinked words directly before and directly after each word, at most `longest`."""
    sentence = np.repeat(np.arange(len(text.lengths)), text.lengths)
    before, after = np.zeros(len(free), dtype=np.int64), np.zeros(len(free), dtype=np.int64)
    if not len(free):
        return before, after
    same = free[:-1] & (sentence[1:] == sentence[:-1])
    other = free[1:] & (sentence[1:] == sentence[:-1])
    for _ in range(longest):  # each round extends by one word
        before[1:] = np.where(same, before[:-1] + 1, 0)
        after[:-1] = np.where(other, after[1:] + 1, 0)
    return np.minimum(before, longest), np.minimum(after, longest)
