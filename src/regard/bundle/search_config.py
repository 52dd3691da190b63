"""How a model searches unless told otherwise: section [decode] of a recipe, stored in the bundle's card."""

from __future__ import annotations

from dataclasses import dataclass

from regard.config import key, require

MOST_BEAMS = 1000  # hypotheses; more only take memory
STEEPEST = 20.0  # length penalty; powers of lengths stay finite


@dataclass(frozen=True)
class DecodeConfig:
    """Section [decode] of a recipe."""

    beam: int = key(4, "hypotheses kept per sentence; 1 is greedy search")
    length_penalty: float = key(0.6, "α of lp(Y) = ((5 + |Y|) / 6)^α; 0 ranks by plain probability")
    mend: bool = key(
        False, "normalize informal input: lower case for CAPITALS, misspellings, emoji aside (text/normalize_input.py)"
    )

    def __post_init__(self) -> None:
        require(self.beam >= 1, f"decode.beam must be at least 1, but is {self.beam}")
        require(self.beam <= MOST_BEAMS, f"decode.beam must be at most {MOST_BEAMS}, but is {self.beam}")
        require(
            0 <= self.length_penalty <= STEEPEST,
            f"decode.length_penalty must be a number from 0 on, at most {STEEPEST:g}, but is {self.length_penalty}",
        )
