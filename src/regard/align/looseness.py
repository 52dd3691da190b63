"""Scores how loosely two sentences translate each other, by the word associations that an aligner finds.

Model 1 is trained in both directions on a sample of the corpus itself (`ibm.py`). The association of two words is

    gain(e, f) = ½ ln t(f | e) / p(f) + ½ ln t(e | f) / p(e)        in nats

(0 where either word does not make the other more likely),

and the score of a pair is the gain of each word's best partner, averaged over the known words of each side, then over
the two sides. Sentences that are no translations have few partners and score near 0, whatever their length; a sentence
half of which is translated loses half of its side's gain. Words are `key_words`: no case, no punctuation. Words that
occur fewer than FEWEST times in the sample are unknown and are ignored: model 1 pairs rare words at random.

Axes: L sentence pairs, C cells (a source word and a target word of one pair).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from regard.align import ibm
from regard.align.ibm import Floats
from regard.align.numbered import NumberedPairs, Numbers

FEWEST = 3  # minimum occurrences of a known word in the sample
LEAST = 0.5  # minimum gain that is kept, in nats
COMMON = 0.005  # words at or above this share of a side are left out: articles and the like occur with everything
ITERATIONS = 4
LONGEST = 60  # maximum words of a side; longer ones are cut, because cells grow with the product
ENOUGH = 3  # minimum known words of each side for a pair to be scored
CELLS = 1 << 20  # maximum cells looked up at a time
SLOT_BITS = 24
MIX = np.uint64(0x9E3779B97F4A7C15)  # the golden ratio in 64 bits: spreads neighbouring keys

Words = Sequence[str]


@dataclass(frozen=True)
class Association:
    """Association gains between the words of two languages."""

    source_numbers: dict[str, int]
    target_numbers: dict[str, int]
    keys: Numbers  # (P,) source number × target words + target number, ascending
    gains: NDArray[np.float32]  # (P,)
    occupied: NDArray[np.bool_]  # (2^SLOT_BITS,) whether any key falls into a slot; rules out most cells quickly

    def scores(self, sources: Sequence[Words], targets: Sequence[Words]) -> NDArray[np.float32]:
        """Returns the scores (L,) in nats per word; NaN for pairs with too few known words on a side."""
        parts = []
        start, cells = 0, 0
        for end, (source, target) in enumerate(zip(sources, targets, strict=True), start=1):
            cells += min(len(source), LONGEST) * min(len(target), LONGEST)
            if cells > CELLS or end == len(sources):
                parts.append(self._scores(sources[start:end], targets[start:end]))
                start, cells = end, 0
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _gains(self, keys: Numbers) -> NDArray[np.float32]:
        """Looks up the gains (C,) of keys; 0 for unknown ones."""
        found = np.zeros(len(keys), np.float32)
        likely = np.flatnonzero(self.occupied[slots(keys)])
        place = np.minimum(np.searchsorted(self.keys, keys[likely]), len(self.keys) - 1)
        found[likely] = np.where(self.keys[place] == keys[likely], self.gains[place], 0)
        return found

    def _scores(self, sources: Sequence[Words], targets: Sequence[Words]) -> NDArray[np.float32]:
        e, f = Side.of(sources, self.source_numbers), Side.of(targets, self.target_numbers)
        at_e, at_f = cells_of(e, f)
        gains = self._gains(e.numbers[at_e] * len(self.target_numbers) + f.numbers[at_f])
        some = np.flatnonzero(gains)
        best_e, best_f = np.zeros(len(e.numbers), np.float32), np.zeros(len(f.numbers), np.float32)
        np.maximum.at(best_e, at_e[some], gains[some])
        np.maximum.at(best_f, at_f[some], gains[some])
        score = (e.means(best_e) + f.means(best_f)) / 2
        score[np.minimum(e.lengths, f.lengths) < ENOUGH] = np.nan
        return score.astype(np.float32)


@dataclass(frozen=True)
class Side:
    """The known words of some sentences, concatenated."""

    numbers: Numbers
    lengths: Numbers  # (L,)

    @classmethod
    def of(cls, sentences: Sequence[Words], vocabulary: dict[str, int]) -> Side:
        known = [[vocabulary[w] for w in words[:LONGEST] if w in vocabulary] for words in sentences]
        flat = np.array([number for line in known for number in line], dtype=np.int64)
        return cls(flat, np.array([len(line) for line in known], dtype=np.int64))

    def means(self, values: NDArray[np.float32]) -> Floats:
        """Returns the mean (L,) of each sentence's values; 0 if it has none."""
        line = np.repeat(np.arange(len(self.lengths)), self.lengths)
        sums = np.bincount(line, values, minlength=len(self.lengths))
        return sums / np.maximum(self.lengths, 1)


