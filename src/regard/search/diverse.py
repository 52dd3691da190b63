"""Diverse beam search (Vijayakumar et al. 2018): G groups of w = b / G rows, each of which avoids the tokens of the
groups before it.

    a continuation with token w is chosen by   log P − λ · (times that earlier groups have chosen w in this step)

    B sentences   G groups   w rows of a group   k continuations of a row

Each group is a separate beam search with its own finished hypotheses; only the choice of candidates depends on the
other groups. The penalty affects only this choice; totals stay log-probabilities. At the first token that is not
forced, each group takes other tokens than those before it, so that no hypothesis is found twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.batch import EOS
from regard.models.base import Step
from regard.search.batch_rows import NO_TOKEN, SearchItem
from regard.search.beam import Beams, Best, Candidates, Pick, Strategy
from regard.search.engine import Hypothesis

NONE = -1  # no token


@dataclass
class DiverseBeams:
    """The searches of B sentences; `inner` treats each group as a sentence, with the groups of a sentence adjacent."""

    groups: int
    nbest: int
    inner: Beams

    @classmethod
    def begin(
        cls, strategy: Strategy, beam: int, groups: int, nbest: int, items: Sequence[SearchItem], device: torch.device
    ) -> DiverseBeams:
        width = beam // groups
        inner = Beams.begin(strategy, width, width, [item for item in items for _ in range(groups)], device)
        return cls(groups, nbest, inner)

    @property
    def token(self) -> Tensor:
        return self.inner.token

    @property
    def done(self) -> Tensor:
        return self.inner.done.view(-1, self.groups).all(1)

    def advance(self, step: Step) -> Tensor | None:
        return self.inner.advance(step)

    def keep(self, sentences: Tensor) -> DiverseBeams:
        group = torch.arange(self.groups, device=sentences.device)
        return replace(self, inner=self.inner.keep((sentences[:, None] * self.groups + group).flatten()))

    def join(self, other: DiverseBeams) -> DiverseBeams:
        return replace(self, inner=self.inner.join(other.inner))

    def results(self) -> list[list[Hypothesis]]:
        lists = self.inner.results()
        return [self._merged(lists[i : i + self.groups]) for i in range(0, len(lists), self.groups)]

    def _merged(self, lists: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
        best = sorted((one for some in lists for one in some), key=lambda one: -one.score)
        return list({one.ids: one for one in reversed(best)}.values())[::-1][: self.nbest]


def pick_diverse(groups: int, strength: float) -> Pick:
    """Returns a `Pick` that picks the candidates of each group, one group after the other."""

    def pick(best: Best, beams: Beams) -> Candidates:
        size, width, k = len(beams.step) // groups, beams.width, best.score.shape[1]
        wide = size, groups, width * k
        totals = (beams.total[:, :, None] + best.score.view(-1, width, k)).view(wide)
        token, log_prob = best.token.view(wide), best.log_prob.view(wide)
        done, parting = beams.done.view(size, groups), _parting(beams).view(size, groups)
        chosen = token.new_empty(size, 0)  # by the groups before
        picks: list[Candidates] = []
        for g in range(groups):
            repeats = (token[:, g, :, None] == chosen[:, None]).sum(-1)  # (B, w·k)
            top, index = _of_group(totals[:, g], repeats, parting[:, g], strength, 2 * width if width > 1 else 1)
            picks.append(_picked(index, top, k, totals[:, g], token[:, g], log_prob[:, g]))
            taken = picks[-1].token.masked_fill(done[:, g, None] | (top == -math.inf), NONE)
            chosen = torch.cat([chosen, _first(taken, width)], dim=1)
        return Candidates(*(torch.stack(parts, dim=1).flatten(0, 1) for parts in zip(*picks, strict=True)))

    return pick


def _of_group(totals: Tensor, repeats: Tensor, parting: Tensor, strength: float, count: int) -> tuple[Tensor, Tensor]:
    """Returns a group's best continuations by penalized score, best first, and their indices: totals and repeats (B,
    w·k), parting (B,) → (B, count) each."""
    score = totals - strength * repeats
    apart = score.masked_fill(parting[:, None] & (repeats > 0), -math.inf)
    some = apart.amax(1, keepdim=True) > -math.inf  # a tiny vocabulary may leave no other token
    top, index = torch.where(some, apart, score).topk(min(count, score.shape[1]), dim=1)
    return top, index


def _picked(index: Tensor, top: Tensor, k: int, totals: Tensor, token: Tensor, log_prob: Tensor) -> Candidates:
    total = totals.gather(1, index).masked_fill(top == -math.inf, -math.inf)
    return Candidates(total, index // k, token.gather(1, index), log_prob.gather(1, index))


def _first(token: Tensor, width: int) -> Tensor:
    """Keeps the tokens that are taken, up to `width` continuing ones; the others become NONE: (B, 2w) → (B, 2w)."""
    before = (token != EOS).cumsum(1) - (token != EOS).int()
    return token.masked_fill(before >= width, NONE)


def _parting(beams: Beams) -> Tensor:
    """(B·G,): whether the groups of a sentence are all identical so far."""
    if beams.prefix is None:
        return beams.step == 0
    return beams.step == (beams.prefix != NO_TOKEN).sum(1)
