"""An engine in another process: workers prepare and check text, and one process searches for all of them on its GPU.

    worker 1 ─ calls ─┐
    worker 2 ─ calls ─┼─▶ answer_calls: calls that wait, as one batch ─▶ engine ─▶ a result for each call
    worker 3 ─ calls ─┘   in several threads, each with a CUDA stream

A GPU needs thousands of sentences at a time, and text keeps one core busy for far fewer. The result for a request does
not depend on the other requests of a batch, so it is the same as with an engine in the worker.

A search takes about as long for one sentence as for a hundred. So one for few sentences waits a moment (`can_wait`), to
be answered together with those of other workers. Several small searches can use a GPU at the same time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.search.engine import Branch, Engine, Hypothesis, Ids, Progress, SearchRequest, Weights
from regard.search.free_search import search_freely_first
from regard.search.options import SearchOptions

FEW = 32  # sentences


class EngineCall(NamedTuple):
    """A call of a method of an engine."""

    engine: int  # its index, for a chain of models
    method: Literal["search_as_asked", "search_in_context", "attention", "log_probs", "next_log_probs"]
    rows: tuple[Sequence[Any], ...]  # its arguments with one item per sentence
    options: SearchOptions | None = None

    @property
    def can_wait(self) -> bool:
        """Whether it is a search for few sentences."""
        return self.method.startswith("search") and len(self.rows[0]) < FEW


@dataclass(frozen=True)
class RemoteEngine:
    """Passes every call to an engine in another process."""

    ask: Callable[[EngineCall], Any]  # sends a call and waits for its result
    number: int = 0  # index of the engine

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        return search_freely_first(self._search_as_asked, requests, options, progress)

    def _search_as_asked(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None
    ) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = self._ask("search_as_asked", requests, options=options)
        if progress is not None:
            progress(len(found))
        return found

    def search_in_context(self, requests: Sequence[SearchRequest], options: SearchOptions) -> list[list[Hypothesis]]:
        found: list[list[Hypothesis]] = self._ask("search_in_context", requests, options=options)
        return found

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        found: list[Weights] | None = self._ask("attention", sources, targets)
        return found

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        found: list[NDArray[np.float64]] = self._ask("log_probs", sources, targets)
        return found

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        found: list[NDArray[np.float64]] = self._ask("next_log_probs", sources, prefixes)
        return found

    def branches(self, source: Ids, prefix: Ids, length: int, least: float) -> list[Branch]:
        raise NotImplementedError("workers translate, and offer no alternatives")

    def continued(self, source: Ids, prefixes: Sequence[Ids]) -> list[Ids]:
        raise NotImplementedError("workers translate, and offer no alternatives")

    def _ask(self, method: Any, *rows: Sequence[Any], options: SearchOptions | None = None) -> Any:
        return self.ask(EngineCall(self.number, method, rows, options)) if rows[0] else []


def answer_calls(engines: Sequence[Engine], calls: Sequence[EngineCall]) -> list[Any]:
    """Returns the result of each call by native engines. Calls of one method with the same options are made as one."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for i, call in enumerate(calls):
        groups[call.engine, call.method, call.options].append(i)
    answers: list[Any] = [None] * len(calls)
    for (engine, method, options), members in groups.items():
        joined = [[one for i in members for one in calls[i].rows[k]] for k in range(len(calls[members[0]].rows))]
        found = getattr(engines[engine], method)(*joined, *(() if options is None else (options,)))
        edges = accumulate((len(calls[i].rows[0]) for i in members), initial=0)
        for i, (start, end) in zip(members, pairwise(edges), strict=True):
            answers[i] = found if found is None else found[start:end]  # None: a model without attention
    return answers
