"""A step of beam search in fixed memory, captured as a CUDA graph.

    B sentences   b beam   N = B × b rows   V vocabulary

A step is about sixty small operations, under constraints two hundred. Launching them one by one takes the host longer
than the GPU needs to run them; a graph is launched at once. It belongs to one address where the model writes its
logits, and to one number of places for sentences, a power of two: when sentences join or leave, their search is copied
into the graph with the fewest places for them. Sentences in the other places are done.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.layers.kernels import HAS_TRITON
from regard.layers.top_tokens import top_tokens
from regard.models.base import Step
from regard.models.recorded_arena import next_power_of_two
from regard.models.recorded_layers import recorded
from regard.search.beam import Beams, Strategy, length_penalty_table, pick_best, rank_by_length, reachable_now
from regard.search.constrained_beam import ConstrainedBeams
from regard.search.engine import Hypothesis
from regard.search.greedy_kernel import advance_greedy
from regard.search.history import Ends, History

PLACES = 8  # the fewest places for sentences
STEPS = 64  # history lengths are multiples of this, so that few shapes occur
KEPT = 16  # graphs that read the same logits


@dataclass
class CudaGraphBeams:
    """The search state of `Beams` or `ConstrainedBeams` with a step that is a CUDA graph. `keep` and `join` return
    those."""

    beams: Beams  # the fixed memory
    count: int = 0  # of the sentences in it

    def __post_init__(self) -> None:
        self.logits: Tensor | None = None

    @property
    def token(self) -> Tensor:
        return self.beams.token[: self.count * self.beams.width]

    @property
    def done(self) -> Tensor:
        return self.beams.done[: self.count]

    def record(self, logits: Tensor) -> None:
        """Captures a step that always reads its logits (N, V) from this tensor."""
        self.logits, rows = logits, torch.empty_like(self.beams.token)
        self._recorded_values = _recorded_values(self.beams)

        def run() -> Tensor:
            if self.beams.width == 1 and HAS_TRITON and logits.is_cuda:
                advance_greedy(*top_tokens(logits, 1), self.beams)
                return rows
            after = replace(self.beams, memo=dict(self.beams.memo))
            found = after.compute(Step(logits, None, None))  # type: ignore[arg-type]
            if found is not None:
                rows.copy_(found)
            for mine, new in zip(_changing(self.beams), _changing(after), strict=True):
                mine.copy_(new)
            return rows

        self._run = recorded(run, logits.device)

    def advance(self, step: Step) -> Tensor | None:
        self.beams.prepare()
        if self._recorded_values != _recorded_values(self.beams):
            assert self.logits is not None
            now = self._copy()
            self.record(self.logits)  # this changes the memory
            self.load(now)
        rows = self._run()
        return rows[: len(self.token)] if self.beams.width > 1 else None

    def load(self, beams: Beams) -> None:
        self.count = len(beams.done)
        for mine, new in zip(_all(self.beams), _all(beams), strict=True):
            part = mine[: len(new)]
            part[:, : new.shape[1]].copy_(new) if mine.dim() == 3 else part.copy_(new)  # mine may be longer
        for name, value in beams.memo.items():
            self.beams.memo[name][: self.count, ..., : value.shape[-1]].copy_(value)
        if isinstance(beams, ConstrainedBeams) and isinstance(self.beams, ConstrainedBeams):
            self.beams.rules.kinds[: self.count].copy_(beams.rules.kinds)
        self.beams.done[self.count :] = True

    def keep(self, sentences: Tensor) -> Beams:
        return self.beams.keep(sentences)

    def join(self, other: Any) -> Beams:
        return self._copy().join(other)

    def results(self) -> list[list[Hypothesis]]:
        return self._copy().results()

    def _copy(self) -> Beams:
        return self.keep(torch.arange(self.count, device=self.beams.done.device))


def _changing(beams: Beams) -> Iterable[Tensor]:
    memo = (beams.memo[name] for name in sorted(beams.memo))
    return beams.step, beams.token, beams.total, beams.done, *beams.ends.parts(), *memo


def _all(beams: Beams) -> Iterable[Tensor]:
    history = beams.history
    return *_changing(replace(beams, memo={})), beams.limit, history.token, history.parent, history.log_prob


def _recorded_values(beams: Beams) -> tuple[int, ...]:
    """What a recorded step depends on beside the search state."""
    return beams.rules.table.recorded_values if isinstance(beams, ConstrainedBeams) else ()


def _plain(strategy: Strategy) -> bool:
    """Whether the strategy's functions are known to consist of tensor operations only."""
    known = strategy.pick is pick_best and strategy.rank is rank_by_length and strategy.reach is reachable_now
    alone = strategy.remember is None and strategy.spread == 1 and not strategy.adjust
    return known and alone and not strategy.trace


def as_cuda_graph(search: Any, step: Step) -> Any:
    """Returns the search as a CUDA graph if possible: for a plain or constrained beam search with a model of fixed
    logits."""
    if type(search) not in (Beams, ConstrainedBeams) or step.fixed is None:
        return search
    if search.prefix is not None or search.watch is not None or not _plain(search.strategy):
        return search
    known: dict[Any, CudaGraphBeams] = step.fixed.recordings
    sentences, steps, width = search.history.token.shape
    places = min(next_power_of_two(sentences, PLACES), len(step.fixed.logits) // width)
    steps = -(-steps // STEPS) * STEPS
    table = search.rules.table if type(search) is ConstrainedBeams else None
    names = *sorted(search.memo), *_recorded_values(search)
    key = search.strategy, width, places, steps, search.nbest, search.ends.score.shape[1], table, names
    found = known.pop(key, None)
    if found is None:
        search.prepare()  # so that the tables do not move at the first step
        found = _fixed(search, places, steps)
        found.record(step.fixed.logits[: places * width])
        while len(known) >= KEPT:
            known.pop(next(iter(known)))
    known[key] = found  # the most recently used one last
    found.load(search)
    return found


def _fixed(search: Beams, places: int, steps: int) -> CudaGraphBeams:
    """Returns a search in memory of its own, with an empty history."""
    device = search.done.device

    def like(value: Tensor, rows: int = places) -> Tensor:
        return value.new_zeros(rows, *value.shape[1:])

    memo = {name: like(value) for name, value in search.memo.items()}
    if "tokens" in memo:
        memo["tokens"] = pad(memo["tokens"], (0, steps - memo["tokens"].shape[2]))
    made = replace(
        search,
        step=like(search.step),
        limit=like(search.limit),
        token=like(search.token, places * search.width),
        total=like(search.total),
        done=like(search.done),
        history=History.empty(places, steps, search.width, device),
        ends=Ends(*map(like, search.ends.parts())),
        # for every length that the history has room for: sentences with higher limits may be loaded later
        penalties=length_penalty_table(search.strategy.alpha, steps, device),
        memo=memo,
    )
    if isinstance(made, ConstrainedBeams):
        made.rules = replace(made.rules, kinds=like(made.rules.kinds))
    return CudaGraphBeams(made)
