"""Reranking: choose among given translations by features of any systems, with weights learnt on development text.

The usual hybrid: one system proposes (the phrase-based one its n best), others judge (a neural model's log-probability
becomes one more feature), and PRO (`tune.py`) finds what each judgement is worth in BLEU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.course.phrases.tune import pro, scored_candidates


class Proposals(NamedTuple):
    """Translations of one sentence, each with the same number of features."""

    texts: Sequence[str]
    features: Sequence[Sequence[float]]

    def best(self, weights: Sequence[float]) -> str:
        """The text with the highest weighted sum; of equals the first.

        >>> Proposals(["un", "deux"], [[1.0, 0.0], [0.0, 2.0]]).best([1.0, 1.0])
        'deux'
        """
        return self.texts[int(np.argmax(np.array(self.features) @ np.array(weights)))]


def learn_reranking(proposals: Sequence[Proposals], references: Sequence[str], seed: int = 1) -> tuple[float, ...]:
    """The weights that rank the proposals of development sentences most as BLEU ranks them."""
    scored = [
        scored_candidates(some.features, some.texts, reference)
        for some, reference in zip(proposals, references, strict=True)
    ]
    return pro(scored, [1.0] * len(proposals[0].features[0]), seed)
