"""Penalties and bounds of a search in tensors: what hypotheses are ranked by besides their probability.

    B sentences   b rows of each   N = B × b rows   V vocabulary   S source tokens

    length       lp(Y) = ((5 + |Y|) / 6)^α                    a finished hypothesis is ranked by log P(Y) / lp(Y) + cp
    coverage     cp(X; Y) = β · Σ_i log min(1, Σ_j a(j, i))   a(j, i): attention of target token j to source token i
    repetition   θ · log P(w) instead of log P(w)             for a token w that the hypothesis has said before

Length and coverage are of Wu et al. 2016; repetition is after Keskar et al. 2019, but on log-probabilities, so that it
does not depend on how a model scales its logits. `beam.py` calls these functions through a `Strategy`; what they
remember of each row is in its memo.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.batch import EOS
from regard.decode.alignment_heads import AlignmentHeads

if TYPE_CHECKING:
    from regard.decode.beam import Adjust, Rank, RankedRows, Rows
    from regard.decode.goal import Goal
    from regard.models.base import Step

LEAST_COVERAGE = 1e-6  # of a source token: keeps the logarithm finite


# ── repetition ──────────────────────────────────────────────────────────────────────────────────────────────────────


def repeated(scores: Tensor, said: Tensor, theta: float) -> Tensor:
    """θ times the score where a token was said: both (N, V) → (N, V)."""
    return torch.where(said, theta * scores, scores)


def against_repetition(theta: float) -> Adjust:
    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        shape = len(rows.step), rows.width, scores.shape[-1]
        said = rows.memo.get("said")
        said = scores.new_zeros(shape, dtype=torch.bool) if said is None else said
        rows.memo["said"] = said.scatter(2, rows.token.view(*shape[:2], 1), True)  # BOS too, which is never said again
        return repeated(scores, rows.memo["said"].view_as(scores), theta)

    return adjust


# ── length ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def bounded(scores: Tensor, length: Tensor, least: int, most: int | None) -> Tensor:
    """No EOS before `least` tokens are said, nothing else after `most`: scores (N, V), length (N,) → (N, V)."""
    end = torch.arange(scores.shape[-1], device=scores.device) == EOS  # (V,)
    scores = scores.masked_fill((length < least)[:, None] & end, -math.inf)
    return scores if most is None else scores.masked_fill((length >= most)[:, None] & ~end, -math.inf)


def within_length(least: int, most: int | None) -> Adjust:
    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        return bounded(scores, rows.step.repeat_interleave(rows.width), least, most)

    return adjust


# ── coverage ────────────────────────────────────────────────────────────────────────────────────────────────────────


def coverage_penalty(coverage: Tensor, beta: float) -> Tensor:
    """β · Σ log min(1, c): (…, S) attention that each source token has got, 1 at padding → (…).

    >>> round(float(coverage_penalty(torch.tensor([1.5, 0.5, 1.0]), 0.2)), 4)
    -0.1386
    """
    return beta * coverage.clamp(LEAST_COVERAGE, 1.0).log().sum(-1)


def covered(heads: AlignmentHeads) -> Adjust:
    """Adds up what each row has attended to; changes no score."""

    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        assert step.attention is not None
        attention = heads.average(step.attention.unbind(1)).view(len(rows.step), rows.width, -1)  # (B, b, S)
        before = rows.memo["coverage"]
        wide = attention.shape[-1] - before.shape[-1]
        before, attention = pad(before, (0, max(0, wide))), pad(attention, (0, max(0, -wide)))
        rows.memo["coverage"] = torch.where(rows.done.to(before.device)[:, None, None], before, before + attention)
        return scores

    return adjust


def coverage_memo(goals: Sequence[Goal], width: int, device: torch.device) -> dict[str, Tensor]:
    """Nothing covered yet, and how many source tokens there are to cover."""
    lengths = torch.tensor([len(goal.request.ids) for goal in goals], device=device)
    zeros = torch.zeros(len(goals), width, int(lengths.max()) + 1, device=device)
    return {"coverage": zeros, "length": lengths[:, None].expand(-1, width)}


def rank_by_coverage(beta: float) -> Rank:
    """log P(Y) / lp(Y) + cp(X; Y)"""

    def rank(total: Tensor, length: Tensor, row: Tensor, beams: RankedRows) -> Tensor:
        coverage, lengths = beams.memo["coverage"], beams.memo["length"]
        beyond = torch.arange(coverage.shape[-1], device=coverage.device) >= lengths[:, :, None]  # EOS and padding
        penalties = coverage_penalty(coverage.double().masked_fill(beyond, 1.0), beta)  # (B, b)
        return total / beams.penalty(length)[:, None] + penalties.gather(1, row)

    return rank


# ── exact stopping ──────────────────────────────────────────────────────────────────────────────────────────────────


def reach_at_limit(total: Tensor, length: Tensor, beams: RankedRows) -> Tensor:
    """The most that a live hypothesis can be ranked by, however it goes on: log P cannot grow, and is divided by no
    more than lp at the length limit; the coverage penalty is at most 0."""
    return total / beams.penalty(beams.limit)
