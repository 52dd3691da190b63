"""Ancestral sampling: each token is drawn at random by its probability.

    y(t) ~ q(w) ∝ P(w | y<t, x)^(1/τ)      over the tokens that are not cut

    N = B × n rows   V vocabulary   τ temperature

τ = 1 without cuts draws from the model's distribution; a small τ approaches greedy search. Three cuts remove
improbable tokens: keep the k most probable (Fan et al. 2018), the smallest set with total probability p (the nucleus,
Holtzman et al. 2020), or those with a share of the best token's probability (min-p, Nguyen et al. 2024). Temperature is
applied first, then k, p and min-p.

A draw takes one uniform number u in [0, 1) and returns the token at which the cumulative sum of q exceeds u. The
numbers of a sentence come from the seed and its source ids, and sample i uses the i-th row of them. So the samples of a
sentence do not depend on the rest of the batch or on how many samples are drawn; the same sentence twice in a batch
gets the same samples twice. Samples are not ranked: they are in the order of their draws, and `score` is the model's
log-probability, at τ = 1 and without cuts.

A sentence is done when all its samples have ended or are at its length limit. `ConstrainedSamples` draws under a
constraint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.models.base import Step
from regard.models.state import FieldAxis, join_tensors
from regard.search.batch_rows import NO_TOKEN, SearchItem, concatenated, kept, padded_prefixes, prefix_tokens_at
from regard.search.beam import Strategy
from regard.search.constraint_table import FREE, NEEDS, ConstraintTable, RowRules
from regard.search.engine import Hypothesis
from regard.search.history import Ends, History, hypotheses
from regard.search.options import Sampling


def most_probable(log_probs: Tensor, k: int) -> Tensor:
    """Keeps the k best tokens of each row and sets the others to −∞: (N, V) → (N, V)."""
    best, tokens = log_probs.topk(min(k, log_probs.shape[-1]), dim=-1)
    return torch.full_like(log_probs, -math.inf).scatter(-1, tokens, best)


def nucleus(log_probs: Tensor, p: float) -> Tensor:
    """Keeps the smallest set of best tokens with total probability p, and sets the others to −∞: (N, V) → (N, V)."""
    ordered, tokens = log_probs.sort(dim=-1, descending=True)
    probs = ordered.softmax(dim=-1)
    before = probs.cumsum(dim=-1) - probs  # total probability of all better tokens
    outside = before >= p
    outside[:, 0] = False  # the best token is always kept, despite rounding
    return torch.full_like(log_probs, -math.inf).scatter(-1, tokens, ordered.masked_fill(outside, -math.inf))


def near_best(log_probs: Tensor, share: float) -> Tensor:
    """Keeps tokens with at least `share` of the best one's probability, and sets others to −∞: (N, V) → (N, V)."""
    least = log_probs.amax(dim=-1, keepdim=True) + math.log(share)
    return log_probs.masked_fill(log_probs < least, -math.inf)


def sampling_probs(
    log_probs: Tensor, temperature: float, top_k: int | None, top_p: float, min_p: float = 0.0
) -> Tensor:
    """Returns q: log-probabilities of the model (N, V) → probabilities (N, V)."""
    scores = log_probs / temperature
    if top_k is not None:
        scores = most_probable(scores, top_k)
    if top_p < 1:
        scores = nucleus(scores, top_p)
    if min_p > 0:
        scores = near_best(scores, min_p)
    return scores.softmax(dim=-1)


def draw(probs: Tensor, uniform: Tensor) -> Tensor:
    """Returns the token at which the cumulative sum exceeds u: probs (N, V), uniform (N,) in [0, 1) → (N,)."""
    sums = probs.cumsum(dim=-1)
    item = uniform[:, None] * sums[:, -1:]  # the sum is 1 up to rounding
    token = torch.searchsorted(sums, item, right=True).clamp(max=probs.shape[-1] - 1)  # (N, 1)
    possible = probs.gather(-1, token) > 0  # False where rounding chose a token of probability 0
    return torch.where(possible, token, probs.argmax(dim=-1, keepdim=True))[:, 0]


