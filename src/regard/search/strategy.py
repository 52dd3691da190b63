"""Makes a search strategy from options: penalties, bounds of length, coverage, stopping, groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.batch import EOS
from regard.errors import InputError
from regard.search.alignment_heads import AlignmentHeads
from regard.search.beam import Adjust, Strategy
from regard.search.diverse import pick_diverse
from regard.search.options import SearchOptions

if TYPE_CHECKING:
    from regard.models.base import Step
    from regard.search.batch_rows import SearchItem
    from regard.search.beam import Rank, RankedRows, Rows


def strategy_of(options: SearchOptions, heads: AlignmentHeads | None = None) -> Strategy:
    """Returns the beam search strategy for the options. `heads` are the heads whose attention gives the coverage."""
    found = Strategy(alpha=options.length_penalty)
    adjust: list[Adjust] = []
    if options.repetition_penalty > 1:
        adjust.append(against_repetition(options.repetition_penalty))
    if options.min_length or options.max_length is not None:
        adjust.append(within_length(options.min_length, options.max_length))
    if options.coverage_penalty:
        if not heads:
            raise InputError("coverage_penalty must be 0 for a model without attention to the source; leave it out")
        adjust.append(covered(heads))
        found = replace(found, rank=rank_by_coverage(options.coverage_penalty), remember=coverage_memo, trace=True)
    if options.exact:
        found = replace(found, reach=reachable_at_limit)
    if options.groups > 1:
        found = replace(found, pick=pick_diverse(options.groups, options.diversity), spread=options.groups)
    return replace(found, adjust=tuple(adjust))


LEAST_COVERAGE = 1e-6  # of a source token; keeps the logarithm finite


# ── repetition ──────────────────────────────────────────────────────────────────────────────────────────────────────


def repeated(scores: Tensor, generated: Tensor, theta: float) -> Tensor:
    """Multiplies the scores of generated tokens by θ: both (N, V) → (N, V)."""
    return torch.where(generated, theta * scores, scores)


def against_repetition(theta: float) -> Adjust:
    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        shape = len(rows.step), rows.width, scores.shape[-1]
        generated = rows.memo.get("generated")
        generated = scores.new_zeros(shape, dtype=torch.bool) if generated is None else generated
        rows.memo["generated"] = generated.scatter(2, rows.token.view(*shape[:2], 1), True)  # BOS too, never generated
        return repeated(scores, rows.memo["generated"].view_as(scores), theta)

    return adjust


# ── length ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def bounded(scores: Tensor, length: Tensor, least: int, most: int | None) -> Tensor:
    """Forbids EOS before `least` tokens, and all but EOS after `most`: scores (N, V), length (N,) → (N, V)."""
    end = torch.arange(scores.shape[-1], device=scores.device) == EOS  # (V,)
    scores = scores.masked_fill((length < least)[:, None] & end, -math.inf)
    return scores if most is None else scores.masked_fill((length >= most)[:, None] & ~end, -math.inf)


def within_length(least: int, most: int | None) -> Adjust:
    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        return bounded(scores, rows.step.repeat_interleave(rows.width), least, most)

    return adjust


# ── coverage ────────────────────────────────────────────────────────────────────────────────────────────────────────


def coverage_penalty(coverage: Tensor, beta: float) -> Tensor:
    """Returns β · Σ log min(1, c): c (…, S), the attention each source token has received, 1 at padding → (…).

    >>> round(float(coverage_penalty(torch.tensor([1.5, 0.5, 1.0]), 0.2)), 4)
    -0.1386
    """
    return beta * coverage.clamp(LEAST_COVERAGE, 1.0).log().sum(-1)


def covered(heads: AlignmentHeads) -> Adjust:
    """Returns an `Adjust` that sums the attention of each row in its memo and changes no score."""

    def adjust(scores: Tensor, rows: Rows, step: Step) -> Tensor:
        assert step.attention is not None
        attention = heads.average(step.attention.unbind(1)).view(len(rows.step), rows.width, -1)  # (B, b, S)
        before = rows.memo["coverage"]
        wide = attention.shape[-1] - before.shape[-1]
        before, attention = pad(before, (0, max(0, wide))), pad(attention, (0, max(0, -wide)))
        rows.memo["coverage"] = torch.where(rows.done.to(before.device)[:, None, None], before, before + attention)
        return scores

    return adjust


def coverage_memo(items: Sequence[SearchItem], width: int, device: torch.device) -> dict[str, Tensor]:
    """Returns the initial memo: zero coverage, and the number of source tokens to cover."""
    lengths = torch.tensor([len(item.request.ids) for item in items], device=device)
    zeros = torch.zeros(len(items), width, int(lengths.max()) + 1, device=device)
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


def reachable_at_limit(total: Tensor, length: Tensor, beams: RankedRows) -> Tensor:
    """Returns an upper bound of the score of a live hypothesis: log P cannot increase, and is divided by at most lp at
    the length limit; the coverage penalty is at most 0."""
    return total / beams.penalty(beams.limit)
