"""The search strategies, in one table: how a batch of sources becomes hypotheses.

A strategy knows a model by its contract alone (`models/base.py`). To add one: a file with its algorithm, a line in
`SEARCHES`, and what selects it in `SearchOptions.strategy`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from torch import Tensor

from regard.bundle.search_config import MOST_BEAMS
from regard.decode.beam import beam_search
from regard.decode.greedy import greedy
from regard.decode.hypothesis import Hypothesis
from regard.decode.sampling import Sampling, sample
from regard.errors import InputError
from regard.models.base import Model


@dataclass(frozen=True)
class SearchOptions:
    """What a strategy may use. `nbest` hypotheses are returned for each source."""

    beam: int
    length_penalty: float
    nbest: int = 1
    sampling: Sampling | None = None

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


def _greedy(model: Model, src: Tensor, mask: Tensor, options: SearchOptions) -> list[list[Hypothesis]]:
    return [[hypothesis] for hypothesis in greedy(model, src, mask)]


def _beam(model: Model, src: Tensor, mask: Tensor, options: SearchOptions) -> list[list[Hypothesis]]:
    return beam_search(model, src, mask, options.beam, options.length_penalty)


def _sampling(model: Model, src: Tensor, mask: Tensor, options: SearchOptions) -> list[list[Hypothesis]]:
    assert options.sampling is not None
    return sample(model, src, mask, options.nbest, **asdict(options.sampling))


Search = Callable[[Model, Tensor, Tensor, SearchOptions], list[list[Hypothesis]]]

SEARCHES: dict[str, Search] = {"greedy": _greedy, "beam": _beam, "sampling": _sampling}


def search(model: Model, src: Tensor, mask: Tensor, options: SearchOptions) -> list[list[Hypothesis]]:
    """The n-best list of every source: src (B, S) ids with EOS, mask (B, S)."""
    return [found[: options.nbest] for found in SEARCHES[options.strategy](model, src, mask, options)]