@dataclass
class Samples:
    """The search state of B sentences with n samples each."""

    strategy: Strategy
    options: Sampling
    width: int  # n
    step: Tensor  # (B,) tokens generated so far
    limit: Tensor  # (B,) maximal number of tokens
    prefix: Tensor | None  # (B, P) how each translation begins, then NO_TOKEN
    token: Tensor  # (N,) the last token of each row
    uniform: Tensor  # (B, L, n) in [0, 1)
    history: History
    ends: Ends
    done: Tensor  # (B,)
    memo: dict[str, Tensor] = field(default_factory=dict)  # (B, n, …) of a variant; reordered with sentences

    @classmethod
    def begin(
        cls, strategy: Strategy, options: Sampling, width: int, items: Sequence[SearchItem], device: torch.device
    ) -> Self:
        size, longest = len(items), max(item.limit for item in items) + 1
        whole = torch.zeros(size, width, dtype=torch.long, device=device)
        row = torch.arange(width, device=device).expand_as(whole)
        nothing = whole.double()
        return cls(
            strategy,
            options,
            width,
            step=whole[:, 0],
            limit=torch.tensor([item.limit for item in items], device=device),
            prefix=padded_prefixes([item.request.prefix for item in items], device),
            token=torch.full((size * width,), BOS, device=device),
            uniform=uniform_numbers(items, width, longest, options.seed).to(device),
            history=History.empty(size, longest, width, device),
            ends=Ends(nothing, whole, row, torch.full_like(whole, math.nan, dtype=torch.float32), whole[:, 0].bool()),
            done=whole[:, 0].bool(),
        )

    def advance(self, step: Step) -> None:
        """Draws the next token of every row."""
        log_probs = step.log_probs  # (N, V)
        scores = log_probs.clone()
        scores[:, :EOS] = -math.inf  # PAD and BOS are never generated
        for adjust in self.strategy.adjust:
            scores = adjust(scores, self, step)
        options, place = self.options, torch.arange(len(self.step), device=log_probs.device)
        allowed = self.allowed(scores)
        probs = sampling_probs(allowed, options.temperature, options.top_k, options.top_p, options.min_p)
        token = draw(probs, self.uniform[place, self.step].flatten())
        if self.prefix is not None:
            due = prefix_tokens_at(self.prefix, self.step).repeat_interleave(self.width)
            token = torch.where(due == NO_TOKEN, token, due)
        token = self.replace_early_eos(token, log_probs)
        self._write(place, token, log_probs.gather(1, token[:, None])[:, 0])

    def allowed(self, scores: Tensor) -> Tensor:
        """Returns the scores of the tokens that may be drawn, (N, V) → (N, V)."""
        return scores

    def replace_early_eos(self, token: Tensor, log_probs: Tensor) -> Tensor:
        """Returns the tokens to generate when these tokens (N,) are drawn."""
        return token

    def _write(self, place: Tensor, token: Tensor, log_prob: Tensor) -> None:
        ends, shape = self.ends, (len(self.step), self.width)
        token, log_prob = token.view(shape), log_prob.view(shape)
        search = ends.log_prob.isnan() & ~self.done[:, None]
        ended = search & (token == EOS)
        length = torch.where(search & ~ended, self.step[:, None] + 1, ends.length)
        broken = ends.broken | (search & ~(log_prob > -math.inf)).any(1)
        score = torch.where(search, ends.score + log_prob, ends.score)
        self.history.write(place, self.step, token, ends.row, log_prob)
        self.ends = Ends(score, length, ends.row, torch.where(ended, log_prob, ends.log_prob), broken)
        self.step = torch.where(self.done, self.step, self.step + 1)
        self.done = self.done | broken | (self.step >= self.limit) | ~self.ends.log_prob.isnan().any(1)
        self.token = token.flatten()

    # ── adding and removing sentences ───────────────────────────────────────────────────────────────────────────────

    def keep(self, sentences: Tensor) -> Self:
        return replace(self, **kept(self, sentences), uniform=self.uniform[sentences])

    def join(self, other: Self) -> Self:
        uniform = join_tensors(self.uniform, other.uniform, FieldAxis("sentence", 0, grows=1))
        return replace(self, **concatenated(self, other), uniform=uniform)

    def results(self) -> list[list[Hypothesis]]:
        return hypotheses(self.history, self.ends)


