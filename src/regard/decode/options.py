"""How to search: the options of every strategy, as plain numbers that any engine reads."""

from __future__ import annotations

from dataclasses import dataclass

from regard.bundle.search_config import MOST_BEAMS
from regard.errors import InputError


@dataclass(frozen=True)
class Sampling:
    """Options of sampling: `translate(…, sampling=Sampling(temperature=0.8))`."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class SearchOptions:
    """What a strategy may use. `nbest` hypotheses are returned for each source."""

    beam: int
    length_penalty: float
    nbest: int = 1
    sampling: Sampling | None = None
    no_repeat: int = 0  # no run of so many tokens twice; the caller makes a constraint of it

    def __post_init__(self) -> None:
        if not isinstance(self.nbest, int):
            raise InputError(f"nbest must be a whole number, but is {self.nbest!r}")
        if not isinstance(self.sampling, Sampling | None):
            raise InputError(f"sampling must be a regard.Sampling(temperature=…), but is {self.sampling!r}")
        if self.sampling is not None:
            if not 1 <= self.nbest <= MOST_BEAMS:
                raise InputError(f"the number of samples, nbest, must be from 1 to {MOST_BEAMS}, but is {self.nbest}")
        elif not 1 <= self.nbest <= self.beam:
            remedy = f"; use a wider beam: {self.nbest}" if self.beam < self.nbest <= MOST_BEAMS else ""
            raise InputError(f"nbest must be between 1 and the beam ({self.beam}), but is {self.nbest}{remedy}")

    @property
    def strategy(self) -> str:
        if self.sampling is not None:
            return "sampling"
        return "greedy" if self.beam == 1 else "beam"

    @property
    def rows(self) -> int:
        """Hypotheses of a source that are extended at a time."""
        return self.beam if self.sampling is None else self.nbest
