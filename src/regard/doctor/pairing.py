"""Checks whether the two lines of a pair are translations, by IBM model 1, learnt from the corpus itself.

    gain(e, f) = mean_j ln [ (1 − ε) · 1/(I+1) Σ_i t(f_j | e_i) + ε · p(f_j) ] / p(f_j)        ε = 0.1

is how much better, in nats per word, the source predicts the target's words than their frequency does: about 0 or less
for two random lines, well above 0 for translations. A pair is judged by a model learnt from other pairs (the corpus is
halved), since rare words of a wrong pair would predict each other.

Lines whose targets are k lines away (a line is missing on one side) are detected where, over some twenty lines, the
gain at that offset is far above the gain at offset 0. A lexicon cannot judge free translations, names and numbers that
are in both lines, or one wrong word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import regex
from numpy.typing import NDArray

from regard.align.ibm import UNKNOWN, LexicalTable, train
from regard.align.numbered import words_of

Floats = NDArray[np.float64]
Pairs = Sequence[tuple[str, str]]
Words = list[str]

EPSILON = 0.1  # weight of a word's frequency in its probability
ITERATIONS = 4
WORDS = 40  # maximum words of a line that are used: time grows with their square
LEAST = 1e-3  # minimum t(f | e): smaller entries are dropped, which keeps the table small
WINDOW = 20  # lines over which shifts are detected
OFFSETS = (-2, -1, 1, 2)
FARTHEST = max(OFFSETS)
CLEAR = 0.25  # minimum gain of a shifted window over its unshifted pairs, in nats per word
SURE = 1.0  # minimum difference between true pairs and chance to judge single pairs, in nats per word
FEWEST_WORDS = 4  # minimum known words to judge a single pair
FEWEST_PAIRS = 200  # minimum pairs to learn from
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


@dataclass(frozen=True)
class Shift:
    """Lines whose targets are `offset` lines later."""

    first: int
    last: int
    offset: int


@dataclass(frozen=True)
class Pairing:
    """The gain of each pair of a sample, in order; NaN for pairs with too few words."""

    gains: Floats  # of each pair
    chance: float  # the median gain of random pairs
    shifts: tuple[Shift, ...]
    together: bool  # whether the two sides are translations at all, possibly shifted

    @property
    def separates(self) -> bool:
        """Whether true pairs can be distinguished from random ones: a few hundred sentences are too few."""
        return float(np.nanmedian(self.gains)) - self.chance > SURE

    def misaligned(self) -> list[int]:
        """Returns the pairs that fit no better than random lines, outside shifted parts; the worst first."""
        if not self.separates:
            return []
        apart = np.ones(len(self.gains), dtype=bool)
        for shift in self.shifts:
            apart[max(0, shift.first - WINDOW) : shift.last + 1 + WINDOW] = False
        with np.errstate(invalid="ignore"):
            low = np.flatnonzero((self.gains < min(0.0, self.chance)) & apart)
        return sorted(low.tolist(), key=lambda place: float(self.gains[place]))


def line_words(text: str) -> Words:
    """Splits a line into words without case, or into characters if its script has no spaces.

    >>> line_words("Le chat."), line_words("猫だ 。")
    (['le', 'chat', '.'], ['猫', 'だ', '。'])
    """
    words: Words = []
    for word in words_of(text[: 20 * WORDS]):
        words += list(word) if UNSPACED.search(word) else [word]
    return words[:WORDS]


@dataclass(frozen=True)
class LexicalModel:
    """A lexical table, and the word frequencies it is compared with."""

    table: LexicalTable
    frequencies: Floats  # (target words,)

    @classmethod
    def learn(cls, pairs: Sequence[tuple[Words, Words]]) -> LexicalModel:
        table = train(pairs, ITERATIONS).table
        kept = table.probabilities >= LEAST
        table = replace(table, keys=table.keys[kept], probabilities=table.probabilities[kept])
        numbers = [table.target_numbers[word] for _, words in pairs for word in words]
        counts = np.bincount(numbers, minlength=len(table.target_words)).astype(np.float64)
        return cls(table, counts / counts.sum())

    def gains(self, pairs: Sequence[tuple[Words, Words]]) -> Floats:
        """Returns the gain (see the module's docstring) of each pair; unknown words are left out."""
        found = np.full(len(pairs), np.nan)
        for group in self.table.numbered(pairs):
            lexical = self.table.emissions(group).mean(axis=2)  # (B, T)
            usual = np.where(group.target == UNKNOWN, 1.0, self.frequencies[group.target])  # (B, T)
            known = group.mask & (group.target != UNKNOWN)
            gain = np.where(known, np.log((1 - EPSILON) * lexical / usual + EPSILON), 0.0).sum(axis=1)
            enough = known.sum(axis=1) >= FEWEST_WORDS
            found[group.pairs[enough]] = gain[enough] / known.sum(axis=1)[enough]
        return found


def judge_pairs(runs: Sequence[Pairs], progress: Callable[[str], None] = lambda _: None) -> Pairing | None:
    """Judges pairs, given as runs of consecutive pairs; indices count through all runs. None: too few pairs."""
    lines = [[(line_words(src), line_words(tgt)) for src, tgt in run] for run in runs]
    count = sum(len(run) for run in lines)
    if sum(1 for run in lines for src, tgt in run if src and tgt) < FEWEST_PAIRS:
        return None
    progress("learning which words go together")
    random_pairs = _random_pairs(lines)

    def judged(offset: int) -> tuple[LexicalModels, Floats, float]:
        models = _cross_models(lines, offset)
        gains, chance = (_cross_gains(models, pairs, count) for pairs in (_paired(lines, offset), random_pairs))
        return models, gains, float(np.nanmedian(chance))

    models, gains, chance = judged(0)
    if np.nanmedian(gains) - chance < CLEAR:  # perhaps all lines are shifted
        progress("learning word translations at other offsets")
        tried = {offset: judged(offset) for offset in OFFSETS}
        best = max(OFFSETS, key=lambda offset: float(np.nanmedian(tried[offset][1])) - tried[offset][2])
        if not np.nanmedian(tried[best][1]) - tried[best][2] >= CLEAR:
            return Pairing(gains, chance, (), False)
        models, _, chance = tried[best]
        gains = _cross_gains(models, _paired(lines, 0), count)
    progress("looking for shifted lines")
    return Pairing(gains, chance, tuple(_shifts(models, lines, gains, chance)), True)


Line = tuple[Words, Words]
LexicalModels = tuple[LexicalModel, LexicalModel]


def _cross_models(lines: Sequence[Sequence[Line]], offset: int) -> LexicalModels:
    """Learns two models, from pairs with even and with odd indices, each to judge the other half."""
    pairs = [(place, pair) for place, pair in _paired(lines, offset) if pair[0] and pair[1]]
    first, second = ([pair for place, pair in pairs if place % 2 == half] for half in (0, 1))
    return LexicalModel.learn(first), LexicalModel.learn(second)


def _paired(lines: Sequence[Sequence[Line]], offset: int) -> list[tuple[int, Line]]:
    """Returns (index, (source, target `offset` lines later)), within each run."""
    found, start = [], 0
    for run in lines:
        for i in range(max(0, -offset), min(len(run), len(run) - offset)):
            found.append((start + i, (run[i][0], run[i + offset][1])))
        start += len(run)
    return found


def _random_pairs(lines: Sequence[Sequence[Line]]) -> list[tuple[int, Line]]:
    """Returns (index, (source, a distant target))."""
    flat = [pair for run in lines for pair in run]
    count, far = len(flat), FARTHEST + 1 + len(flat) // 3
    return [(i, (flat[i][0], flat[(i + far) % count][1])) for i in range(count)]


def _cross_gains(models: LexicalModels, pairs: Sequence[tuple[int, Line]], count: int) -> Floats:
    """Returns the gains of `count` pairs, each by the model that did not learn from it; NaN for missing indices."""
    gains = np.full(count, np.nan)
    for half, model in enumerate(models):
        own = [(place, pair) for place, pair in pairs if place % 2 != half and pair[0] and pair[1]]
        if own:
            gains[[place for place, _ in own]] = model.gains([pair for _, pair in own])
    return gains


def _shifts(models: LexicalModels, lines: Sequence[Sequence[Line]], gains: Floats, usual: float) -> list[Shift]:
    """Tries other offsets for windows with a low gain, and joins neighbouring windows of one offset."""
    windows, start = [], 0
    for run in lines:
        firsts = range(start, start + len(run) - WINDOW + 1, WINDOW // 2)
        windows += [first for first in firsts if _mean(gains, first) <= usual + 2 * CLEAR]
        start += len(run)
    odd = {place for first in windows for place in range(first, first + WINDOW)}
    elsewhere = {}
    for offset in OFFSETS if odd else ():
        elsewhere[offset] = _cross_gains(
            models, [pair for pair in _paired(lines, offset) if pair[0] in odd], len(gains)
        )
    found: list[Shift] = []
    for first in windows:
        means = {offset: _mean(there, first) for offset, there in elsewhere.items()}
        best = max(OFFSETS, key=lambda offset: means[offset])
        if not means[best] > _mean(gains, first) + CLEAR:
            continue
        if found and found[-1].offset == best and first <= found[-1].last + 1:
            found[-1] = replace(found[-1], last=first + WINDOW - 1)
        else:
            found.append(Shift(first, first + WINDOW - 1, best))
    return found


def _mean(gains: Floats, first: int) -> float:
    """Returns the mean gain of a window; −∞ if most of its lines could not be judged."""
    here = gains[first : first + WINDOW]
    known = here[~np.isnan(here)]
    return float(known.mean()) if len(known) > WINDOW // 4 else -np.inf