def uniform_numbers(items: Sequence[SearchItem], count: int, steps: int, seed: int) -> Tensor:
    """Returns numbers in [0, 1), (B, L, n): one random stream per sentence, one row of it per sample."""
    numbers = np.zeros((len(items), steps, count), dtype=np.float32)
    for i, (_, request, limit) in enumerate(items):
        stream = np.random.default_rng([seed, *request.ids, EOS])
        numbers[i, :limit] = stream.random((count, limit), dtype=np.float32).T
    return torch.from_numpy(numbers)


@dataclass
class ConstrainedSamples(Samples):
    """Samples that each meet the constraint of their sentence; one that cannot is drawn without it."""

    rules: RowRules = field(kw_only=True)

    @classmethod
    def under(
        cls, table: ConstraintTable, strategy: Strategy, options: Sampling, width: int, items: Sequence[SearchItem]
    ) -> Self:
        """Returns the samples before their first token; the constraints enter the table."""
        plain = Samples.begin(strategy, options, width, items, table.device)
        rules, memo = RowRules.begin(table, items, width)
        plain.memo |= memo | {"ended early": torch.zeros_like(memo["state"]).bool()}  # EOS drawn while tokens lack
        return cls(**vars(plain), rules=rules)

    def advance(self, step: Step) -> None:
        super().advance(step)
        state = self.memo["state"]
        self.memo["state"] = self.rules.following(state, self.token.view_as(state))

    def allowed(self, scores: Tensor) -> Tensor:
        """Masks tokens that may not be drawn: (N, V) → (N, V). `replace_early_eos` replaces a drawn EOS."""
        state, table = self.memo["state"], self.rules.table
        drawing = self.ends.log_prob.isnan() & ~self.done[:, None]
        table.compute(state.where(drawing, FREE))
        room = (self.limit - 1 - self.step)[:, None].masked_fill(self.memo["ended early"], 0)
        wide = scores.view(*state.shape, -1)
        masked = self.rules.permitted(wide.clone(), self, room)
        needs, reserve, _ = table.counts[state].unbind(-1)
        may_end = (needs > 0) & (room > reserve)
        masked[..., EOS] = torch.where(may_end, wide[..., EOS], masked[..., EOS])
        impossible = masked.amax(2) == -math.inf
        self.memo["state"] = state.masked_fill(impossible, FREE)
        return torch.where(impossible[..., None], wide, masked).view_as(scores)

    def replace_early_eos(self, token: Tensor, log_probs: Tensor) -> Tensor:
        """Returns the drawn tokens (N,), with a premature EOS replaced by a required token."""
        state, table = self.memo["state"], self.rules.table
        early = (token == EOS).view_as(state) & (table.counts[state, NEEDS] > 0)
        self.memo["ended early"] = self.memo["ended early"] | early
        best, instead = self.rules.closing(log_probs.view(*state.shape, -1), state).max(2)
        return torch.where(early & (best > -math.inf), instead, token.view_as(state)).flatten()

    def keep(self, sentences: Tensor) -> Self:
        return replace(super().keep(sentences), rules=self.rules.keep(sentences))

    def join(self, other: Self) -> Self:
        return replace(super().join(other), rules=self.rules.join(other.rules))
