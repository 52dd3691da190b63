"""Ancestral sampling: at every step a word drawn by its probability instead of the best one.

    y(t) ~ q(w) ∝ P(w | y<t, x)^(1/τ)      over the words that are kept

    N = B × n rows   V vocabulary   τ temperature

τ = 1 with every word kept draws from the model itself; a small τ comes close to greedy search. Two cuts keep the
tail out: the k most probable words (Fan et al. 2018), and the smallest set that holds the mass p (the nucleus, Holtzman
et al. 2020). Temperature comes first, then k, then p.

A draw needs one number u between 0 and 1: the word where the running sum of q passes u. The numbers of a sentence come
from its source ids and the seed, and sample i has the i-th row of them. So a sentence's samples do not depend on its
neighbours, its place in the batch, or how many samples follow; the same sentence twice in a batch gives the same
samples twice. No sample is ranked: they stand in the order of their draws, and `score` is the model's log-probability
of what was said, at τ = 1 and with every word kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.hypothesis import Hypothesis, length_limits
from regard.errors import InputError
from regard.models.base import Model


@dataclass(frozen=True)
class Sampling:
    """How to draw, for whoever translates text by it."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0


def most_probable(log_probs: Tensor, k: int) -> Tensor:
    """The k best words of each row, the others at −∞: (N, V) → (N, V)."""
    best, words = log_probs.topk(min(k, log_probs.shape[-1]), dim=-1)
    return torch.full_like(log_probs, -math.inf).scatter(-1, words, best)


def nucleus(log_probs: Tensor, p: float) -> Tensor:
    """The smallest set of best words that holds the mass p, the others at −∞: (N, V) → (N, V)."""
    ordered, words = log_probs.sort(dim=-1, descending=True)
    probs = ordered.softmax(dim=-1)
    before = probs.cumsum(dim=-1) - probs  # the mass of all better words
    outside = before >= p
    outside[:, 0] = False  # the best word stays, however the sums are rounded
    return torch.full_like(log_probs, -math.inf).scatter(-1, words, ordered.masked_fill(outside, -math.inf))


def to_draw_from(log_probs: Tensor, temperature: float, top_k: int | None, top_p: float) -> Tensor:
    """q: (N, V) log-probabilities of the model → (N, V) probabilities."""
    scores = log_probs / temperature
    if top_k is not None:
        scores = most_probable(scores, top_k)
    if top_p < 1:
        scores = nucleus(scores, top_p)
    return scores.softmax(dim=-1)


def draw(probs: Tensor, uniform: Tensor) -> Tensor:
    """The word where the running sum passes u: probs (N, V), uniform (N,) in [0, 1) → (N,)"""
    sums = probs.cumsum(dim=-1)
    goal = uniform[:, None] * sums[:, -1:]  # the sum is 1 but for rounding
    word = torch.searchsorted(sums, goal, right=True).clamp(max=probs.shape[-1] - 1)  # (N, 1)
    possible = probs.gather(-1, word) > 0  # rounding could point at a word of no probability
    return torch.where(possible, word, probs.argmax(dim=-1, keepdim=True))[:, 0]


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
    seed: int | torch.Generator = 0,
) -> list[list[Hypothesis]]:
    """`count` samples of every source sentence: src (B, S) ids with EOS, mask (B, S). A generator gives the seed by one
    draw, so that the next call has another."""
    check(count, temperature, top_k, top_p)
    limits = [limit for limit in length_limits(mask) for _ in range(count)]  # of each row
    uniforms = _uniforms(src, mask, count, _number(seed)).to(src.device)  # (N, longest limit)
    ids: list[list[int]] = [[] for _ in limits]
    log_probs: list[list[float]] = [[] for _ in limits]
    live = torch.arange(len(limits), device=src.device)  # (N,) rows still going
    state = model.start(model.encode(src, mask)).select(live // count)
    token = torch.full_like(live, BOS)
    place = 0
    while len(live):
        step = model.step(token, state)
        token = draw(to_draw_from(step.log_probs, temperature, top_k, top_p), uniforms[live, place])  # (N,)
        said = step.log_probs.gather(-1, token[:, None])[:, 0]  # (N,)
        place += 1
        going = []
        drawn = zip(live.tolist(), token.tolist(), said.tolist(), strict=True)
        for i, (row, word, log_prob) in enumerate(drawn):
            log_probs[row].append(log_prob)
            if word != EOS:
                ids[row].append(word)
                if place < limits[row]:
                    going.append(i)
        state = step.state
        if len(going) < len(live):
            kept = torch.tensor(going, device=src.device, dtype=torch.long)
            live, token = live[kept], token[kept]
            if going:
                state = state.select(kept)
    rows = [Hypothesis(tuple(i), tuple(p), sum(p)) for i, p in zip(ids, log_probs, strict=True)]
    return [rows[i : i + count] for i in range(0, len(rows), count)]


def check(count: int, temperature: float, top_k: int | None, top_p: float) -> None:
    if count < 1:
        raise InputError(f"the number of samples must be at least 1, but is {count}")
    if not 0 < temperature < math.inf:
        raise InputError(
            f"temperature must be above 0, but is {temperature:g}; for the most probable words use a beam of 1"
        )
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k must be at least 1, but is {top_k}; leave it out to keep all words")
    if not 0 < top_p <= 1:
        raise InputError(f"top_p must be above 0 and at most 1, but is {top_p:g}; 1 keeps all words")


def _number(seed: int | torch.Generator) -> int:
    if isinstance(seed, torch.Generator):
        return int(torch.randint(2**63 - 1, (), generator=seed, device=seed.device))
    if seed < 0:
        raise InputError(f"a seed must not be negative, but is {seed}")
    return seed


def _uniforms(src: Tensor, mask: Tensor, count: int, seed: int) -> Tensor:
    """(N, longest limit) numbers in [0, 1): a stream for each sentence, a row of it for each sample."""
    limits = length_limits(mask)
    numbers = np.zeros((len(limits), count, max(limits, default=0)), dtype=np.float32)
    for i, (words, real, limit) in enumerate(zip(src.tolist(), mask.tolist(), limits, strict=True)):
        source = [word for word, there in zip(words, real, strict=True) if there]
        numbers[i, :, :limit] = np.random.default_rng([seed, *source]).random((count, limit), dtype=np.float32)
    return torch.from_numpy(numbers).flatten(0, 1)
