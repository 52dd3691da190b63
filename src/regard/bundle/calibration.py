"""The constants of a model's confidence, stored in its card: how features of a translation predict its chrF.

`translation/confidence.py` says what the features are and fits the constants; `benchmarks/guard.py` measures them and
writes them into a card:

    "calibration": {"weights": {"surprise": -0.8, …}, "bias": -1.0, "ratio": 0.12, "ratio_spread": 0.13,
                    "unwritten": 0.04, "on": "Tatoeba dev, Europarl dev", "errors": {"Tatoeba test": 0.02}}

"word_calibration" is the same for single words (`explain/word_confidence.py`, `benchmarks/word_confidence.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from regard.config import require


@dataclass(frozen=True)
class Calibration:
    """chrF ≈ σ(bias + Σ weight · feature). The defaults are those of en-fr-classic, rounded; for another model
    they order its translations by quality, but the figures are not calibrated (`on` is empty)."""

    weights: dict[str, float] = field(
        default_factory=lambda: {"surprise": -0.8, "spread": -0.35, "length": -0.2, "covered": 0.5}
    )
    bias: float = -1.0
    ratio: float = 0.1  # the usual log of (characters of the target + 10) / (characters of the source + 10)
    ratio_spread: float = 0.25  # its standard deviation
    unwritten: float = 0.0  # nats a token that pieces take which a search among those of the target language leaves out
    on: str = ""  # the text it was fitted on; empty: not fitted for this model
    errors: dict[str, float] = field(default_factory=dict)  # expected calibration error by test set

    def __post_init__(self) -> None:
        numbers = (*self.weights.values(), self.bias, self.ratio, self.ratio_spread, self.unwritten)
        require(all(map(math.isfinite, numbers)), "calibration must hold finite numbers")
        require(self.ratio_spread > 0, f"calibration.ratio_spread must be above 0, but is {self.ratio_spread}")

    @property
    def fitted(self) -> bool:
        return bool(self.on)


@dataclass(frozen=True)
class WordCalibration:
    """P(a word stands in a reference) ≈ σ(bias + Σ weight · feature)."""

    weights: dict[str, float]
    bias: float
    on: str  # the text it was fitted on
    errors: dict[str, float] = field(default_factory=dict)  # expected calibration error by test set

    def __post_init__(self) -> None:
        require(all(map(math.isfinite, (*self.weights.values(), self.bias))), "word_calibration must be finite")