def cells_of(source: Side, target: Side) -> tuple[Numbers, Numbers]:
    """Returns the indices of the source word and of the target word of every cell, each (C,).

    >>> one, two = Side(np.array([7, 8]), np.array([2])), Side(np.array([4, 5, 6]), np.array([3]))
    >>> [place.tolist() for place in cells_of(one, two)]
    [[0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]]
    """
    counts = source.lengths * target.lengths
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    width = np.repeat(source.lengths, counts)
    starts = [np.repeat(np.cumsum(side.lengths) - side.lengths, counts) for side in (source, target)]
    return starts[0] + within % width, starts[1] + within // width


def slots(keys: Numbers) -> NDArray[np.uint64]:
    """The slot of each key in `Association.occupied`."""
    return (keys.astype(np.uint64) * MIX) >> np.uint64(64 - SLOT_BITS)


def learn_association(pairs: Iterable[tuple[Words, Words]]) -> Association:
    """Learns an association from a sample of some hundred thousand sentence pairs: the table of cooccurring words is in
    memory. From very few pairs nothing is learnt, and no pair is scored."""
    sample = [(source[:LONGEST], target[:LONGEST]) for source, target in pairs]
    known = [_known(pair[side] for pair in sample) for side in (0, 1)]
    kept = [([w for w in source if w in known[0]], [w for w in target if w in known[1]]) for source, target in sample]
    if not any(source and target for source, target in kept):
        return Association({}, {}, np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(1 << SLOT_BITS, dtype=bool))
    numbered = NumberedPairs.of(kept)
    sources, targets = (
        np.array([k[w] for w in words])
        for k, words in zip(known, (numbered.source_words, numbered.target_words), strict=True)
    )
    width = len(targets)
    forward_keys, forward = _gains(numbered, targets)
    turned_keys, backward = _gains(numbered.swapped(), sources)
    backward_keys = turned_keys % len(sources) * width + turned_keys // len(sources)
    keys, here, there = np.intersect1d(forward_keys, backward_keys, assume_unique=True, return_indices=True)
    gains = (forward[here] + backward[there]) / 2
    enough = gains >= LEAST
    keys = keys[enough]
    occupied = np.zeros(1 << SLOT_BITS, dtype=bool)
    occupied[slots(keys)] = True
    numbers = [{word: n for n, word in enumerate(words)} for words in (numbered.source_words, numbered.target_words)]
    return Association(numbers[0], numbers[1], keys, gains[enough].astype(np.float32), occupied)


def _known(lines: Iterable[Words]) -> dict[str, int]:
    """Returns the words of a side that are neither too rare nor too common, with their counts."""
    counts = Counter(chain.from_iterable(lines))
    most = COMMON * counts.total()
    return {word: count for word, count in counts.items() if FEWEST <= count <= most}


def _gains(pairs: NumberedPairs, target_counts: Numbers) -> tuple[Numbers, Floats]:
    """Returns keys (source number × target words + target number) and ln t(f | e) / p(f) where above 0, except NULL."""
    table = ibm.train_on(*ibm.initial_table(pairs), ITERATIONS, 0.0).table
    width = len(target_counts)
    start = int(np.searchsorted(table.keys, width))  # NULL is source word 0
    keys, t = table.keys[start:] - width, table.probabilities[start:]
    ratios = t / (target_counts / target_counts.sum())[keys % width]
    above = ratios > 1
    return keys[above], np.log(ratios[above])
