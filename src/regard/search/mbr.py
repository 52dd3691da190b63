"""Minimum Bayes risk decoding: chooses the sample that is most similar to all samples.

    y* = argmax over y in Y of u(y)      u(y) = 1/n · Σ U(y, y') over y' in Y      Y: n samples of P(y | x)

U is chrF or BLEU of y with y' as its reference, between texts (Kumar and Byrne 2004; Eikema and Aziz 2020). The most
probable translation need not be typical: a sample that shares its words with many others has the least expected error.
A text drawn several times counts as many times. The result depends only on the texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.metrics.pairwise import pairwise_bleu, pairwise_chrf
from regard.search.engine import Hypothesis
from regard.search.options import Utility

UTILITIES = {"chrf": pairwise_chrf, "bleu": pairwise_bleu}


def expected_utilities(texts: Sequence[str], utility: Utility = "chrf") -> list[float]:
    """Returns u of each text, from 0 to 100.

    >>> [round(u, 1) for u in expected_utilities(["the cat", "the cat", "a dog"])]
    [68.6, 68.6, 36.3]
    """
    times = Counter(texts)  # in the order of first occurrence
    table = UTILITIES[utility](list(times))  # (distinct, distinct)
    weights = np.fromiter(times.values(), np.float64, len(times)) / max(1, len(texts))
    found = dict(zip(times, (table * weights).sum(axis=1).tolist(), strict=True))
    return [found[text] for text in texts]


def least_risk(hypotheses: Sequence[Hypothesis], texts: Sequence[str], utility: Utility = "chrf") -> list[Hypothesis]:
    """Returns the samples by decreasing expected utility, which becomes their score; ties stay in the order of their
    draws."""
    utilities = expected_utilities(texts, utility)
    scored = [replace(one, score=u) for one, u in zip(hypotheses, utilities, strict=True)]
    return sorted(scored, key=lambda one: -one.score)
