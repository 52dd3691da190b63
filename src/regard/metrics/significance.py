"""Significance of scores: bootstrap intervals (Koehn, 2004, "Statistical Significance Tests for Machine
Translation Evaluation") and paired tests, by the same bootstrap or by approximate randomisation (Riezler and Maxwell,
2005, "On Some Pitfalls in Automatic Evaluation and Significance Testing for MT").

    bootstrap       draw as many lines as the text has, with replacement, and score them; repeat
    randomisation   swap each line between two systems with probability ½, and score both; repeat

A sample of lines is a row of weights (how often a line was drawn, whether it was swapped), so the sums of many samples
are one product, weights (samples, lines) @ rows (lines, k), and all systems share one set of draws. The first part of
this file is the definition, sample by sample; the second is its fast version; tests check that they are equal.

Draws, intervals and p-values are sacreBLEU's for the same seed. Its bootstrap divides in single precision, so the
seventh digit of a mean may differ. Three remarks on these p-values:

- If every sample gives exactly the observed difference, as for a system and itself, p is 1. sacreBLEU gives
  1 / (samples + 1).
- A sample that ties with the observed difference does not count, as in sacreBLEU; Riezler and Maxwell count it. That
  matters if few lines differ or a metric has few values (TER of a short text): then p is too small.
- The bootstrap's p is too small, also in sacreBLEU: for a clear difference it is about half the randomisation's. A
  two-sided test by bootstrap is whether `difference_interval` contains 0.

Any metric can be used. There is no correction for multiple tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import Metric, Score, Stats, unknown

Floats = NDArray[np.float64]

SEED = 12345
TESTS = {"bootstrap": ("bs", 1000), "randomisation": ("ar", 10_000)}  # name → (in a signature, samples)
MOST_SAMPLES = 1_000_000
TIE = 1e-9  # scores that are closer than this differ by rounding only
WEIGHTS = 2**23  # weights in memory at a time, 2 bytes each: 16 MB
FLOATS = 2**19  # numbers in any array computed from them, 8 bytes each: 4 MB
COINS = 32  # numpy draws this many bits at once and discards the rest of a call


# ------------------------------------------------------------------------------------------------ results


@dataclass(frozen=True)
class Interval:
    """The range of 95% of the resampled scores, printed as mean ± half."""

    mean: float
    half: float  # half of the width
    low: float
    high: float


@dataclass(frozen=True)
class ComparedScore:
    """One system's score with the results of a test; None for results not requested. A baseline has no difference."""

    score: Score  # its signature names the test, the samples and the seed
    interval: Interval | None = None  # by bootstrap
    difference: float | None = None  # score − the baseline's score
    difference_interval: Interval | None = None  # by bootstrap
    p_value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns a dictionary for JSON: the score's fields, then the other fields that are not None."""
        rest = {name: found for name, found in asdict(self).items() if name != "score" and found is not None}
        return {**self.score.to_dict(), **rest}


# ------------------------------------------------------------------------------------------------ the definition


def resampled_by_definition(metric: Metric, stats: Stats, resamples: int, seed: int = SEED) -> Floats:
    """(resamples,): the scores of lines drawn with replacement."""
    drawn = np.random.default_rng(seed).choice(len(stats), size=(resamples, len(stats)), replace=True)
    return np.array([metric.score(stats[lines]).score for lines in drawn])


def swapped_by_definition(metric: Metric, baseline: Stats, system: Stats, samples: int, seed: int = SEED) -> Floats:
    """(samples,): the score differences of two texts after each line was swapped with probability ½."""
    differences = []
    for swap in np.random.default_rng(seed).integers(2, size=(samples, len(system)), dtype=bool):
        one = np.where(swap[:, None], baseline.rows, system.rows)  # (lines, k)
        other = np.where(swap[:, None], system.rows, baseline.rows)
        scores = [metric.score(Stats(rows, system.references)).score for rows in (one, other)]
        differences.append(scores[0] - scores[1])
    return np.array(differences)


def interval(scores: Floats) -> Interval:
    """The range without the lowest and the highest 2.5%.

    >>> interval(np.arange(1, 41.0))
    Interval(mean=20.5, half=18.5, low=2.0, high=39.0)
    """
    ordered = np.sort(scores)
    outside = len(ordered) // 40
    low, high = float(ordered[outside]), float(ordered[len(ordered) - outside - 1])
    return Interval(mean=float(ordered.mean()), half=(high - low) / 2, low=low, high=high)


def p_value(by_chance: Floats, found: float) -> float:
    """The share of samples above the observed value, which counts as one more sample.

    >>> p_value(np.array([0.5, 1.5, 2.5]), 1.0)
    0.75
    """
    if np.abs(by_chance - found).max() <= TIE:  # every sample equals the observed value
        return 1.0
    return (int((by_chance > found).sum()) + 1) / (len(by_chance) + 1)


# ------------------------------------------------------------------------------------------------ many samples at once


def draws(lines: int, resamples: int, block: int, seed: int) -> Iterator[NDArray[np.uint16]]:
    """Yields (≤ block, lines): how often each resample has drawn each line."""
    generator = np.random.default_rng(seed)
    for size in _sizes(resamples, block):
        counts = np.empty((size, lines), dtype=np.uint16)  # a line is drawn once on average
        for one in counts:
            one[:] = np.bincount(generator.choice(lines, size=lines, replace=True), minlength=lines)
        yield counts


