"""What a search strategy returns, how long it may go on, and what it does about scores that are not numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import BundleError

if TYPE_CHECKING:
    from torch import Tensor


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


def length_limits(
    mask: Tensor, most: int | None = None, ratio: float = 2.0, extra: int = 20, needs: Sequence[int] | None = None
) -> list[int]:
    """The most tokens of each translation. It depends on its own source alone, not on the rest of the batch, on what a
    constraint needs in addition (`needs`), and on how many positions the model has (`most`): BOS takes the first."""
    limits = [int(ratio * n) + extra for n in mask.sum(dim=1).tolist()]
    if needs is not None:
        limits = [limit + need for limit, need in zip(limits, needs, strict=True)]
    return limits if most is None else [min(limit, most - 1) for limit in limits]


def check_log_probs(best: Sequence[float]) -> None:
    """Refuse NaN, and −∞ for the best continuation, which would mean that no token has a probability."""
    if not all(log_prob > -math.inf for log_prob in best):
        raise BundleError(
            "the model gives NaN instead of probabilities, so it cannot translate: its weights are damaged or its "
            "training diverged; copy the model folder again, or train it again"
        )
