"""Confidence estimation: the chrF of a translation, predicted from the output of the search.

    confidence = σ(bias + Σ weight · feature)        fitted to sentence chrF, from 0 to 1, by logistic regression

The features are cheap: log-probabilities of the tokens, lengths, and how much of the source was attended to. The
weights belong to a model and are stored in its card (`bundle/card.py`). A confidence of 0.7 does not mean that 70% of a
sentence is right: it is the mean chrF of sentences with the same features, which `calibration_error` checks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import WordAttention
from regard.bundle.card import Calibration

Floats = NDArray[np.float64]

LENGTH_SMOOTHING = 10  # characters added to both lengths of a ratio, which reduces its variance for short sentences
MIN_LOG_PROB = -50.0  # lower bound of a token's log-probability; also replaces NaN
SMALL = 0.05  # nats per token; smaller differences are not significant
SURE_MEAN_LOG_PROB = -0.4  # mean log-probability per token above which the sum suffices: no check needs single tokens
USUAL_SPREAD = 0.15  # usual `spread` − `surprise` of sentences with such a mean, for all bundled models
MIN_RATIO_SPREAD = 0.05  # minimal spread of the length ratio
PENALTY = 1.0  # L2, on weights of standardized features
BINS = 10  # of the calibration error


class LogProbSum(NamedTuple):
    """The sum of the log-probabilities, if the search returned only that. Those of the tokens need a second pass, which
    takes a quarter of the time of a short sentence."""

    total: float
    tokens: int  # EOS counted

    @property
    def mean(self) -> float:
        return self.total / max(1, self.tokens)

    @property
    def sure(self) -> bool:
        """Whether the log-probabilities of single tokens are not needed."""
        return self.mean >= SURE_MEAN_LOG_PROB


@dataclass(frozen=True)
class Observation:
    """One translated sentence with the output of its search, or of a forced pass of the model over it."""

    source: str  # as given
    target: str  # final text
    log_probs: Sequence[float] | Floats | LogProbSum  # (T,) of the target's tokens, EOS last, or only their sum
    source_tokens: int  # without EOS
    attention: WordAttention | None = None
    languages: tuple[str | None, str | None] = (None, None)  # ISO codes of source and target, None if unknown
    bare: str | None = None  # the source without protected spans such as names and numbers; None if unknown


def features(seen: Observation) -> dict[str, float]:
    """
    >>> seen = Observation("The cat sleeps.", "Le chat dort.", [-0.1, -0.2, -0.3, -0.1, -0.1], 4)
    >>> {name: round(value, 2) for name, value in features(seen).items()}
    {'surprise': -1.56, 'spread': -2.04, 'length': 1.61, 'pieces': 1.33, 'ratio': 0.08, 'covered': 1.0}
    """
    surprise, spread = _surprise(seen.log_probs)
    return {
        "surprise": surprise,
        "spread": spread,
        "length": math.log(seen.source_tokens + 1),
        "pieces": max(1, seen.source_tokens) / max(1, len(seen.source.split())),  # rare words have many
        "ratio": abs(log_ratio(seen)),
        "covered": covered(seen.attention),
    }


def _surprise(given: Sequence[float] | Floats | LogProbSum) -> tuple[float, float]:
    """Returns the logarithms of the mean and of the standard deviation of the tokens' negative log-probabilities: 0.1
    nats per token more matter much for a probable sentence and little for an improbable one."""
    if isinstance(given, LogProbSum):
        mean = math.log(SMALL - min(0.0, max(MIN_LOG_PROB, given.mean)))
        return mean, mean + USUAL_SPREAD
    log_probs = np.fmin(np.fmax(np.asarray(given, dtype=np.float64), MIN_LOG_PROB), 0.0)  # NaN is MIN_LOG_PROB too
    if not len(log_probs):
        return 0.0, 0.0
    return math.log(SMALL - float(log_probs.mean())), math.log(SMALL + float(log_probs.std()))


def log_ratio(seen: Observation) -> float:
    """Returns the logarithm of the target's length in characters divided by the source's."""
    return math.log((len(seen.target) + LENGTH_SMOOTHING) / (len(seen.source) + LENGTH_SMOOTHING))


def coverage(attention: WordAttention) -> Floats:
    """Returns the weight that each source word received from all target words, (V,)."""
    with np.errstate(invalid="ignore"):
        found: Floats = attention.weights.sum(axis=0)
    if not np.isfinite(found).all():  # a target word without a subword has a row of NaN
        found = np.nan_to_num(attention.weights).sum(axis=0)
    return found


def covered(attention: WordAttention | None) -> float:
    """Returns the mean coverage of the source words, each counted up to 1; 1 without attention."""
    if attention is None or not attention.source_words or not attention.target_words:
        return 1.0
    return float(np.minimum(coverage(attention), 1.0).mean())


def predicted_quality(values: Mapping[str, float], calibration: Calibration) -> float:
    """Returns the predicted chrF, from 0 to 1. Weights of features unknown to this version are ignored."""
    total = calibration.bias
    total += sum(weight * values.get(name, 0.0) for name, weight in calibration.weights.items())
    return 0.5 * (1 + math.tanh(total / 2))  # σ, without overflow


def fit_calibration(
    sets: Sequence[tuple[Sequence[Observation], Sequence[float]]], on: str, unwritten: float = 0.0
) -> Calibration:
    """Fits a calibration to sets of observations and their chrF, from 0 to 1. All sets have the same weight."""
    values = [[features(seen) for seen in observations] for observations, _ in sets]
    names = list(values[0][0])
    x = np.array([[row[name] for name in names] for rows in values for row in rows])  # (N, F)
    y = np.concatenate([np.asarray(quality, dtype=np.float64) for _, quality in sets])
    share = np.concatenate([np.full(len(rows), len(x) / len(sets) / len(rows)) for rows in values])
    middle, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    bias, *weights = logistic_fit((x - middle) / scale, y, share)
    weights = np.array(weights) / scale
    ratios = np.array([log_ratio(seen) for observations, _ in sets for seen in observations])
    usual = float(np.median(ratios))
    return Calibration(
        {name: float(weight) for name, weight in zip(names, weights, strict=True)},
        float(bias - weights @ middle),
        usual,
        max(MIN_RATIO_SPREAD, float(1.4826 * np.median(np.abs(ratios - usual)))),  # robust estimate of σ
        unwritten,
        on,
    )


def logistic_fit(x: Floats, y: Floats, share: Floats) -> Floats:
    """Fits σ(b + w·x) ≈ y by Newton's method; returns (1 + F,): x (N, F), y (N,) from 0 to 1, share (N,)."""
    rows = np.column_stack([np.ones(len(x)), x])
    penalty = PENALTY * np.diag([0.0, *np.ones(x.shape[1])])
    found = np.zeros(rows.shape[1])
    for _ in range(50):
        p = 0.5 * (1 + np.tanh(rows @ found / 2))
        gradient = rows.T @ (share * (y - p)) - penalty @ found
        curvature = (rows * (share * p * (1 - p))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curvature, gradient)
        found = found + step
        if np.abs(step).max() < 1e-9:
            break
    return found