def swaps(lines: int, samples: int, block: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Yields (≤ block, lines): which lines are swapped. A block is a multiple of 32 rows, so that blocks give the same
    bits as one large draw."""
    generator = np.random.default_rng(seed)
    for size in _sizes(samples, max(COINS, block // COINS * COINS)):
        yield generator.integers(2, size=(size, lines), dtype=bool)


def weighted_sums(weights: NDArray[Any], systems: Sequence[Stats]) -> Floats:
    """(samples, lines) → (samples, systems, k). Exact, because counts are integers far below 2⁵³."""
    samples, lines = weights.shape
    width = sum(one.rows.shape[1] for one in systems)  # systems · k
    sums = np.zeros((samples, width))
    step = max(1, FLOATS // max(width, samples))
    for i in range(0, lines, step):
        joined = np.concatenate([one.rows[i : i + step] for one in systems], axis=1, dtype=np.float64)  # (step, width)
        sums += weights[:, i : i + step].astype(np.float64) @ joined
    return sums.reshape(samples, len(systems), -1)


def resampled_scores(
    metric: Metric, systems: Sequence[Stats], resamples: int = TESTS["bootstrap"][1], seed: int = SEED
) -> Floats:
    """(systems, resamples): `resampled_by_definition` of each system."""
    _check(systems, resamples, seed)
    scores = [
        metric.scores(weighted_sums(drawn, systems)).T  # (systems, block)
        for drawn in draws(len(systems[0]), resamples, _block(systems), seed)
    ]
    return np.concatenate(scores, axis=1)


def swapped_differences(
    metric: Metric, systems: Sequence[Stats], samples: int = TESTS["randomisation"][1], seed: int = SEED
) -> Floats:
    """(systems − 1, samples): `swapped_by_definition` of the first system and each other one."""
    _check(systems, samples, seed)
    totals = np.stack([one.total() for one in systems])  # (systems, k)
    differences = []
    for swapped in swaps(len(systems[0]), samples, _block(systems), seed):
        given = weighted_sums(swapped, systems)  # (block, systems, k): the sums of the swapped lines of each system
        moved = given[:, :1] - given[:, 1:]
        gap = metric.scores(totals[1:] + moved) - metric.scores(totals[:1] - moved)
        differences.append(gap.T)  # (systems − 1, block)
    return np.concatenate(differences, axis=1)


def _block(systems: Sequence[Stats]) -> int:
    """The number of samples at a time, bounded by the memory of their weights and sums."""
    width: int = sum(one.rows.shape[1] for one in systems)
    return max(1, min(WEIGHTS // len(systems[0]), FLOATS // (2 * width)))


def _sizes(total: int, block: int) -> Iterator[int]:
    for start in range(0, total, block):
        yield min(block, total - start)


def _check(systems: Sequence[Stats], samples: int, seed: int) -> None:
    lines = len(systems[0])
    if lines == 0:
        raise InputError("there are no lines to draw from")
    for number, one in enumerate(systems[1:], start=2):
        if len(one) != lines:
            raise InputError(
                f"systems must have the same lines, but system 1 has {lines} and system {number} has {len(one)}"
            )
    if not 1 <= samples <= MOST_SAMPLES:
        raise InputError(f"samples must be 1 to {MOST_SAMPLES:,}, but are {samples:,}; 1,000 to 10,000 are usual")
    if seed < 0:
        raise InputError(f"seed must be 0 or more, but is {seed}")


# ------------------------------------------------------------------------------------------------ in one call


def bootstrap(
    metric: Metric, stats: Stats, resamples: int = TESTS["bootstrap"][1], seed: int = SEED
) -> tuple[Score, Interval]:
    """Returns one system's score, with resampling in its signature, and the range of 95% of its resampled scores."""
    resampled = resampled_scores(metric, [stats], resamples, seed)[0]
    return _score(metric, stats, "bootstrap", resamples, seed), interval(resampled)


def paired(
    metric: Metric, systems: Sequence[Stats], test: str = "bootstrap", samples: int | None = None, seed: int = SEED
) -> list[ComparedScore]:
    """Compares each system with the first, which is the baseline. The p-value is the probability that two equally good
    systems differ by more than these do.

    bootstrap: the null value is |difference| − its mean over the resamples.  randomisation: it is |difference| between
    the swapped texts.
    """
    if test not in TESTS:
        raise unknown("paired test", test, TESTS)
    if len(systems) < 2:
        raise InputError(f"a paired test needs a baseline and 1 system or more, but was given {len(systems)} in all")
    samples = TESTS[test][1] if samples is None else samples
    around: Sequence[Interval | None] = [None] * len(systems)
    gaps: Sequence[Interval | None] = around[1:]
    if test == "bootstrap":
        resampled = resampled_scores(metric, systems, samples, seed)
        differences = resampled[1:] - resampled[0]  # (systems − 1, samples)
        around, gaps = [interval(some) for some in resampled], [interval(some) for some in differences]
        by_chance = np.abs(differences)
        by_chance -= by_chance.mean(axis=1, keepdims=True)
    else:
        by_chance = np.abs(swapped_differences(metric, systems, samples, seed))
    totals = np.stack([one.total() for one in systems])  # (systems, k)
    found = metric.scores(totals)  # by the same arithmetic as the samples, so that ties are preserved
    scores = [_score(metric, one, test, samples, seed) for one in systems]
    compared = [ComparedScore(scores[0], around[0])]
    for score, itself, difference, gap, chance in zip(
        scores[1:], around[1:], (found[1:] - found[0]).tolist(), gaps, by_chance, strict=True
    ):
        compared.append(ComparedScore(score, itself, difference, gap, p_value(chance, abs(difference))))
    return compared


def _score(metric: Metric, stats: Stats, test: str, samples: int, seed: int) -> Score:
    signature = metric.signature(stats.references, {TESTS[test][0]: samples, "seed": seed})
    return replace(metric.score(stats), signature=signature)
