"""The calibrated confidence of a word: the probability that a word of a translation is right.

    confidence = σ(bias + Σ weight · feature)        fitted by logistic regression to words of translated text

    surprise     of the word: log(0.05 − log p)
    around       the mean of the same for the previous and the next word
    sentence     the mean of the same for all words of the sentence
    letters      log(1 + its characters): short words are more often the same in another translation
    length       log(1 + words of the sentence): a short sentence has fewer possible translations

What right means is in the calibration: verdicts found nothing wrong with such words, or a reference contains them, each
occurrence once, ignoring case. A good word that the reference expresses differently then counts as wrong, so the
confidence is a lower bound. The constants are stored in a model's card (`bundle/card.py`); without them there is only
the probability. They are fitted and measured by `benchmarks/word_confidence.py`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.bundle.card import IN_REFERENCE, WordCalibration
from regard.translation.confidence import MIN_LOG_PROB, SMALL, logistic_fit

Floats = NDArray[np.float64]
FEATURES = ("surprise", "around", "sentence", "letters", "length")


def word_features(words: Sequence[str], log_probs: Sequence[float] | Floats) -> Floats:
    """(W, 5): the features of the words of one sentence.

    >>> word_features(["le", "chat"], [-0.1, -0.3]).round(2).tolist()
    [[-1.9, -1.05, -1.39, 1.1, 1.1], [-1.05, -1.9, -1.39, 1.61, 1.1]]
    """
    known = np.fmin(np.fmax(np.asarray(log_probs, dtype=np.float64), MIN_LOG_PROB), 0.0)
    if not len(known):
        return np.zeros((0, len(FEATURES)))
    beside = np.concatenate([[np.nan], known, [np.nan]])
    pairs = np.stack([beside[:-2], beside[2:]])  # (2, W)
    there = np.isfinite(pairs)
    around = np.where(there, pairs, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    around = np.where(there.any(axis=0), around, known)  # a sentence of one word
    sentence = np.full(len(known), known.mean())
    columns = [np.log(SMALL - some) for some in (known, around, sentence)]
    letters = [math.log(1 + len(word)) for word in words]
    return np.column_stack([*columns, letters, np.full(len(known), math.log(1 + len(known)))])


def word_confidences(words: Sequence[str], log_probs: Sequence[float] | Floats, calibration: WordCalibration) -> Floats:
    """(W,): confidences from 0 to 1. Weights of features that this version does not know are ignored."""
    weights = np.array([calibration.weights.get(name, 0.0) for name in FEATURES])
    total = calibration.bias + word_features(words, log_probs) @ weights
    found: Floats = 0.5 * (1 + np.tanh(total / 2))  # σ, computed without overflow
    return found


def in_reference(words: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """Whether the reference contains each word; a word of the reference counts once.

    >>> in_reference(["Le", "chat", "le"], ["le", "chat"])
    [True, True, False]
    """
    left = Counter(word.casefold() for word in reference)
    found = []
    for word in words:
        found.append(left[word.casefold()] > 0)
        left[word.casefold()] -= 1
    return found


def fit_word_calibration(
    sets: Sequence[tuple[Floats, Sequence[bool]]], on: str, right_if: str = IN_REFERENCE
) -> WordCalibration:
    """Fits a calibration to sets of features (N, 5) and whether each word is right. Every set has the same weight."""
    x = np.concatenate([features for features, _ in sets])
    y = np.concatenate([np.asarray(right, dtype=np.float64) for _, right in sets])
    share = np.concatenate([np.full(len(right), len(y) / len(sets) / len(right)) for _, right in sets])
    middle, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    bias, *fitted = logistic_fit((x - middle) / scale, y, share)
    own = np.array(fitted) / scale
    weights = dict(zip(FEATURES, own.tolist(), strict=True))
    return WordCalibration(weights, float(bias - own @ middle), on, right_if=right_if)
