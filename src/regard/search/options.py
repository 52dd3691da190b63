"""How to search: the options of every strategy, as plain numbers that any engine reads.

A strategy is what the options say together: a beam of 1 is greedy search, `groups` make a diverse beam, `sampling`
draws instead of searching, and `mbr` chooses among what was drawn. docs/search.md has the formula of each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from regard.bundle.search_config import MOST_BEAMS, STEEPEST
from regard.errors import InputError

Utility = Literal["chrf", "bleu"]
Precision = Literal["auto", "float32", "bfloat16"]  # of searching on a GPU: "auto" is bfloat16 where it computes in it
STRONGEST = 100.0  # penalty; larger ones only lose digits
BATCH_TOKENS = 4096  # source tokens of a batch


@dataclass(frozen=True)
class Sampling:
    """Options of sampling: `translate(…, sampling=Sampling(temperature=0.8))`."""

    temperature: float = 1.0
    top_k: int | None = None  # keep the k most probable tokens
    top_p: float = 1.0  # keep the most probable tokens with this much probability together
    min_p: float = 0.0  # keep tokens with at least this share of the best token's probability
    seed: int = 0

    def __post_init__(self) -> None:
        if not _real(self.temperature) or not 0 < self.temperature < math.inf:
            remedy = "for the most probable tokens use a beam of 1"
            raise InputError(f"temperature must be above 0, but is {self.temperature}; {remedy}")
        if self.top_k is not None and (not _whole(self.top_k) or self.top_k < 1):
            raise InputError(f"top_k must be at least 1, but is {self.top_k}; leave it out to keep all tokens")
        if not _real(self.top_p) or not 0 < self.top_p <= 1:
            raise InputError(f"top_p must be above 0 and at most 1, but is {self.top_p}; 1 keeps all tokens")
        if not _real(self.min_p) or not 0 <= self.min_p <= 1:
            raise InputError(f"min_p must be from 0 to 1, but is {self.min_p}; 0 keeps all tokens")
        if not _whole(self.seed) or self.seed < 0:
            raise InputError(f"seed must be a whole number from 0 on, but is {self.seed}")


@dataclass(frozen=True)
class Mbr:
    """Options of minimum Bayes risk decoding (`mbr.py`): `translate(…, mbr=Mbr(samples=32, utility="chrf"))`."""

    samples: int = 32
    utility: Utility = "chrf"

    def __post_init__(self) -> None:
        if not _whole(self.samples) or not 2 <= self.samples <= MOST_BEAMS:
            raise InputError(
                f"the samples of MBR must be from 2 to {MOST_BEAMS}, but are {self.samples}", parameter="mbr"
            )
        if self.utility not in get_args(Utility):
            raise InputError(f'utility must be "chrf" or "bleu", but is {self.utility!r}')


@dataclass(frozen=True)
class SearchOptions:
    """What a strategy may use. `nbest` hypotheses are returned for each source."""

    beam: int
    length_penalty: float
    nbest: int = 1
    sampling: Sampling | None = None
    no_repeat: int = 0  # no run of so many tokens twice; the caller makes a constraint of it
    coverage_penalty: float = 0.0  # β of Wu et al. 2016: hypotheses that leave source tokens unattended rank lower
    repetition_penalty: float = 1.0  # what log P of a token is multiplied by if the hypothesis has said it before
    groups: int = 1  # of a diverse beam: each group avoids the tokens of those before it
    diversity: float = 0.5  # how much: taken off a token's log P for each time an earlier group chose it in this step
    min_length: int = 0  # tokens before the end
    max_length: int | None = None  # tokens before the end; None: twice the source and 20
    exact: bool = False  # stop only when no live hypothesis can still be among the best, however it goes on
    mbr: Mbr | None = None  # choose among `mbr.samples` samples; the caller does it
    attention: bool = False  # whether an engine that has it at hand adds the best hypothesis's attention
    token_log_probs: bool = False  # and the model's own log-probability of each of its tokens, not of the whole alone

    def __post_init__(self) -> None:
        self._check_nbest()
        self._check_penalties()
        self._check_lengths()
        self._check_strategy()

    def _check_nbest(self) -> None:
        if not _whole(self.beam) or not 1 <= self.beam <= MOST_BEAMS:
            raise InputError(f"beam must be a whole number from 1 to {MOST_BEAMS}, but is {self.beam}")
        if not _whole(self.nbest):
            raise InputError(f"nbest must be a whole number, but is {self.nbest!r}")
        if not isinstance(self.sampling, Sampling | None):
            raise InputError(f"sampling must be a regard.Sampling(temperature=…), but is {self.sampling!r}")
        if not isinstance(self.mbr, Mbr | None):
            raise InputError(f"mbr must be a regard.Mbr(samples=…), but is {self.mbr!r}")
        if self.mbr is not None:
            if not 1 <= self.nbest <= self.mbr.samples:
                most = f"the samples of MBR ({self.mbr.samples})"
                raise InputError(f"nbest must be between 1 and {most}, but is {self.nbest}")
        elif self.sampling is not None:
            if not 1 <= self.nbest <= MOST_BEAMS:
                raise InputError(f"the number of samples, nbest, must be from 1 to {MOST_BEAMS}, but is {self.nbest}")
        elif not 1 <= self.nbest <= self.beam:
            remedy = f"; use a wider beam: {self.nbest}" if self.beam < self.nbest <= MOST_BEAMS else ""
            raise InputError(f"nbest must be between 1 and the beam ({self.beam}), but is {self.nbest}{remedy}")

    def _check_penalties(self) -> None:
        for name, least, most, unused in (
            ("length_penalty", 0.0, STEEPEST, 0),
            ("coverage_penalty", 0.0, STRONGEST, 0),
            ("repetition_penalty", 1.0, STRONGEST, 1),
            ("diversity", 0.0, STRONGEST, 0),
        ):
            value = getattr(self, name)
            if not _real(value) or not least <= value <= most:
                raise InputError(
                    f"{name} must be a number from {least:g} to {most:g}, but is {value}; {unused} changes nothing"
                )
        if not _whole(self.no_repeat) or self.no_repeat < 0:
            raise InputError(f"no_repeat must be a whole number from 0 on, but is {self.no_repeat}; 0 forbids nothing")

    def _check_lengths(self) -> None:
        if not _whole(self.min_length) or self.min_length < 0:
            raise InputError(f"min_length must be a whole number from 0 on, but is {self.min_length}")
        if self.max_length is not None and (not _whole(self.max_length) or self.max_length < 1):
            raise InputError(f"max_length must be a whole number from 1 on, but is {self.max_length}")
        if self.max_length is not None and self.min_length > self.max_length:
            raise InputError(
                f"min_length must be at most max_length ({self.max_length}), but is {self.min_length}; "
                "no translation can be both"
            )

    def _check_strategy(self) -> None:
        if not _whole(self.groups) or not 1 <= self.groups <= self.beam or self.beam % self.groups:
            divisors = [n for n in range(1, self.beam + 1) if self.beam % n == 0]
            allowed = ", ".join(map(str, divisors[:10]))
            raise InputError(f"groups must divide the beam ({self.beam}): {allowed}; but is {self.groups}")
        if self.mbr is not None and self.sampling is None:
            raise InputError("mbr chooses among samples, so it needs sampling=regard.Sampling(…)")
        if self.sampling is None:
            return
        searched = {"groups": self.groups > 1, "coverage_penalty": self.coverage_penalty > 0, "exact": self.exact}
        for name in (name for name, asked in searched.items() if asked):
            raise InputError(
                f"{name} is of beam search, but translations are drawn here; give one or the other", parameter=name
            )

    @property
    def strategy(self) -> str:
        if self.sampling is not None:
            return "sampling"
        return "greedy" if self.beam == 1 else "beam"

    @property
    def rows(self) -> int:
        """Hypotheses of a source that are extended at a time."""
        return self.beam if self.sampling is None else self.nbest


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_weight(name: str, weight: float) -> None:
    """Of a lexicon or of rules that are mixed in (`steering.py`)."""
    if not isinstance(weight, int | float) or not 0 <= weight < 1:
        raise InputError(f"{name} must be a number from 0 (off) to below 1, but is {weight!r}; try 0.2")


def checked_precision(precision: Precision) -> Precision:
    if precision not in get_args(Precision):
        raise InputError(f'precision must be "auto", "float32" or "bfloat16", but is {precision!r}')
    return precision
