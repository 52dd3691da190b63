"""Beam search: the b most probable partial translations of every sentence, expanded together (the notes, 3.2).

    B sentences   b beam   N = B × b rows   V vocabulary   k = 2b continuations of a sentence that are considered

Scores are log-probabilities; a finished hypothesis Y is ranked by log P(Y) / lp(Y), lp(Y) = ((5 + |Y|) / 6)^α (Wu et
al. 2016), EOS counted. At each step the k best continuations are taken in order until b of them continue; those that
end before that are finished, and the b best of all finished ones are kept. A sentence is done when it has b finished
hypotheses and no live one, at its present length, ranks above the worst of them, or when its own length limit is
reached: then its live rows are cut off, if none has ended. With b = 1 it is done when the best token is EOS: greedy
search (the notes' algorithm 3.1).

Everything is a tensor over sentences, which do not influence each other. A finished sentence does not change until it
is removed. `Strategy` holds the functions that a variant of the search may replace; each is a pure function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, Self

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.layers.top_tokens import top_tokens
from regard.models.base import Step
from regard.search.batch_rows import NO_TOKEN, SearchItem, concatenated, kept, padded_prefixes, prefix_tokens_at
from regard.search.engine import Hypothesis, length_penalty
from regard.search.history import Ends, History, hypotheses
from regard.search.search_trace import TracedRow, TraceRecorder


class Best(NamedTuple):
    """Continuations of each row, best first."""

    score: Tensor  # (N, k) added to the row's total
    token: Tensor  # (N, k)
    log_prob: Tensor  # (N, k) of the model, before any adjustment


class Candidates(NamedTuple):
    """Continuations of each sentence, best first."""

    total: Tensor  # (B, k) −∞ where there are no more
    row: Tensor  # (B, k) index within the sentence, 0 … b−1
    token: Tensor  # (B, k)
    log_prob: Tensor  # (B, k)


class Rows(Protocol):
    """The part of a beam search or of sampling that `Adjust` may use."""

    width: int  # rows of a sentence
    memo: dict[str, Tensor]  # (B, b, …) a variant's data of each row; reordered with rows and sentences

    @property
    def step(self) -> Tensor: ...  # (B,) tokens generated so far

    @property
    def limit(self) -> Tensor: ...  # (B,) maximal number of tokens

    @property
    def token(self) -> Tensor: ...  # (N,) the last token of each row

    @property
    def done(self) -> Tensor: ...  # (B,)


class RankedRows(Rows, Protocol):
    """The part of a beam search that `Rank` and `Reach` may use."""

    def penalty(self, length: Tensor) -> Tensor:
        """lp of each length, (B,)"""
        ...


# The functions that a variant may replace. They are called before the candidates of a step are chosen.
Remember = Callable[
    [Sequence[SearchItem], int, torch.device], dict[str, Tensor]
]  # items, rows of each → the initial memo
Adjust = Callable[[Tensor, Rows, Step], Tensor]  # (N, V) log-probabilities → (N, V) scores to rank and sum
Pick = Callable[[Best, "Beams"], Candidates]  # the candidates of each sentence
Rank = Callable[
    [Tensor, Tensor, Tensor, RankedRows], Tensor
]  # totals (B, n), lengths (B,), rows (B, n) → scores (B, n)
Reach = Callable[
    [Tensor, Tensor, RankedRows], Tensor
]  # best live total (B,), length (B,) → the best score it can still reach (B,)


def pick_best(best: Best, beams: Beams) -> Candidates:
    """Picks the k best continuations over all rows of each sentence."""
    wide = best.score.shape[1]
    totals = (beams.total[:, :, None] + best.score.view(*beams.total.shape, wide)).flatten(1)  # (B, b·k)
    total, index = totals.topk(min(2 * beams.width, totals.shape[1]), dim=1) if beams.width > 1 else (totals, None)
    if index is None:  # a single row with its best continuation
        return Candidates(total, torch.zeros_like(best.token), best.token, best.log_prob)
    token, log_prob = (part.view(totals.shape).gather(1, index) for part in (best.token, best.log_prob))
    return Candidates(total, index // wide, token, log_prob)


def rank_by_length(total: Tensor, length: Tensor, row: Tensor, beams: RankedRows) -> Tensor:
    """log P(Y) / lp(Y)"""
    return total / beams.penalty(length)[:, None]


def length_penalty_table(alpha: float, steps: int, device: torch.device) -> Tensor:
    """Returns lp of each length from 0 to `steps`.

    >>> length_penalty_table(1.0, 2, torch.device("cpu")).mul(6).tolist()
    [5.0, 6.0, 7.0]
    """
    penalties = [length_penalty(length, alpha) for length in range(steps + 1)]
    return torch.tensor(penalties, dtype=torch.float64, device=device)


def reachable_now(total: Tensor, length: Tensor, beams: RankedRows) -> Tensor:
    """Scores a live hypothesis as if it were complete."""
    return total / beams.penalty(length)


@dataclass(frozen=True)
class Strategy:
    """The replaceable parts of beam search. `alpha` is the exponent of the length penalty."""

    alpha: float = 0.6
    adjust: tuple[Adjust, ...] = ()
    pick: Pick = pick_best
    rank: Rank = rank_by_length
    reach: Reach = reachable_now
    remember: Remember | None = None
    spread: int = 1  # factor on the number of continuations considered per row
    trace: bool = False  # whether model steps must return attention


@dataclass
class Beams:
    """The search state of B sentences: their live rows and finished hypotheses."""

    strategy: Strategy
    width: int  # b
    step: Tensor  # (B,) tokens generated so far
    limit: Tensor  # (B,) maximal number of tokens
    prefix: Tensor | None  # (B, P) how each translation begins, then NO_TOKEN
    token: Tensor  # (N,) the last token of each row
    total: Tensor  # (B, b) of each row, float64; −∞ for an unused row
    history: History
    ends: Ends
    done: Tensor  # (B,)
    nbest: int  # hypotheses to return
    penalties: Tensor  # (L,) lp of each length; torch's pow rounds differently for other batch sizes
    memo: dict[str, Tensor] = field(default_factory=dict)  # (B, b, …) of a variant; reordered with rows
    watch: TraceRecorder | None = None

    @classmethod
    def begin(
        cls, strategy: Strategy, width: int, nbest: int, items: Sequence[SearchItem], device: torch.device
    ) -> Self:
        size, limits, prefixes = len(items), [item.limit for item in items], [item.request.prefix for item in items]
        total = torch.full((size, width), -math.inf, dtype=torch.float64, device=device)
        total[:, 0] = 0.0  # all rows are equal at first, so only one of them counts
        return cls(
            strategy,
            width,
            step=torch.zeros(size, dtype=torch.long, device=device),
            limit=torch.tensor(limits).to(device, non_blocking=True),
            prefix=padded_prefixes(prefixes, device),
            token=torch.full((size * width,), BOS, device=device),
            total=total,
            history=History.empty(size, max(limits, default=0) + 1, width, device),
            ends=Ends.empty(size, width, device),
            done=torch.zeros(size, dtype=torch.bool, device=device),
            nbest=nbest,
            penalties=length_penalty_table(strategy.alpha, max(limits, default=0) + 1, device),
            memo={} if strategy.remember is None else strategy.remember(items, width, device),
        )

    # ── one step ────────────────────────────────────────────────────────────────────────────────────────────────────

    def advance(self, step: Step) -> Tensor | None:
        """Processes the model's output for each row; returns the row (N,) that each one continues, None if
        unchanged."""
        self.prepare()
        return self.compute(step)

    def prepare(self) -> None:
        """Does what a step needs from the host."""

    def compute(self, step: Step) -> Tensor | None:
        """Does the rest of a step, by operations on the device alone."""
        found, taken, broken = self.choose(step)
        going_on, ended = taken & (found.token != EOS), taken & (found.token == EOS)
        length = self.step + 1
        finished = self._finish(found, ended & ~self.done[:, None], length, broken)
        if self.watch is not None:
            score = self.strategy.rank(found.total, length, found.row, self)
            order = found.row, found.token, found.log_prob, found.total, score
            real = found.total > -math.inf
            self.watch.step(TracedRow(*order, real, going_on, finished, ended & ~finished), ~self.done)
        parent = self._extend_rows(found, going_on)
        self._stop(length, broken)
        if self.width == 1:
            return None
        return (parent + self.width * torch.arange(len(parent), device=parent.device)[:, None]).flatten()

    def choose(self, step: Step) -> tuple[Candidates, Tensor, Tensor]:
        """Returns the candidates, which of them are taken (B, k), and where the model gave no probabilities (B,)."""
        best = forced(self._best(step), step, self)
        found = self.strategy.pick(best, self)
        real = found.total > -math.inf
        going_on = real & (found.token != EOS)
        taken = real & (going_on.cumsum(1) + ~going_on <= self.width)  # an ended one before the last that continues
        return found, taken, ~(found.total[:, 0] > -math.inf)  # NaN too

    def _best(self, step: Step) -> Best:
        k = self.strategy.spread * (2 * self.width if self.width * self.strategy.spread > 1 else 1)
        k = min(k, step.logits.shape[1] - EOS)
        if not self.strategy.adjust:
            log_prob, token = top_tokens(step.logits, k)
            return Best(log_prob, token, log_prob)
        log_probs = step.log_probs
        scores = log_probs.clone()
        scores[:, :EOS] = -math.inf
        for adjust in self.strategy.adjust:
            scores = adjust(scores, self, step)
        score, token = scores.topk(k, dim=-1)
        return Best(score, token, log_probs.gather(1, token))

    def _finish(self, found: Candidates, ended: Tensor, length: Tensor, broken: Tensor) -> Tensor:
        """Adds ended hypotheses to the table of the b best finished ones; returns which of them entered it, (B, k)."""
        ends, strategy, most = self.ends, self.strategy, self.ends.score.shape[1]
        score = strategy.rank(found.total, length, found.row, self).masked_fill(~ended, -math.inf)
        before = self.step[:, None].expand_as(found.row)
        finished = ended
        if found.total.shape[1] == 1:
            score, generated, row, log_prob = (
                torch.where(ended, a, b)
                for a, b in (
                    (score, ends.score),
                    (before, ends.length),
                    (found.row, ends.row),
                    (found.log_prob, ends.log_prob),
                )
            )
        else:
            score, index = torch.cat([ends.score, score], dim=1).sort(dim=1, descending=True, stable=True)
            score, index = score[:, :most], index[:, :most]
            if self.watch is not None:
                places = torch.arange(most, most + ended.shape[1], device=index.device)
                finished = ended & (index[:, :, None] == places).any(1)
            generated, row, log_prob = (
                torch.cat(pair, dim=1).gather(1, index)
                for pair in ((ends.length, before), (ends.row, found.row), (ends.log_prob, found.log_prob))
            )
        self.ends = Ends(score, generated, row, log_prob, ends.broken | (broken & ~self.done))
        return finished

    def _extend_rows(self, found: Candidates, going_on: Tensor) -> Tensor:
        """Makes the first b continuing candidates the new rows; returns the old row that each extends, (B, b)."""
        if found.total.shape[1] == 1:
            parent, token, log_prob, total = found.row, found.token, found.log_prob, found.total
        else:
            order = (~going_on).to(torch.int8).argsort(dim=1, stable=True)[:, : self.width]
            order = torch.nn.functional.pad(order, (0, self.width - order.shape[1]))  # for a vocabulary smaller than b
            parent, token, log_prob, total = (
                part.gather(1, order) for part in (found.row, found.token, found.log_prob, found.total)
            )
            going_on = going_on.gather(1, order)
            going_on[:, found.total.shape[1] :] = False
        place = torch.arange(len(parent), device=parent.device)
        self.history.write(place, self.step, token, parent if self.width > 1 else None, log_prob)
        total = total.masked_fill(~going_on, -math.inf)
        self.total = torch.where(self.done[:, None], self.total, total)
        self.token = token.flatten()
        if self.memo and self.width > 1:
            here = torch.arange(self.width, device=parent.device)
            before = torch.where(self.done[:, None], here, parent)  # finished sentences do not change
            self.memo = {name: _rows(value, before) for name, value in self.memo.items()}
        return parent

    def _stop(self, length: Tensor, broken: Tensor) -> None:
        best_live = self.total.amax(1)
        worst = self.ends.score[:, -1]
        if self.width == 1:
            enough = worst > -math.inf
        else:
            enough = (worst > -math.inf) & (self.strategy.reach(best_live, length, self) <= worst)
            if self.strategy.rank is rank_by_length and self.strategy.pick is pick_best:
                enough |= self._is_settled(best_live)
        at_limit, nothing_live = length >= self.limit, best_live == -math.inf
        self.step = torch.where(self.done, self.step, length)
        done = self.done | enough | broken | at_limit | nothing_live
        if self.watch is not None:
            self.watch.end(done & ~self.done, nothing_live, at_limit)
        self.done = done

    def _is_settled(self, best_live: Tensor) -> Tensor:
        """Whether the `nbest` finished hypotheses of each sentence are final: the best live one would not rank above
        them even if all its further tokens were certain and it reached its length limit. This only saves steps."""
        wanted = self.ends.score[:, self.nbest - 1]
        return (wanted > -math.inf) & (best_live / self.penalty(self.limit) <= wanted)

    # ── adding and removing sentences ───────────────────────────────────────────────────────────────────────────────

    def keep(self, sentences: Tensor) -> Self:
        return replace(self, **kept(self, sentences), total=self.total[sentences])

    def join(self, other: Self) -> Self:
        total, penalties = torch.cat([self.total, other.total]), max(self.penalties, other.penalties, key=len)
        return replace(self, **concatenated(self, other), total=total, penalties=penalties)

    def results(self) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each sentence, best first; for a sentence without finished ones, its live rows."""
        ends, row = self.ends, torch.arange(self.width, device=self.total.device).expand_as(self.total)
        score = self.strategy.rank(self.total, self.step, row, self)
        score, order = score.sort(dim=1, descending=True, stable=True)
        none = ends.score[:, :1] == -math.inf
        cut = score, self.step[:, None].expand_as(score), order, torch.full_like(ends.log_prob, math.nan)
        score, length, row, end = (
            torch.where(none, a[:, : self.nbest], b[:, : self.nbest])
            for a, b in zip(cut, ends.parts()[:4], strict=True)
        )
        return hypotheses(self.history, Ends(score, length, row, end, ends.broken))

    def penalty(self, length: Tensor) -> Tensor:
        """lp of each length, (B,)"""
        return self.penalties[length]


def forced(best: Best, step: Step, beams: Beams) -> Best:
    """Allows only the prefix's token, with the model's score, while a sentence is inside its prefix."""
    if beams.prefix is None:
        return best
    due = prefix_tokens_at(beams.prefix, beams.step).repeat_interleave(beams.width)  # (N,)
    own = step.log_probs.gather(1, due.clamp(min=0)[:, None])  # (N, 1)
    only = (due != NO_TOKEN)[:, None] & (torch.arange(best.token.shape[1], device=due.device) == 0)  # (N, k)
    rest = (due != NO_TOKEN)[:, None] & ~only
    return Best(
        torch.where(only, own.to(best.score.dtype), best.score).masked_fill(rest, -math.inf),
        torch.where(only, due[:, None], best.token),
        torch.where(only, own, best.log_prob),
    )


def _rows(value: Tensor, parent: Tensor) -> Tensor:
    """Gathers the rows `parent` (B, b) of each sentence of a tensor (B, b, …)."""
    index = parent.view(*parent.shape, *[1] * (value.dim() - 2)).expand(*parent.shape, *value.shape[2:])
    return value.gather(1, index)
