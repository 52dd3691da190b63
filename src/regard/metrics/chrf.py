"""chrF (Popović, 2015, "chrF: character n-gram F-score for automatic MT evaluation"), and
chrF++, which counts word n-grams too (Popović, 2017, "chrF++: words helping character n-grams").

    F_β = (1 + β²) · P · R / (β² · P + R)      P, R = matches / n-grams in the hypotheses, in the references

P and R are averages over the orders of n-grams. The first part of this file is the definition for one line. `Chrf` uses
fast versions of two of its functions (`ngrams.matching` for the counts, `Chrf.scores` for many scores at once); tests
check each against its definition. Scores and signatures are those of sacreBLEU.

chrF counts characters; the words of chrF++ are split by a rule of its own (`words_of`).
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import References, Score, Stats, Stream, checked_lines, format_signature, reference_count
from regard.metrics.bleu import clipped_matches, ngram_counts
from regard.metrics.ngrams import Numbers, Ragged, matching

CHUNK = 256  # lines counted at a time; a line has more characters than words
EPSILON = 1e-16  # the value that chrF++.py uses for an undefined ratio
PUNCTUATION = frozenset(string.punctuation)

Reals = NDArray[np.float64]


# ------------------------------------------------------------------------------------------------ the formula


def letters_of(line: str, whitespace: bool = False) -> str:
    """The characters that are counted; whitespace only if `whitespace`."""
    return line if whitespace else "".join(line.split())


def words_of(line: str) -> list[str]:
    """Splits a line into words as chrF++ does: one punctuation mark is split off the end of a word, or else the start.

    >>> words_of("so (hi) 'tis - done...")
    ['so', '(hi', ')', "'", 'tis', '-', 'done..', '.']
    """
    return [piece for word in line.split() for piece in _cut(word)]


def _cut(word: str) -> tuple[str, ...]:
    if len(word) > 1 and word[-1] in PUNCTUATION:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in PUNCTUATION:
        return word[0], word[1:]
    return (word,)


def line_stats(
    hypothesis: str, reference: str, char_order: int = 6, word_order: int = 0, whitespace: bool = False
) -> list[int]:
    """The counts of one line: n-grams of the hypothesis, of the reference, and matches, for each order; first the
    character orders, then the word orders.

    >>> line_stats("a cat", "the cat", char_order=3)
    [4, 6, 3, 3, 5, 2, 2, 4, 1]
    """
    letters = letters_of(hypothesis, whitespace), letters_of(reference, whitespace)
    words = words_of(hypothesis), words_of(reference)
    counted: list[int] = []
    for (ours, theirs), orders in ((letters, char_order), (words, word_order)):
        for n in range(1, orders + 1):
            found, wanted = ngram_counts(ours, n), ngram_counts(theirs, n)
            # An order for which the reference is too short does not count against the hypothesis.
            counted += [found.total() if wanted else 0, wanted.total(), clipped_matches(found, wanted)]
    return counted


def f_beta(precision: float, recall: float, beta: float, neither: float = 0.0) -> float:
    """The F-score, in which recall has β² times the weight of precision; `neither` if both are 0."""
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below > 0 else neither


def f_score(counts: Sequence[int], beta: float = 2, eps_smoothing: bool = False) -> float:
    """chrF in percent, from the counts of `line_stats`.

    As in sacreBLEU, P and R are averages over the orders in which both sides have n-grams, and F is computed from them.
    With `eps_smoothing`, as in chrF++.py, each order has its own F, and the score is their average over all orders.

    >>> f_score([4, 4, 2, 3, 3, 1])
    41.666666666666664
    """
    orders = _orders(counts)
    if eps_smoothing:
        ratios = ((match / hyp if hyp else EPSILON, match / ref if ref else EPSILON) for hyp, ref, match in orders)
        return 100 * sum(f_beta(p, r, beta, neither=EPSILON) for p, r in ratios) / len(orders)
    held = [(match / hyp, match / ref) for hyp, ref, match in orders if hyp and ref]
    if not held:
        return 0.0
    return 100 * f_beta(sum(p for p, _ in held) / len(held), sum(r for _, r in held) / len(held), beta)


# ------------------------------------------------------------------------------------------------ the metric


@dataclass(frozen=True, repr=False)
class ChrfScore(Score):
    """A chrF score. All numbers are 0–100, with one precision and one recall per order, 0 if nothing is counted."""

    precisions: tuple[float, ...]
    recalls: tuple[float, ...]
    char_order: int
    word_order: int
    beta: float


@dataclass(frozen=True)
class Chrf:
    """chrF with its options; chrF++ is `word_order=2`. A row of its statistics is that of `line_stats`, against the
    reference with the best score (the first one of a tie)."""

    char_order: int = 6
    word_order: int = 0
    beta: float = 2  # the weight of recall relative to precision
    lowercase: bool = False
    whitespace: bool = False  # count whitespace as characters
    eps_smoothing: bool = False  # average as chrF++.py does, see `f_score`

    higher_is_better = True

    def __post_init__(self) -> None:
        for name, order in (("char_order", self.char_order), ("word_order", self.word_order)):
            if order < 0:
                raise InputError(f"{name} must be 0 or more, but is {order}")
        if self.char_order + self.word_order == 0:
            raise InputError("char_order and word_order are both 0, so nothing is counted; the usual char_order is 6")
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"beta must be more than 0, but is {self.beta}; the usual one is 2")

    @property
    def name(self) -> str:
        return f"chrF{self.beta}" + "+" * self.word_order

    def stats(self, hypotheses: Sequence[str], references: References) -> Stats:
        """Counts the statistics of each line; `references` is one list of lines, or several such lists (streams)."""
        lines, streams = checked_lines(hypotheses, references)
        known: dict[str, int] = {}  # word → its id, shared by all lines
        rows = [
            self._rows(known, lines[i : i + CHUNK], [stream[i : i + CHUNK] for stream in streams])
            for i in range(0, len(lines), CHUNK)
        ]
        return Stats(np.concatenate(rows), reference_count(streams))

    def _rows(self, known: dict[str, int], lines: Sequence[str], streams: Sequence[Stream]) -> Numbers:
        """`line_stats` of many lines at once, each against its best reference: (lines, 3N)."""
        ours = list(self._units(known, lines))
        every = np.stack(  # (streams, lines, 3N)
            [self._against(ours, self._units(known, [line or "" for line in stream])) for stream in streams]
        )
        present = np.array([[line is not None for line in stream] for stream in streams])  # (streams, lines)
        best = np.where(present, self.scores(every), -1.0).argmax(axis=0)
        chosen: Numbers = np.take_along_axis(every, best[None, :, None], axis=0)[0]
        return chosen

    def _units(self, known: dict[str, int], lines: Sequence[str]) -> Iterator[tuple[Ragged, int]]:
        """Yields the units of n-grams and their highest order: characters, then words."""
        if self.lowercase:
            lines = [line.lower() for line in lines]
        if self.char_order:
            letters = [letters_of(line, self.whitespace) for line in lines]
            # Python strings may contain a lone surrogate; it counts as a character.
            codes = np.frombuffer("".join(letters).encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
            yield Ragged(codes, _lengths(letters)), self.char_order
        if self.word_order:
            words = [words_of(line) for line in lines]
            lengths = _lengths(words)
            numbers = (known.setdefault(word, len(known)) for word in chain.from_iterable(words))
            yield Ragged(np.fromiter(numbers, np.int64, int(lengths.sum())), lengths), self.word_order

    def _against(self, ours: Sequence[tuple[Ragged, int]], theirs: Iterator[tuple[Ragged, int]]) -> Numbers:
        """The counts against one reference stream: (lines, 3N)."""
        kinds = []
        for (hypotheses, order), (references, _) in zip(ours, theirs, strict=True):
            shorter = np.arange(order)  # each order has one n-gram less
            in_reference = np.maximum(0, references.lengths[:, None] - shorter)  # (lines, N)
            in_hypothesis = np.maximum(0, hypotheses.lengths[:, None] - shorter) * (in_reference > 0)
            matches = matching(hypotheses, [references], order)
            kinds.append(np.stack([in_hypothesis, in_reference, matches], axis=-1))  # (lines, N, 3)
        counts = np.concatenate(kinds, axis=1)
        return counts.reshape(len(counts), -1)  # (lines, 3N)

    def score(self, stats: Stats) -> ChrfScore:
        counts = [int(count) for count in stats.total()]
        orders = _orders(counts)
        return ChrfScore(
            name=self.name,
            score=f_score(counts, self.beta, self.eps_smoothing),
            signature=self.signature(stats.references),
            precisions=tuple(100 * match / hyp if hyp else 0.0 for hyp, _, match in orders),
            recalls=tuple(100 * match / ref if ref else 0.0 for _, ref, match in orders),
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
        )

    def scores(self, sums: NDArray[Any]) -> Reals:
        """(…, 3N) → (…): `score(…).score` of many sums at once."""
        hyp, ref, match = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]  # (…, N) each
        missing = EPSILON if self.eps_smoothing else 0.0
        precisions: Reals = np.divide(match, hyp, out=np.full(hyp.shape, missing), where=hyp > 0)
        recalls: Reals = np.divide(match, ref, out=np.full(ref.shape, missing), where=ref > 0)
        if self.eps_smoothing:
            of_orders = self._f_betas(precisions, recalls, missing)
            return 100 * _sum_in_order(of_orders) / (self.char_order + self.word_order)
        held = (hyp > 0) & (ref > 0)
        orders: Numbers = np.maximum(1, held.sum(axis=-1))
        return 100 * self._f_betas(
            _sum_in_order(precisions * held) / orders, _sum_in_order(recalls * held) / orders, missing
        )

    def _f_betas(self, precisions: Reals, recalls: Reals, neither: float) -> Reals:
        """`f_beta` of many values at once."""
        weight = self.beta**2
        below = weight * precisions + recalls
        above = (1 + weight) * precisions * recalls
        found: Reals = np.divide(above, below, out=np.full(below.shape, neither), where=below > 0)
        return found

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        """The signature as in sacreBLEU: without β, which is part of the metric's name."""
        case, eff = "lc" if self.lowercase else "mixed", "no" if self.eps_smoothing else "yes"
        space = "yes" if self.whitespace else "no"
        orders = {"nc": self.char_order, "nw": self.word_order}
        return format_signature(references, test, case=case, eff=eff, **orders, space=space)


