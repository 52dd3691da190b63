"""Beam search under constraints (`constraints.py`), with a constraint for each hypothesis.

    B sentences   b rows of each   K candidates of a sentence   V vocabulary

It is the search of `beam.py` with other candidates. The rows of a sentence are divided among banks of hypotheses that
have generated equally many of the required tokens (dynamic beam allocation, Post & Vilar 2018), wanted tokens are
considered however improbable they are, and the length limit grows by the number of required tokens. A hypothesis that
ended has met its constraint; one that could not is cut off at the limit, or where no token is permitted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import torch
from torch import Tensor
from torch.nn.functional import one_hot, pad

from regard.batch import EOS
from regard.layers.top_tokens import top_of_rows
from regard.models.base import Step
from regard.search.batch_rows import NO_TOKEN, SearchItem, prefix_tokens_at
from regard.search.beam import Beams, Candidates, Strategy
from regard.search.constraint_table import FREE, MET, NEEDS, ConstraintTable, RowRules
from regard.search.constraints import Constraint
from regard.search.history import Ends

BEST_OF_ROW = 3  # continuations considered for each row, independently of the other rows
NEVER = 2**31  # more than any constraint needs


def constrained_width(beam: int, constraint: Constraint) -> int:
    """Returns the rows of a constrained sentence: more than `beam`, at most three times as many, because hypotheses
    that have met more and less of the constraint are kept side by side; a beam of 1 could not postpone a phrase."""
    return beam * min(3, 1 + -(-constraint.needs // beam))


@dataclass
class ConstrainedBeams(Beams):
    """The searches of B sentences with the same number of rows; `ends` has as many places as the beam, not the rows."""

    rules: RowRules = field(kw_only=True)

    @classmethod
    def under(
        cls, table: ConstraintTable, strategy: Strategy, beam: int, nbest: int, items: Sequence[SearchItem]
    ) -> Self:
        """Returns the searches before their first step; the constraints enter the table."""
        constraint = items[0].request.constraint
        assert constraint is not None
        width = constrained_width(beam, constraint)  # of all of them
        plain = Beams.begin(strategy, width, nbest, items, table.device)
        plain.ends = Ends.empty(len(items), beam, table.device)
        rules, memo = RowRules.begin(table, items, width)
        plain.memo |= memo
        return cls(**vars(plain), rules=rules)

    @property
    def state(self) -> Tensor:
        """(B, b) of each row's constraint"""
        return self.memo["state"]

    def prepare(self) -> None:
        live = (self.total > -math.inf) & ~self.done[:, None]
        self.rules.table.compute(self.state.where(live, FREE))

    def compute(self, step: Step) -> Tensor | None:
        before = self.step
        rows = super().compute(step)
        state = self.rules.following(self.state, self.token.view_as(self.state))
        self.memo["state"] = torch.where((self.step > before)[:, None], state, self.state)
        needs = self.rules.table.counts[self.state, NEEDS].masked_fill(self.total == -math.inf, NEVER)
        more = self.done[:, None] & (needs > needs.amin(1, keepdim=True))
        self.total = self.total.masked_fill(more, -math.inf)  # where none has ended, those are cut off that need least
        return rows

    def choose(self, step: Step) -> tuple[Candidates, Tensor, Tensor]:
        live = (self.total > -math.inf) & ~self.done[:, None]
        log_probs = step.log_probs  # (N, V)
        scores = log_probs.clone() if self.strategy.adjust else log_probs
        for adjust in self.strategy.adjust:
            scores = adjust(scores, self, step)
        wide = (*self.total.shape, -1)  # (B, b, V)
        broken = (log_probs[:, EOS].view_as(live).isnan() & live).any(1)
        found = self._candidates(self._allowed(scores.view(wide), log_probs.view(wide)), log_probs.view(wide))
        real = found.total > -math.inf
        stuck = ~(real[:, 0] | broken | self.done)
        if self.watch is not None:
            self.watch.end(stuck, torch.zeros_like(stuck), stuck)
        self.done = self.done | stuck
        state, going_on = self.state.gather(1, found.row), found.token != EOS
        state = torch.where(going_on, self.rules.following(state, found.token), state)
        met = self.rules.table.counts[state, MET]
        return found, allocate_banks(met, going_on, real, self.width, self.rules.table.banks), broken

    def _allowed(self, scores: Tensor, log_probs: Tensor) -> Tensor:
        """Sets the scores of tokens that may not come next to −∞, in place: (B, b, V). Inside its prefix, a sentence
        has only the token of the prefix, with the model's log-probability."""
        room = (self.limit - 1 - self.step)[:, None].expand_as(self.total)
        if self.prefix is None:
            return self.rules.permitted(scores, self, room)
        due = prefix_tokens_at(self.prefix, self.step)
        inside, due = (due != NO_TOKEN)[:, None, None], due.clamp(min=0)[:, None, None].expand(-1, self.width, 1)
        forced = log_probs.gather(2, due)
        allowed = self.rules.permitted(scores, self, room).masked_fill_(inside, -math.inf)
        return allowed.scatter_(2, due, torch.where(inside, forced, allowed.gather(2, due)))

    def _candidates(self, allowed: Tensor, log_probs: Tensor) -> Candidates:
        """Returns the best continuations of each sentence, those of each row, and those that its constraint wants, best
        first: scores and log-probabilities of the model (B, b, V) → (B, K), −∞ for those that occur twice."""
        width, vocabulary = allowed.shape[1:]
        most = min(2 * width, vocabulary)
        score, token = (part.view(*allowed.shape[:2], most) for part in top_of_rows(allowed.flatten(0, 1), most))
        totals = (self.total[:, :, None] + score).flatten(1)  # (B, b·2b)
        place = torch.arange(width, device=token.device)[:, None] * vocabulary
        of_row, wanted = token[..., :BEST_OF_ROW], self.rules.table.wanted[self.state]
        best = (place + token).flatten(1).gather(1, totals.topk(most, dim=1).indices)
        key = torch.cat([best, (place + of_row).flatten(1), (place + wanted).flatten(1)], dim=1).sort(dim=1).values
        row, twice = key // vocabulary, pad(key[:, 1:] == key[:, :-1], (1, 0))
        total = self.total.gather(1, row) + allowed.flatten(1).gather(1, key)
        total, order = total.masked_fill(twice, -math.inf).sort(dim=1, descending=True, stable=True)
        row, key = row.gather(1, order), key.gather(1, order)
        return Candidates(total, row, key % vocabulary, log_probs.flatten(1).gather(1, key))

    def keep(self, sentences: Tensor) -> Self:
        return replace(super().keep(sentences), rules=self.rules.keep(sentences))

    def join(self, other: Self) -> Self:
        return replace(super().join(other), rules=self.rules.join(other.rules))


