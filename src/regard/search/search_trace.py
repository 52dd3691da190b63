"""The trace of a search: every continuation that was considered, its outcome, and why the search stopped.

The search itself records the trace on request; `explain lattice` shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor

# kept: extended in the next step · finished: ended, and among the b best that ended · outranked: ended, but b ended
# ones rank higher · crowded out: b better continuations were kept first
Fate = Literal["kept", "finished", "outranked", "crowded out"]
Ending = Literal["all ended", "length limit", "none better"]  # none better: no live row ranks above the b finished ones


class Considered(NamedTuple):
    """One continuation: token `token` after live row `row` (the row-th hypothesis kept in the step before)."""

    row: int
    token: int
    log_prob: float  # of the token
    total: float  # of everything up to it
    score: float  # by which the hypothesis would be ranked if it were complete
    fate: Fate


@dataclass
class SearchTrace:
    """The search of one sentence: the continuations considered at each step, best first, and why it stopped."""

    steps: list[list[Considered]] = field(default_factory=list)
    ending: Ending | None = None


class TracedRow(NamedTuple):
    """The continuations considered at a step, for each of B sentences and k continuations."""

    row: Tensor  # (B, k)
    token: Tensor  # (B, k)
    log_prob: Tensor  # (B, k)
    total: Tensor  # (B, k)
    score: Tensor  # (B, k)
    real: Tensor  # (B, k) False: there is no such continuation
    kept: Tensor  # (B, k)
    finished: Tensor  # (B, k)
    outranked: Tensor  # (B, k)


@dataclass
class TraceRecorder:
    """Records the traces of the sentences of one search, in their order."""

    records: list[SearchTrace]

    def step(self, seen: TracedRow, running: Tensor) -> None:
        """Records a step. `running` (B,): the sentences that were not done before it."""
        fate = torch.full_like(seen.row, 3)
        for code, those in enumerate((seen.kept, seen.finished, seen.outranked)):
            fate[those] = code
        names: tuple[Fate, ...] = ("kept", "finished", "outranked", "crowded out")
        columns = (seen.row, seen.token, seen.log_prob, seen.total, seen.score, fate, seen.real)
        for i in running.nonzero()[:, 0].tolist():
            rows = zip(*(column[i].tolist() for column in columns), strict=True)
            found = [
                Considered(row, token, log_prob, total, score, names[code])
                for row, token, log_prob, total, score, code, real in rows
                if real
            ]
            self.records[i].steps.append(found)

    def end(self, stopped: Tensor, nothing_live: Tensor, at_limit: Tensor) -> None:
        """Records why sentences stopped at this step; each argument is (B,)."""
        for i in stopped.nonzero()[:, 0].tolist():
            self.records[i].ending = (
                "all ended" if nothing_live[i] else "length limit" if at_limit[i] else "none better"
            )
