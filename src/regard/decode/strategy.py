"""From options to what they change of a plain beam search: penalties, bounds of length, coverage, stopping, groups."""

from __future__ import annotations

from dataclasses import replace

from regard.decode.alignment_heads import AlignmentHeads
from regard.decode.beam import Adjust, Strategy
from regard.decode.diverse import pick_diverse
from regard.decode.options import SearchOptions
from regard.decode.tensor_penalties import (
    against_repetition,
    coverage_memo,
    covered,
    rank_by_coverage,
    reach_at_limit,
    within_length,
)
from regard.errors import InputError


def strategy_of(options: SearchOptions, heads: AlignmentHeads | None = None) -> Strategy:
    """What the options change of a plain beam search. `heads` say which attention covers the source."""
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
        found = replace(found, reach=reach_at_limit)
    if options.groups > 1:
        found = replace(found, pick=pick_diverse(options.groups, options.diversity), spread=options.groups)
    return replace(found, adjust=tuple(adjust))