@dataclass(frozen=True)
class Bin:
    """A bin of sentences with similar confidence."""

    count: int
    confidence: float  # mean
    quality: float  # mean chrF, from 0 to 1


def bins(confidence: Sequence[float] | Floats, quality: Sequence[float] | Floats, count: int = BINS) -> list[Bin]:
    """Groups sentences into bins of equal width, ten by default; empty ones are left out.

    >>> bins([0.11, 0.19, 0.95], [0.1, 0.3, 0.9])
    [Bin(count=2, confidence=0.15, quality=0.2), Bin(count=1, confidence=0.95, quality=0.9)]
    """
    p, y = np.asarray(confidence, dtype=np.float64), np.asarray(quality, dtype=np.float64)
    place = np.minimum((p * count).astype(int), count - 1)
    chosen = [place == number for number in range(count)]
    return [Bin(int(some.sum()), float(p[some].mean()), float(y[some].mean())) for some in chosen if some.any()]


def calibration_error(found: Sequence[Bin]) -> float:
    """Returns the expected calibration error: |mean confidence − mean chrF| of each bin, weighted by its size.

    >>> round(calibration_error([Bin(3, 0.15, 0.2), Bin(1, 0.95, 0.9)]), 3)
    0.05
    """
    total = sum(one.count for one in found)
    return sum(one.count * abs(one.confidence - one.quality) for one in found) / max(1, total)
