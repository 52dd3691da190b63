"""Section [reward] of a recipe: what training maximises, the references' likelihood or a reward of whole translations.

The equations are in `training/reward.py`.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal

from regard.config import key, require


@dataclass(frozen=True)
class RewardConfig:
    objective: Literal["likelihood", "minimum-risk", "self-critical"] = key(
        "likelihood", "what is maximised: the references' likelihood, or a reward of the model's own translations"
    )
    reward: Literal["gleu", "bleu"] = key("gleu", "score of a sentence that is the reward")
    samples: int = key(15, "translations sampled for each sentence")
    likelihood_weight: float | None = key(
        None, "weight of likelihood beside rewards (none: as published, 0.017 for self-critical, 0 for minimum-risk)"
    )
    baseline: Literal["mean", "greedy"] = key(
        "mean", "self-critical: reward a sample is compared with: the samples' mean, or the greedy translation's"
    )
    sharpness: float = key(0.005, "minimum-risk: α of q ∝ p^α; the gradient grows with it")
    with_reference: bool = key(True, "minimum-risk: the reference is one of the candidates")

    def __post_init__(self) -> None:
        unused = [f.name for f in dataclasses.fields(self) if getattr(self, f.name) != f.default]
        require(
            self.has_rewards or not unused,
            f"reward.{''.join(unused[:1])} is set, but reward.objective is likelihood, which has no rewards; "
            "set reward.objective to self-critical or minimum-risk",
        )
        fewest = 2 if self.compares_samples else 1
        require(
            self.samples >= fewest,
            f"reward.samples must be at least {fewest} for {self.objective}, but is {self.samples}",
        )
        require(0 < self.sharpness < math.inf, f"reward.sharpness must be above 0, but is {self.sharpness}")
        weight = self.likelihood_weight
        valid = weight is None or 0 <= weight < math.inf
        require(valid, f"reward.likelihood_weight must be 0 or more, but is {weight}")

    @property
    def has_rewards(self) -> bool:
        return self.objective != "likelihood"

    @property
    def compares_samples(self) -> bool:
        """Whether samples are compared with each other only, so that a single one has no gradient."""
        return self.baseline == "mean" if self.objective == "self-critical" else not self.with_reference

    @property
    def likelihood_share(self) -> float:
        """The weight of likelihood; the published one where none is given."""
        published = {"likelihood": 1.0, "self-critical": 0.017, "minimum-risk": 0.0}
        return published[self.objective] if self.likelihood_weight is None else self.likelihood_weight
