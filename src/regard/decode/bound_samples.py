"""Sampling under constraints (`constraints.py`): what a constraint forbids is not drawn.

A sample that draws the end before everything is said continues with what must be said, the most probable way, and ends
then. Each sample has its own constraint, so this walks over rows, in Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import torch
from torch import Tensor

from regard.batch import EOS
from regard.decode.beam import Strategy
from regard.decode.constraints import Constraint, urgent
from regard.decode.goal import Goal
from regard.decode.options import Sampling
from regard.decode.permitted import permitted
from regard.decode.sampling import Samples


@dataclass
class BoundRow:
    """One sample's constraint; None where it cannot be met."""

    rule: Constraint | None
    limit: int
    prefix: tuple[int, ...]
    said: int = 0
    hurried: bool = False  # it wanted to end before everything was said

    @property
    def room(self) -> int:
        """Tokens that may be said before EOS."""
        return 0 if self.hurried else self.limit - 1 - self.said


@dataclass
class BoundSamples(Samples):
    rows: list[BoundRow] = field(default_factory=list)  # N

    @classmethod
    def begin(
        cls, strategy: Strategy, options: Sampling, width: int, goals: Sequence[Goal], device: torch.device
    ) -> Self:
        rows = [BoundRow(g.request.constraint, g.limit, g.request.prefix) for g in goals for _ in range(width)]
        return replace(super().begin(strategy, options, width, goals, device), rows=rows)

    def allowed(self, scores: Tensor) -> Tensor:
        """What may be drawn: (N, V) → (N, V). EOS may be; `said` replaces it."""
        masked = permitted(scores, [row.rule for row in self.rows], [row.room for row in self.rows])
        for i, row in enumerate(self.rows):
            if row.rule is None:
                continue
            if row.rule.needs and row.room > row.rule.needs + row.rule.margin:
                masked[i, EOS] = scores[i, EOS]
            elif masked[i].max() == -math.inf:
                masked[i], row.rule = scores[i], None
        return masked

    def said(self, token: Tensor, log_probs: Tensor) -> Tensor:
        """The tokens drawn (N,), where one of them is too early an end what must be said instead."""
        tokens = token.tolist()
        for i, row in enumerate(self.rows):
            if row.said < len(row.prefix):
                tokens[i] = row.prefix[row.said]
            elif row.rule is not None and tokens[i] == EOS and row.rule.needs:
                row.hurried = True
                options = [(float(log_probs[i, t]), t) for t in urgent(row.rule)]
                best, instead = max(options, default=(-math.inf, EOS))
                tokens[i] = instead if best > -math.inf else EOS
            row.said += 1
            row.rule = None if row.rule is None else row.rule.after(tokens[i])
        return torch.tensor(tokens, device=token.device)

    def keep(self, sentences: Tensor) -> Self:
        rows = [self.rows[i * self.width + n] for i in sentences.tolist() for n in range(self.width)]
        return replace(super().keep(sentences), rows=rows)

    def join(self, other: Self) -> Self:
        return replace(super().join(other), rows=self.rows + other.rows)
