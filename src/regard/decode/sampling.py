"""Ancestral sampling: at every step a token drawn at random by its probability.

    y(t) ~ q(w) ∝ P(w | y<t, x)^(1/τ)      over the tokens that are kept

    N = B × n rows   V vocabulary   τ temperature

τ = 1 with every token kept draws from the model itself; a small τ comes close to greedy search. Three cuts remove
improbable tokens: keep the k most probable (Fan et al. 2018), the smallest set with total probability p (the nucleus,
Holtzman et al. 2020), or those with a share of the best token's probability (min-p, Nguyen et al. 2024). Temperature is
applied first, then k, p and min-p.

A draw takes one uniform number u in [0, 1) and returns the token at which the cumulative sum of q exceeds u. The
numbers of a sentence come from the seed and its source ids, and sample i uses the i-th row of them. So the samples of a
sentence do not depend on the rest of the batch or on how many samples are drawn; the same sentence twice in a batch
gets the same samples twice. Samples are not ranked: they are in the order of their draws, and `score` is the model's
log-probability, at τ = 1 and with every token kept.

A sentence may have a constraint (`constraints.py`): what it forbids is not drawn. A sample that draws the end before
everything is said continues with what must be said, the most probable way, and ends then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.constraints import Constraint, urgent
from regard.decode.hypothesis import Hypothesis, check_log_probs, length_limits
from regard.decode.options import Sampling
from regard.decode.permitted import permitted
from regard.errors import InputError
from regard.models.base import Model


def most_probable(log_probs: Tensor, k: int) -> Tensor:
    """The k best tokens of each row, the others at −∞: (N, V) → (N, V)."""
    best, tokens = log_probs.topk(min(k, log_probs.shape[-1]), dim=-1)
    return torch.full_like(log_probs, -math.inf).scatter(-1, tokens, best)


def nucleus(log_probs: Tensor, p: float) -> Tensor:
    """The smallest set of best tokens with total probability p, the others at −∞: (N, V) → (N, V)."""
    ordered, tokens = log_probs.sort(dim=-1, descending=True)
    probs = ordered.softmax(dim=-1)
    before = probs.cumsum(dim=-1) - probs  # total probability of all better tokens
    outside = before >= p
    outside[:, 0] = False  # the best token stays, whatever the rounding
    return torch.full_like(log_probs, -math.inf).scatter(-1, tokens, ordered.masked_fill(outside, -math.inf))


def near_best(log_probs: Tensor, share: float) -> Tensor:
    """The tokens with at least `share` of the best one's probability, the others at −∞: (N, V) → (N, V)."""
    least = log_probs.amax(dim=-1, keepdim=True) + math.log(share)
    return log_probs.masked_fill(log_probs < least, -math.inf)


def sampling_probs(
    log_probs: Tensor, temperature: float, top_k: int | None, top_p: float, min_p: float = 0.0
) -> Tensor:
    """q: (N, V) log-probabilities of the model → (N, V) probabilities."""
    scores = log_probs / temperature
    if top_k is not None:
        scores = most_probable(scores, top_k)
    if top_p < 1:
        scores = nucleus(scores, top_p)
    if min_p > 0:
        scores = near_best(scores, min_p)
    return scores.softmax(dim=-1)


def draw(probs: Tensor, uniform: Tensor) -> Tensor:
    """The token at which the cumulative sum exceeds u: probs (N, V), uniform (N,) in [0, 1) → (N,)."""
    sums = probs.cumsum(dim=-1)
    goal = uniform[:, None] * sums[:, -1:]  # the sum is 1 up to rounding
    token = torch.searchsorted(sums, goal, right=True).clamp(max=probs.shape[-1] - 1)  # (N, 1)
    possible = probs.gather(-1, token) > 0  # rounding could choose a token of probability 0
    return torch.where(possible, token, probs.argmax(dim=-1, keepdim=True))[:, 0]


