"""What a search returns, and what it does about scores that are not numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.errors import BundleError


@dataclass(frozen=True)
class Hypothesis:
    """A finished candidate: its tokens without BOS and EOS, and their log-probabilities."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]  # one per token; EOS last, unless the length limit cut the hypothesis off
    score: float  # what the search ranked by
    total: float | None = None  # log-probability of the whole, where the engine has not given those of the tokens
    attention: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)  # as `Engine.attention`

    @property
    def log_prob(self) -> float:
        return sum(self.log_probs) if self.total is None else self.total


def check_log_probs(best: Sequence[float]) -> None:
    """Refuse NaN, and −∞ for the best continuation, which would mean that no token has a probability."""
    if not all(log_prob > -math.inf for log_prob in best):
        raise BundleError(
            "the model gives NaN instead of probabilities, so it cannot translate: its weights are damaged or its "
            "training diverged; copy the model folder again, or train it again"
        )