def allocate_banks(met: Tensor, going_on: Tensor, real: Tensor, width: int, banks: int) -> Tensor:
    """Chooses candidates by dynamic beam allocation (Post & Vilar 2018): (B, K) each, best first → which are taken.

    Candidates that have generated equally many required tokens, `met`, form a bank; `banks` is more than any of these
    numbers. Banks take turns, the one with the most required tokens first and the others by their best candidate, until
    `width` candidates continue; one that ends takes no place, and is taken before the next of its bank that continues.

    >>> met, yes = torch.tensor([[0, 0, 1]]), torch.tensor([[True, True, True]])
    >>> allocate_banks(met, yes, yes, 2, 2).tolist()
    [[True, False, True]]
    """
    size = met.shape[1]
    of_bank = one_hot(met, banks).bool() & real[..., None]  # (B, K, M)
    place = torch.arange(size, device=met.device)[:, None]
    turn = torch.where(of_bank, place, size).amin(1)  # (B, M) the best candidate of each bank
    most = met.masked_fill(~real, 0).amax(1, keepdim=True)
    turn = turn.scatter(1, most, -1).gather(1, met) + 1  # (B, K)
    before = (of_bank & going_on[..., None]).cumsum(1).gather(2, met[..., None])[..., 0] - going_on.long()
    order = (before * (size + 1) + turn).masked_fill(~(real & going_on), (size + 1) ** 2)
    last = order.sort(dim=1).values[:, min(width, size) - 1 :][:, :1]  # of those that continue
    return real & torch.where(going_on, order <= last, before <= last // (size + 1))