@torch.inference_mode()
def sample(
    model: Model,
    src: Tensor,
    mask: Tensor,
    count: int = 1,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
    seed: int | torch.Generator = 0,
    constraints: Sequence[Constraint] | None = None,
) -> list[list[Hypothesis]]:
    """`count` samples of every source sentence: src (B, S) ids with EOS, mask (B, S), and for each sentence its
    constraint, where there are any. Of a generator one draw is the seed, so the next call gets another."""
    if count < 1:
        raise InputError(f"the number of samples must be at least 1, but is {count}")
    Sampling(temperature, top_k, top_p, min_p)  # checks them
    needs = None if constraints is None else [c.needs + c.margin + 1 for c in constraints]
    limits = [limit for limit in length_limits(mask, model.max_positions, needs=needs) for _ in range(count)]
    bound = None if constraints is None else _Bound([c for c in constraints for _ in range(count)], limits)
    uniforms = _uniforms(src, mask, count, _seed_number(seed), needs).to(src.device)  # (N, longest limit)
    ids: list[list[int]] = [[] for _ in limits]
    log_probs: list[list[float]] = [[] for _ in limits]
    live = torch.arange(len(limits), device=src.device)  # (N,) rows not finished
    state = model.start(model.encode(src, mask)).select(live // count)
    token = torch.full_like(live, BOS)
    position = 0
    while len(live):
        step = model.step(token, state)
        allowed = step.log_probs if bound is None else bound.allowed(step.log_probs, live.tolist(), position)
        token = draw(sampling_probs(allowed, temperature, top_k, top_p, min_p), uniforms[live, position])  # (N,)
        if bound is not None:
            token = bound.said(token, step.log_probs, live.tolist())
        drawn_log_probs = step.log_probs.gather(-1, token[:, None])[:, 0].tolist()  # (N,)
        check_log_probs(drawn_log_probs)
        position += 1
        unfinished = []
        drawn = zip(live.tolist(), token.tolist(), drawn_log_probs, strict=True)
        for i, (row, token_id, log_prob) in enumerate(drawn):
            log_probs[row].append(log_prob)
            if token_id != EOS:
                ids[row].append(token_id)
                if position < limits[row]:
                    unfinished.append(i)
        state = step.state
        if len(unfinished) < len(live):
            kept = torch.tensor(unfinished, device=src.device, dtype=torch.long)
            live, token = live[kept], token[kept]
            if unfinished:
                state = state.select(kept)
    rows = [Hypothesis(tuple(i), tuple(p), sum(p)) for i, p in zip(ids, log_probs, strict=True)]
    return [rows[i : i + count] for i in range(0, len(rows), count)]


class _Bound:
    """The constraint of every row; None where it cannot be met."""

    def __init__(self, rules: Sequence[Constraint], limits: Sequence[int]) -> None:
        self.rules: list[Constraint | None] = list(rules)
        self.limits = limits
        self.hurried: set[int] = set()  # rows that wanted to end before everything was said

    def allowed(self, log_probs: Tensor, rows: list[int], position: int) -> Tensor:
        """What may be drawn: (N, V) → (N, V). EOS may be; `said` replaces it."""
        rules = [self.rules[row] for row in rows]
        rooms = [0 if row in self.hurried else self.limits[row] - 1 - position for row in rows]
        masked = permitted(log_probs, rules, rooms)
        for i, (row, rule, room) in enumerate(zip(rows, rules, rooms, strict=True)):
            if rule is None:
                continue
            if room > rule.needs + rule.margin:
                masked[i, EOS] = log_probs[i, EOS]
            elif masked[i].max() == -math.inf:
                masked[i], self.rules[row] = log_probs[i], None
        return masked

    def said(self, token: Tensor, log_probs: Tensor, rows: list[int]) -> Tensor:
        """The tokens drawn (N,), where one of them is too early an end what must be said instead."""
        tokens = token.tolist()
        for i, row in enumerate(rows):
            rule = self.rules[row]
            if rule is not None and tokens[i] == EOS and rule.needs:
                self.hurried.add(row)
                options = [(float(log_probs[i, t]), t) for t in urgent(rule)]
                best, instead = max(options, default=(-math.inf, EOS))
                tokens[i] = instead if best > -math.inf else EOS
            self.rules[row] = None if rule is None else rule.after(tokens[i])
        return torch.tensor(tokens, device=token.device)


def _seed_number(seed: int | torch.Generator) -> int:
    if isinstance(seed, torch.Generator):
        return int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    if seed < 0:
        raise InputError(f"a seed must not be negative, but is {seed}")
    return seed


def _uniforms(src: Tensor, mask: Tensor, count: int, seed: int, needs: Sequence[int] | None) -> Tensor:
    """(N, longest limit) numbers in [0, 1): one random stream per sentence, one row of it per sample."""
    limits = length_limits(mask, needs=needs)
    numbers = np.zeros((len(limits), count, max(limits, default=0)), dtype=np.float32)
    for i, (ids, real, limit) in enumerate(zip(src.tolist(), mask.tolist(), limits, strict=True)):
        source = [token for token, is_token in zip(ids, real, strict=True) if is_token]
        numbers[i, :, :limit] = np.random.default_rng([seed, *source]).random((count, limit), dtype=np.float32)
    return torch.from_numpy(numbers).flatten(0, 1)
