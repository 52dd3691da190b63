"""Confidence estimation: how likely a translation is right, predicted from the output of the search.

    confidence = σ(bias + Σ weight · feature)        fitted to `rightness`, from 0 to 1, by logistic regression

The features are cheap: the log-probability of the translation, lengths, how much of the source was attended to, how
rare its words are, and words that the target language does not have. With the option `thorough`, a model of both
directions also gives the probability of the source given the translation: the best signal, which takes about half as
long as the search. The weights belong to a model and are stored in its card (`bundle/card.py`), together with the
limits of the two marks, *check* and *doubtful*: a limit is the confidence below which a given share of right
translations lies (`FALSE_ALARMS`). They are chosen separately for fragments and sentences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import WordAttention
from regard.bundle.card import FALSE_ALARMS, Calibration
from regard.text.casing import NOUN_CAPITALIZING_LANGUAGES
from regard.text.inflection import is_inflected_form
from regard.text.known_words import LONG_WORD, KnownWords

Floats = NDArray[np.float64]

LENGTH_SMOOTHING = 10  # characters added to both lengths of a ratio, which reduces its variance for short sentences
MIN_LOG_PROB = -50.0  # lower bound of a token's log-probability; also replaces NaN
SMALL = 0.05  # nats per token; smaller differences are not significant
MIN_RATIO_SPREAD = 0.05  # minimal spread of the length ratio
PENALTY = 1.0  # L2, on weights of standardized features
BINS = 10  # of the calibration error
FRAGMENT_WORDS = 3  # maximal words of a fragment
MAX_CHARS_CHECKED = 20_000  # whose words are looked up
MAX_REMEMBERED = 50_000  # words
MIN_PART = 3  # letters of a part of a compound
LOST = -3.0  # log-probability of a source token, below which the translation does not predict it

# ``rightness`` of a translation by its chrF, from 0 to 1, and the words of its source. Chosen by judgements of 165
# translations: a person calls a long sentence wrong for one wrong word, which hardly changes its chrF.
LENGTH_POWER, RIGHT_ERROR, WRONG_ERROR = 0.25, 0.6, 1.0
INVENTED_ERROR = 0.15  # added for each word that neither the language nor the reference has


class LogProbSum(NamedTuple):
    """The sum of the log-probabilities, if the search returned only that. Those of the tokens would need a second pass,
    which takes most of the time of the search, and they improve the confidence little."""

    total: float
    tokens: int  # EOS counted


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
    invented: tuple[str, ...] = ()  # words of the target that the target language does not have
    rarities: Sequence[float] = ()  # of the source's words, by `word_rarities`
    back: Sequence[float] | Floats = ()  # (S,) log-probabilities of the source's tokens given the target; () if unknown
    lost: tuple[str, ...] = ()  # words of the source that the target does not predict; () if unknown

    @property
    def mean_log_prob(self) -> float:
        if isinstance(self.log_probs, LogProbSum):
            return self.log_probs.total / max(1, self.log_probs.tokens)
        return float(np.mean(self.log_probs)) if len(self.log_probs) else 0.0

    @property
    def kind(self) -> str:
        return "fragment" if len(self.source.split()) <= FRAGMENT_WORDS else "sentence"


def features(seen: Observation) -> dict[str, float]:
    """
    >>> seen = Observation("The cat sleeps.", "Le chat dort.", [-0.1, -0.2, -0.3, -0.1, -0.1], 4)
    >>> {name: round(value, 2) for name, value in features(seen).items()}  # doctest: +NORMALIZE_WHITESPACE
    {'surprise': -1.56, 'length': 1.61, 'square': 2.44, 'both': -2.51, 'pieces': 1.33, 'written': 1.67, 'ratio': 0.08,
     'covered': 1.0, 'invented': 0.0, 'rarest': 0.0, 'rarity': 0.0}
    """
    tokens = seen.log_probs.tokens if isinstance(seen.log_probs, LogProbSum) else len(seen.log_probs)
    surprise, length = _surprise(seen.mean_log_prob), math.log(seen.source_tokens + 1)
    found = {
        "surprise": surprise,
        "length": length,
        "square": surprise**2,
        "both": surprise * length,  # a low probability tells more of a long sentence
        "pieces": max(1, seen.source_tokens) / max(1, len(seen.source.split())),  # rare words have many
        "written": max(1, tokens) / max(1, len(seen.target.split())),
        "ratio": abs(log_ratio(seen)),
        "covered": covered(seen.attention),
        "invented": math.log(1 + len(seen.invented)),
        "rarest": max(seen.rarities, default=0.0),
        "rarity": sum(seen.rarities) / max(1, len(seen.rarities)),
    }
    if len(seen.back):
        found["back"] = _surprise(float(np.mean(seen.back)))
        found["back_square"] = found["back"] ** 2
        found["back_both"] = found["back"] * length
        found["back_surprise"] = found["back"] * surprise
        found["back_lost"] = math.log(1 + sum(value < LOST for value in seen.back))
    return found


def _surprise(mean: float) -> float:
    """A logarithm: 0.1 nats per token more matter much for a probable sentence and little for an improbable one."""
    return math.log(SMALL - min(0.0, max(MIN_LOG_PROB, mean if math.isfinite(mean) else MIN_LOG_PROB)))


def invented_words(source: str, target: str, known: KnownWords, language: str) -> tuple[str, ...]:
    """Returns the words of the target that neither `known`, the words of its language, nor the source has.

    >>> invented_words("The cat, Zorro", "Le chat Zorro se chatouine", KnownWords(["le", "chat"]), "fr")
    ('chatouine',)
    """
    unlisted = known.unlisted(target[:MAX_CHARS_CHECKED])
    if not unlisted:
        return ()
    found, copied = [], set(LONG_WORD.findall(source[:MAX_CHARS_CHECKED].lower()))
    for word in dict.fromkeys(unlisted):
        lower = word.lower()
        compound = language in NOUN_CAPITALIZING_LANGUAGES and _is_compound(lower, known.words)
        if lower not in copied and not compound and not is_inflected_form(lower, known.words, language):
            found.append(word)
    return tuple(found)


def word_rarities(source: str, known: KnownWords) -> list[float]:
    """Returns how rare each source word of three letters or more is in the training text: ln(1 + rank / 3,000), so that
    the most frequent words have nearly 0. Empty if frequencies are unknown.

    >>> [round(value, 2) for value in word_rarities("the cat purrs", KnownWords(["the", "cat"], by_frequency=True))]
    [0.0, 0.0, 4.21]
    """
    return known.rarities(source[:MAX_CHARS_CHECKED]) if known.ordered else []


@lru_cache(MAX_REMEMBERED)
def _is_compound(word: str, words: frozenset[str]) -> bool:
    """Whether a word consists of two known words, with or without a linking s."""

    def known(part: str) -> bool:
        return part in words or part.capitalize() in words

    cuts = range(MIN_PART, len(word) - MIN_PART + 1)
    return any(known(word[at:]) and (known(word[:at]) or known(word[:at].removesuffix("s"))) for at in cuts)


def log_ratio(seen: Observation) -> float:
    """Returns the logarithm of the target's length in characters divided by the source's."""
    return math.log((len(seen.target) + LENGTH_SMOOTHING) / (len(seen.source) + LENGTH_SMOOTHING))


def covered(attention: WordAttention | None) -> float:
    """Returns the mean coverage of the source words, each counted up to 1; 1 without attention."""
    if attention is None or not attention.source_words or not attention.target_words:
        return 1.0
    return sum([min(one, 1.0) for one in attention.coverage]) / len(attention.coverage)


def predicted_rightness(values: Mapping[str, float], calibration: Calibration) -> float:
    """Returns the confidence, from 0 to 1. Weights of features unknown to this version are ignored."""
    total = calibration.bias
    total += sum(weight * values.get(name, 0.0) for name, weight in calibration.weights.items())
    return 0.5 * (1 + math.tanh(total / 2))  # σ, without overflow


def rightness(chrf: float, words: int, invented: int = 0) -> float:
    """Returns how right a translation is by its reference: 1 right, 0 wrong. `words` are those of the source,
    `invented` the invented words that the reference does not have.

    >>> [round(rightness(chrf, 16), 2) for chrf in (0.8, 0.6, 0.4)]
    [1.0, 0.5, 0.0]
    """
    error = (1 - chrf) * math.pow(max(2, words), LENGTH_POWER) + INVENTED_ERROR * invented
    return min(1.0, max(0.0, (WRONG_ERROR - error) / (WRONG_ERROR - RIGHT_ERROR)))


Labelled = tuple[Sequence[Observation], Sequence[float]]  # observations, and the rightness of each


def fit_calibration(
    sets: Sequence[Labelled], on: str, unwritten: float = 0.0, names: Sequence[str] = (), judged: Labelled | None = None
) -> Calibration:
    """Fits a calibration to sets of labelled observations, all of the same weight, by the features of these names;
    without names by all but those of `thorough`, for which there is then a second one if they are known. Those with
    verdicts have as much weight as all sets together. The limits of the marks are chosen by confidences that a fit to
    the other half of the text predicts."""
    weights = [1 / len(sets)] * len(sets) + [1.0] * (judged is not None)
    every_set = [*sets, judged] if judged else sets
    observations = [seen for some, _ in every_set for seen in some]
    values = [features(seen) for seen in observations]
    every, thorough = list(values[0]), None
    if not names and all("back" in row for row in values):
        thorough = fit_calibration(sets, "", unwritten, every, judged)
    names = names or [name for name in every if not name.startswith("back")]
    x = np.array([[row[name] for name in names] for row in values])  # (N, F)
    y = np.concatenate([np.asarray(labels, dtype=np.float64) for _, labels in every_set])
    shares = [np.full(len(some), weight / len(some)) for weight, (some, _) in zip(weights, every_set, strict=True)]
    share = np.concatenate(shares) * len(x) / sum(weights)
    middle, scale = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    z = (x - middle) / scale
    halves = np.arange(len(z)) % 2
    held_out = np.zeros(len(z))
    for half in (0, 1):
        bias, *fitted = logistic_fit(z[halves != half], y[halves != half], share[halves != half])
        held_out[halves == half] = 0.5 * (1 + np.tanh((bias + z[halves == half] @ np.array(fitted)) / 2))
    bias, *fitted = logistic_fit(z, y, share)
    own = np.array(fitted) / scale
    ratios = np.array([log_ratio(seen) for seen in observations])
    usual = float(np.median(ratios))
    kinds = np.array([seen.kind for seen in observations])
    chosen = {kind: kinds == kind for kind in ("fragment", "sentence")}
    curves = {kind: mark_limits(held_out[c], y[c], weights=share[c]) for kind, c in chosen.items()}
    return Calibration(
        {name: float(weight) for name, weight in zip(names, own, strict=True)},
        float(bias - own @ middle),
        usual,
        max(MIN_RATIO_SPREAD, float(1.4826 * np.median(np.abs(ratios - usual)))),  # robust estimate of σ
        unwritten,
        on,
        limits={kind: limits for kind, (limits, _) in curves.items()},
        found={kind: found for kind, (_, found) in curves.items()},
        thorough=thorough,
    )


def mark_limits(
    confidence: Floats, labels: Floats, shares: Sequence[float] = FALSE_ALARMS, weights: Floats | None = None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the confidence below which each of these shares of the right translations lies, and the share of wrong
    ones below each; translations may have weights. Limits are 0, so that nothing is marked, without a right one.

    >>> mark_limits(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]))[1]
    (1.0, 1.0, 1.0, 1.0)
    """
    weights = np.ones(len(confidence)) if weights is None else weights
    right, wrong = confidence[labels == 1], confidence[labels == 0]
    limits = found = np.zeros(len(shares))
    if len(right):
        order = np.argsort(right)
        below = np.cumsum(weights[labels == 1][order])
        below -= below[0]
        limits = np.interp(np.asarray(shares) * below[-1], below, right[order])
    if len(wrong):
        found = np.average(wrong[:, None] < limits, axis=0, weights=weights[labels == 0])
    return tuple(limits.tolist()), tuple(found.tolist())


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
    quality: float  # mean rightness


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
    """Returns the expected calibration error: |mean confidence − mean rightness| of each bin, weighted by its size.

    >>> round(calibration_error([Bin(3, 0.15, 0.2), Bin(1, 0.95, 0.9)]), 3)
    0.05
    """
    total = sum(one.count for one in found)
    return sum(one.count * abs(one.confidence - one.quality) for one in found) / max(1, total)
