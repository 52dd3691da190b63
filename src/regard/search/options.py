"""The options of every search strategy, as plain values that any engine reads.

The options together determine the strategy: a beam of 1 is greedy search, `groups` make a diverse beam, `sampling`
draws instead of searching, and `mbr` chooses among the samples. docs/search.md has the formula of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.bundle.card import MAX_BEAM, MAX_LENGTH_PENALTY
from regard.config import check_bounds, key
from regard.errors import InputError

Utility = Literal["chrf", "bleu"]
Precision = Literal["auto", "float32", "bfloat16"]  # of search on a GPU: "auto" is bfloat16 where supported
MAX_PENALTY = 100.0  # penalty; larger ones only lose precision
BATCH_TOKENS = 4096  # source tokens of a batch


@dataclass(frozen=True)
class Sampling:
    """Options of sampling: `translate(…, sampling=Sampling(temperature=0.8))`."""

    temperature: float = key(1.0, "Temperature of the distribution; below 1 favours probable tokens.", 0)
    top_k: int | None = key(None, "Draw from the N most probable tokens.", 1, otherwise="all tokens")
    top_p: float = key(1.0, "Draw from the fewest tokens whose probabilities add up to X.", 0, 1)
    min_p: float = key(0.0, "Draw from the tokens with at least X times the best token's probability.", 0, 1)
    seed: int = key(0, "Seed of the random numbers.", 0)

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.temperature == 0:
            raise InputError("temperature must be above 0, but is 0; for the most probable tokens use a beam of 1")
        if self.top_p == 0:
            raise InputError("top_p must be above 0 and at most 1, but is 0; 1 keeps all tokens")


@dataclass(frozen=True)
class Mbr:
    """Options of minimum Bayes risk decoding (`mbr.py`): `translate(…, mbr=Mbr(samples=32, utility="chrf"))`."""

    samples: int = key(32, "Draw N samples and take the one that is most like all of them.", 2, MAX_BEAM)
    utility: Utility = key("chrf", "How the similarity of two texts is measured.")

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The options that a search and a call of `translate` share: all but the beam and the length penalty, for which
    models have defaults."""

    nbest: int = key(1, "Translations per text, best first, no two equal; at most the beam.", 1, MAX_BEAM)
    sampling: Sampling | None = None  # draw `nbest` translations at random instead of searching for the best
    mbr: Mbr | None = None  # minimum Bayes risk: the caller chooses among `mbr.samples` samples
    no_repeat: int = key(0, "Never repeat N tokens in a row, unless the source repeats itself; 0: no limit.", 0, 100)
    coverage_penalty: float = key(
        0.0, "Against source tokens without attention: β of Wu et al. 2016; try 0.2.", 0, MAX_PENALTY
    )
    repetition_penalty: float = key(
        1.0, "Log-probabilities of tokens that occurred before are multiplied by X; 1 changes nothing.", 1, MAX_PENALTY
    )
    groups: int = key(
        1, "Diverse beam: N groups, which divide the beam; each avoids the tokens of those before it.", 1, MAX_BEAM
    )
    diversity: float = key(
        0.5,
        "Of a diverse beam: subtracted from the log-probability of tokens of other groups.",
        0,
        MAX_PENALTY,
    )
    min_length: int = key(0, "Fewest tokens of each translated sentence.", 0, 100_000)
    max_length: int | None = key(
        None, "Most tokens of each translated sentence.", 1, 100_000, otherwise="twice the source's and 20"
    )
    exact: bool = key(False, "Search until no hypothesis of the beam can still overtake the best ones.")

    def check(self, beam: int) -> None:
        """Raises InputError if options are out of bounds or contradict each other."""
        check_bounds(self)
        if not isinstance(self.sampling, Sampling | None):
            raise InputError(f"sampling must be a regard.Sampling(temperature=…), but is {self.sampling!r}")
        if not isinstance(self.mbr, Mbr | None):
            raise InputError(f"mbr must be a regard.Mbr(samples=…), but is {self.mbr!r}")
        if self.mbr is not None:
            if self.sampling is None:
                raise InputError("mbr chooses among samples, so it needs sampling=regard.Sampling(…)")
            if self.nbest > self.mbr.samples:
                most = f"the samples of MBR ({self.mbr.samples})"
                raise InputError(f"nbest must be between 1 and {most}, but is {self.nbest}")
        elif self.sampling is None and self.nbest > beam:
            remedy = f"use a wider beam: {self.nbest}"
            raise InputError(f"nbest must be between 1 and the beam ({beam}), but is {self.nbest}; {remedy}")
        if self.max_length is not None and self.min_length > self.max_length:
            raise InputError(
                f"min_length must be at most max_length ({self.max_length}), but is {self.min_length}; "
                "no translation can be both"
            )
        if beam % self.groups:
            divisors = ", ".join([str(n) for n in range(1, beam + 1) if beam % n == 0][:10])
            raise InputError(f"groups must divide the beam ({beam}): {divisors}; but is {self.groups}")
        searched = {"groups": self.groups > 1, "coverage_penalty": self.coverage_penalty > 0, "exact": self.exact}
        for name in (name for name, given in searched.items() if given and self.sampling is not None):
            raise InputError(
                f"{name} is of beam search, but translations are drawn here; give one or the other", parameter=name
            )


@dataclass(frozen=True)
class SearchOptions(SearchSettings):
    """The options of an engine's search. `nbest` hypotheses are returned for each source."""

    beam: int = key(4, "Hypotheses kept per sentence; 1 is greedy search.", 1, MAX_BEAM)
    length_penalty: float = key(0.6, "α of ((5 + length) / 6)^α.", 0, MAX_LENGTH_PENALTY)
    attention: bool = False  # whether to add the best hypothesis's attention, if the engine has it

    def __post_init__(self) -> None:
        self.check(self.beam)

    @property
    def strategy(self) -> str:
        if self.sampling is not None:
            return "sampling"
        return "greedy" if self.beam == 1 else "beam"

    @property
    def rows(self) -> int:
        """The number of hypotheses of a source that are extended at the same time."""
        return self.beam if self.sampling is None else self.nbest
