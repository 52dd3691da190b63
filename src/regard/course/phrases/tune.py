"""Learns weights from pairwise rankings: PRO (Hopkins and May, 2011, "Tuning as Ranking").

The weights should prefer the translation with the higher BLEU among two of one sentence. So pairs of candidates become
examples for a classifier: the difference of their features, x, labelled by which of them is better.

    pairs     drawn at random from the candidates of a sentence; kept if their BLEU differs by more than 5 points, and
              of those the 50 that differ most
    learn     min_w Σ ln(1 + exp(−w · x)) + ridge · |w|²              logistic regression, by Newton's steps

BLEU of single sentences adds one to the counts of n-grams from n = 2 on, and to the length of the reference: without
that PRO learns to output too short translations (Nakov, Guzmán and Vogel, 2012). Only the direction of the weights
matters for a ranking; they are scaled so that their absolute values sum to one.

Learnt weights are valid only near the candidates that they were learnt from: a decoder that uses them fully can leave
that region (a negative weight for the language model, three words for one). So a round of tuning makes only a part of
the step, as Hopkins and May do, and new candidates correct it: w ← SHARE · learnt + (1 − SHARE) · w.

The same method learns to rerank the translations of any systems, the usual hybrid: one system proposes (the
phrase-based one its n best), others score (a neural model's log-probability becomes one more feature), and PRO finds
the weight of each score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from regard.align.ibm import Floats
from regard.metrics.bleu import Bleu

DRAWN, KEPT, LEAST = 5000, 50, 5.0  # pairs of a sentence that are drawn, and kept; the minimum difference in BLEU
RIDGE = 1e-2  # per example
SHARE = 0.25  # share of the learnt weights in those of the next round
SENTENCE_BLEU = Bleu(smooth="add-k", smooth_value=1.0)


@dataclass(frozen=True)
class RankedCandidates:
    """The candidates of one sentence: C translations with F features."""

    features: Floats  # (C, F)
    bleu: Floats  # (C,)


def scored_candidates(features: Sequence[Sequence[float]], texts: Sequence[str], reference: str) -> RankedCandidates:
    """Scores the candidates of a sentence by smoothed sentence BLEU."""
    rows = SENTENCE_BLEU.stats(texts, [reference] * len(texts)).rows.astype(np.float64)
    rows[:, 1] += 1  # words of the reference
    return RankedCandidates(np.array(features, dtype=np.float64), SENTENCE_BLEU.scores(rows))


def examples(candidates: RankedCandidates, rng: np.random.Generator) -> Floats:
    """Returns (up to KEPT, F): features of the better candidate minus the worse, for the pairs that differ most."""
    one, other = rng.integers(len(candidates.bleu), size=(2, DRAWN))
    better = candidates.bleu[one] - candidates.bleu[other]
    apart = np.unique(np.stack([one, other], axis=1)[better > LEAST], axis=0)
    better = candidates.bleu[apart[:, 0]] - candidates.bleu[apart[:, 1]]
    apart = apart[np.argsort(-better, kind="stable")[:KEPT]]
    found: Floats = candidates.features[apart[:, 0]] - candidates.features[apart[:, 1]]
    return found


def pro(sentences: Sequence[RankedCandidates], weights: Sequence[float], seed: int = 1) -> tuple[float, ...]:
    """Learns new weights; returns the old ones if no pair of candidates differs."""
    rng = np.random.default_rng(seed)
    found = [examples(one, rng) for one in sentences if len(one.bleu) > 1]
    differences = np.concatenate(found) if found else np.empty((0, len(weights)))
    if not len(differences):
        return tuple(weights)
    scale = np.sqrt((differences**2).mean(axis=0))  # so that the ridge is the same for all features
    scale[scale == 0] = 1.0
    learnt = logistic_regression(differences / scale) / scale
    return _scaled(learnt)


def interpolated_weights(before: Sequence[float], learnt: Sequence[float]) -> tuple[float, ...]:
    """Interpolates between two directions, with the share SHARE of the second.

    >>> interpolated_weights([1.0, 0.0], [0.0, 4.0])
    (0.75, 0.25)
    """
    return _scaled(SHARE * np.array(_scaled(learnt)) + (1 - SHARE) * np.array(_scaled(before)))


def _scaled(weights: Sequence[float] | Floats) -> tuple[float, ...]:
    """Scales weights so that their absolute values sum to one; zeros stay zeros."""
    given = np.asarray(weights, dtype=np.float64)
    return tuple((given / (np.abs(given).sum() or 1.0)).tolist())


def logistic_regression(examples: Floats, ridge: float = RIDGE, steps: int = 30) -> Floats:
    """Fits w to examples x that should all have w · x > 0.

    >>> logistic_regression(np.array([[1.0, 0.0], [2.0, 0.0]]))[1]
    np.float64(0.0)
    """
    count, width = examples.shape
    weights = np.zeros(width)
    for _ in range(steps):
        wrong = 1 / (1 + np.exp(np.clip(examples @ weights, -30, 30)))
        slope = ridge * weights - examples.T @ wrong / count
        bend = (examples.T * (wrong * (1 - wrong))) @ examples / count + ridge * np.eye(width)
        step = np.linalg.solve(bend, slope)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


# -------------------------------------------------------------------------------- reranking


class Proposals(NamedTuple):
    """Translations of one sentence, each with the same number of features."""

    texts: Sequence[str]
    features: Sequence[Sequence[float]]

    def best(self, weights: Sequence[float]) -> str:
        """Returns the text with the highest weighted sum; the first of equals.

        >>> Proposals(["un", "deux"], [[1.0, 0.0], [0.0, 2.0]]).best([1.0, 1.0])
        'deux'
        """
        return self.texts[int(np.argmax(np.array(self.features) @ np.array(weights)))]


def learn_reranking(proposals: Sequence[Proposals], references: Sequence[str], seed: int = 1) -> tuple[float, ...]:
    """Learns the weights that rank the proposals of development sentences most like BLEU."""
    scored = [
        scored_candidates(some.features, some.texts, reference)
        for some, reference in zip(proposals, references, strict=True)
    ]
    return pro(scored, [1.0] * len(proposals[0].features[0]), seed)
