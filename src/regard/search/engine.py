"""What translates token ids: the interface of an engine. A pipeline knows nothing else of a model.

    search      sources → hypotheses, by any strategy of `options.py`
    attention   what the tokens of given translations attended to
    log_probs   how probable given translations are, token by token

`native_engine.py` does all of it with the package's own models, in torch. Ids have neither BOS nor EOS. The result for
a request does not depend on the other requests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.errors import BundleError
from regard.search.constraints import Constraint
from regard.search.options import SearchOptions

Ids = tuple[int, ...]
Weights = NDArray[np.float64]  # (T + 1, S + 1): the attention of each target token, EOS last on both sides
Progress = Callable[[int], None]  # called with the number of requests that were finished


class SearchRequest(NamedTuple):
    """One sentence to translate."""

    ids: Ids  # of the source, the tag's first where there is one
    constraint: Constraint | None = None
    prefix: Ids = ()  # how its translation begins


class Engine(Protocol):
    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """The n-best list of each request, in their order."""
        ...

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        """One map for each pair, of the heads that align; None where the model has no attention."""
        ...

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        """For each pair the log-probability of each target token and of EOS, (T + 1,)."""
        ...


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


def check_log_probs(best: Sequence[float]) -> None:
    """Refuse NaN, and −∞ for the best continuation, which would mean that no token has a probability."""
    if not all(log_prob > -math.inf for log_prob in best):
        raise BundleError(
            "the model gives NaN instead of probabilities, so it cannot translate: its weights are damaged or its "
            "training diverged; copy the model folder again, or train it again"
        )


def length_penalty(length: int, alpha: float) -> float:
    """lp(Y) = ((5 + |Y|) / 6)^α, EOS counted; a hypothesis is ranked by log P(Y) / lp(Y) (Wu et al. 2016).

    >>> length_penalty(1, 0.6), round(length_penalty(13, 0.5), 3)
    (1.0, 1.732)
    """
    return float(((5 + length) / 6) ** alpha)


def token_batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of sentences, longest first, in groups whose padded size stays within the budget of tokens; a single
    sentence may exceed it.

    >>> list(token_batches([3, 9, 4], budget=12))
    [[1], [2, 0]]
    """
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if group and (len(group) + 1) * (lengths[group[0]] + 1) > budget:  # + EOS
            yield group
            group = []
        group.append(i)
    if group:
        yield group
