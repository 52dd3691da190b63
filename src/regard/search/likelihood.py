"""The probability of a given translation by a model, and its perplexity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from regard.search.engine import length_penalty
from regard.text.words import shortened


@dataclass(frozen=True, repr=False)
class Likelihood:
    """The probability of a translation: log P(target | source), as a whole and token by token."""

    source: str
    target: str
    tokens: tuple[str, ...]  # vocabulary entries of the target, EOS last
    token_log_probs: tuple[float, ...]  # natural logarithms, one per token

    @property
    def log_prob(self) -> float:
        """The log-probability of the whole target, EOS included."""
        return sum(self.token_log_probs)

    @property
    def perplexity(self) -> float:
        """The perplexity per token, EOS included."""
        return perplexity(self.log_prob, len(self.token_log_probs))

    def score(self, alpha: float) -> float:
        """The score by which a search with this length penalty ranks the translation."""
        return self.log_prob / length_penalty(len(self.token_log_probs), alpha)

    def __repr__(self) -> str:
        texts = f"{shortened(self.source)!r}, {shortened(self.target)!r}"
        return f"Likelihood({texts}, log_prob={self.log_prob:.4f}, perplexity={self.perplexity:.4g})"


def perplexity(log_prob: float, tokens: int) -> float:
    """exp of the mean negative log-probability; inf where it exceeds a float.

    >>> round(perplexity(4 * math.log(1 / 8), 4), 6)
    8.0
    """
    mean = -log_prob / tokens
    return math.exp(mean) if mean < 700 else math.inf
