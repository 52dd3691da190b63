"""What a search returns, and how long it may go on."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Hypothesis:
    """A finished candidate: its tokens without BOS and EOS, and what the model thinks of it."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]  # one per token, and EOS last where it was said
    score: float  # what the search ranked by

    @property
    def log_prob(self) -> float:
        return sum(self.log_probs)


def length_limits(mask: Tensor, ratio: float = 2.0, extra: int = 20) -> list[int]:
    """How many tokens each translation may have. It depends on its own source alone, never on its neighbours."""
    return [int(ratio * n) + extra for n in mask.sum(dim=1).tolist()]
