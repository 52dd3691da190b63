"""The interface of an engine, which translates token ids. A pipeline uses a model only through it.

    search              sources → hypotheses, by any strategy of `options.py`
    search_in_context   the same for sentences that follow a translated one
    attention           the attention weights of given translations
    log_probs           the log-probabilities of the tokens of given translations
    next_log_probs      the log-probabilities of all tokens after a prefix
    branches            the most probable next tokens after a prefix, each with the few tokens that follow it
    continued           the rest of a translation after a prefix

`native_engine.py` implements it with the package's own models, in torch. Ids have neither BOS nor EOS. The result for
a request does not depend on the other requests. A request may have a `StopSignal`: its search is abandoned between two
steps, without an effect on the others.
"""

from __future__ import annotations

import math
import time
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
Progress = Callable[[int], None]  # called with the number of newly finished requests

MAX_BRANCHES = 10  # next tokens of `branches`


@dataclass(eq=False)
class StopSignal:
    """Tells a search when to abandon a request: at a deadline of `time.monotonic`, or when `is_cancelled` returns True.
    Without `fallback`, an engine that would have to leave the request to a slower one abandons it instead."""

    deadline: float = math.inf
    is_cancelled: Callable[[], bool] = lambda: False
    fallback: bool = True
    abandoned: bool = False  # set by the search; the request then has no hypotheses

    def check(self) -> bool:
        """Returns whether to abandon the request, and records it."""
        self.abandoned = self.abandoned or time.monotonic() >= self.deadline or self.is_cancelled()
        return self.abandoned


class Context(NamedTuple):
    """The sentence before the one to translate."""

    source: Ids
    target: Ids  # its translation
    tags: int = 0  # source ids that stand before the context: those of the tag


class SearchRequest(NamedTuple):
    """One sentence to translate."""

    ids: Ids  # source ids, beginning with the tag's if there is one
    constraint: Constraint | None = None
    prefix: Ids = ()  # forced first tokens of the translation
    stops: tuple[StopSignal, ...] = ()  # the request is abandoned when all of them say so; never without any
    context: Context | None = None  # only of requests for `search_in_context`
    free_search_failed: bool = False  # a search without the constraint gave no hypothesis that meets it

    @property
    def is_stopped(self) -> bool:
        return bool(self.stops) and all(stop.check() for stop in self.stops)

    @property
    def may_fall_back(self) -> bool:
        """Whether a slower engine may take over; a request whose stop signals exclude it is abandoned."""
        for stop in self.stops:
            stop.abandoned |= not stop.fallback
        return not self.is_stopped


class Branch(NamedTuple):
    """The tokens after a prefix; EOS is one of them if the translation ends."""

    ids: Ids
    log_prob: float  # of these tokens together


class Engine(Protocol):
    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        """Returns the n-best list of each request, in the order of the requests; empty for a stopped request."""
        ...

    def search_in_context(self, requests: Sequence[SearchRequest], options: SearchOptions) -> list[list[Hypothesis]]:
        """Returns the n-best list of each request, given its context (`context_search.py`); empty if none is found."""
        ...

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        """Returns one map for each pair, of the alignment heads; None if the model has no attention."""
        ...

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        """Returns the log-probability of each target token and of EOS for each pair, (T + 1,)."""
        ...

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        """Returns the log-probability of each token of the vocabulary after each prefix of a translation, (V,)."""
        ...

    def branches(self, source: Ids, prefix: Ids, length: int, least: float) -> list[Branch]:
        """Returns the most probable next tokens after a prefix, at most MAX_BRANCHES and each with at least this
        probability, continued by greedy search to this number of tokens."""
        ...

    def continued(self, source: Ids, prefixes: Sequence[Ids]) -> list[Ids]:
        """Returns the translation that begins with each prefix and is continued by greedy search."""
        ...


@dataclass(frozen=True)
class Hypothesis:
    """A finished candidate: its tokens without BOS and EOS, and their log-probabilities."""

    ids: tuple[int, ...]
    log_probs: tuple[float, ...]  # one per token; EOS last, unless the length limit cut the hypothesis off
    score: float  # by which the search ranked it
    total: float | None = None  # log-probability of the whole, if the engine did not return those of the tokens
    attention: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)  # as `Engine.attention`

    @property
    def log_prob(self) -> float:
        return sum(self.log_probs) if self.total is None else self.total


def check_log_probs(best: Sequence[float]) -> None:
    """Raises BundleError for NaN, and for −∞ of the best continuation, which means that no token has a probability."""
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
    """Yields the indices of sentences, longest first, in batches whose padded size is within the budget of tokens; a
    single sentence may exceed it.

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