def _orders(counts: Sequence[int]) -> list[tuple[int, int, int]]:
    return list(zip(counts[0::3], counts[1::3], counts[2::3], strict=True))


def _lengths(lines: Sequence[str] | Sequence[Sequence[str]]) -> Numbers:
    return np.fromiter(map(len, lines), np.int64, len(lines))


def _sum_in_order(values: Reals) -> Reals:
    """The sum over the last axis, added from left to right as in sacreBLEU. numpy's sum groups the terms, and the last
    bit can decide between two references with equal scores."""
    running: Reals = np.cumsum(values, axis=-1)
    last: Reals = running[..., -1]
    return last


# ------------------------------------------------------------------------------------------------ in one call


def chrf(hypotheses: Sequence[str], references: References, **options: Any) -> ChrfScore:
    """Corpus chrF of `hypotheses` against one or several lists of references of the same length; options as in `Chrf`.

    >>> print(chrf(["the cat is on the mat"], ["the cat sat on the mat"]))
    chrF2 = 61.93
    """
    metric = Chrf(**options)
    return metric.score(metric.stats(hypotheses, references))


def sentence_chrf(hypothesis: str, references: Sequence[str], **options: Any) -> ChrfScore:
    """chrF of one sentence against its references."""
    if isinstance(references, str):
        raise InputError(f"references must be a list, but is a single string; write [{references[:30]!r}]")
    metric = Chrf(**options)
    return metric.score(metric.stats([hypothesis], [[reference] for reference in references]))
