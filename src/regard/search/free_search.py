"""Sentences with slots are searched freely first.

A model trained with slots rarely loses one: if the best hypothesis of a free search has each slot once, it is also the
best of those that have. Only the others are searched again with the constraint, which takes far longer per sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from regard.search.constraints import EachOnce, satisfies
from regard.search.engine import Hypothesis, Progress, SearchRequest
from regard.search.options import SearchOptions

Search = Callable[[Sequence[SearchRequest], SearchOptions, Progress | None], list[list[Hypothesis]]]


def search_freely_first(
    search: Search, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
) -> list[list[Hypothesis]]:
    """Searches in two calls of `search`: first without constraints, also for sentences with slots, then with them, for
    all other sentences with a constraint and for those whose best hypothesis lost a slot, here or in a free search
    before (`free_search_failed`)."""
    rules = [one.constraint for one in requests]
    only_bound = [options.sampling is not None or one.free_search_failed for one in requests]
    slots = [i for i, rule in enumerate(rules) if isinstance(rule, EachOnce) and not only_bound[i]]
    free = sorted([*slots, *(i for i, rule in enumerate(rules) if rule is None)])
    found: list[list[Hypothesis]] = [[] for _ in requests]
    if free:
        freely = search([requests[i]._replace(constraint=None) for i in free], options, progress)
        for i, hypotheses in zip(free, freely, strict=True):
            found[i] = hypotheses
    broken = [i for i in slots if found[i] and not satisfies(found[i][0].ids, rules[i])]
    for i in slots:
        found[i] = [one for one in found[i] if satisfies(one.ids, rules[i])]
    bound = [*broken, *sorted(set(range(len(requests))).difference(free))]
    if bound:
        for i, hypotheses in zip(bound, search([requests[i] for i in bound], options, None), strict=True):
            found[i] = hypotheses
        if progress is not None and len(bound) > len(broken):
            progress(len(bound) - len(broken))
    return found
