"""The n best translations that a search has found, with their features.

A search (`search.py`) leaves a graph: each hypothesis with all arcs that lead to it. Its score is that of the best path
from the beginning, so a path that is written from the end backwards has an exact bound on what it will come to, and the
first path that reaches the beginning is the best one: A* with a perfect heuristic gives all of them in order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count, islice
from typing import NamedTuple

from regard.course.phrases.search import Arc, PartialTranslation

TRIES = 5  # paths that are read for each translation that is wanted: several paths give the same words


class Derivation(NamedTuple):
    words: tuple[str, ...]
    features: tuple[float, ...]  # in the order of FEATURES
    score: float


def paths(best: PartialTranslation) -> Iterator[tuple[float, list[Arc]]]:
    """All paths to a complete hypothesis, best first: their scores and arcs."""
    numbers = count()
    heap: list[tuple[float, int, PartialTranslation, float, tuple[Arc, object] | None]] = [
        (-best.score, next(numbers), best, 0.0, None)
    ]
    while heap:
        negative, _, hypothesis, behind, chain = heapq.heappop(heap)
        if not hypothesis.arcs:
            yield -negative, _listed(chain)
            continue
        for arc in hypothesis.arcs:
            total = behind + arc.gain
            heapq.heappush(heap, (-(arc.before.score + total), next(numbers), arc.before, total, (arc, chain)))


def _listed(chain: object) -> list[Arc]:
    arcs = []
    while isinstance(chain, tuple):
        arc, chain = chain
        arcs.append(arc)
    return arcs


def candidate(score: float, arcs: list[Arc]) -> Derivation:
    words = tuple(word for arc in arcs if arc.option for word in arc.option.text)
    chosen = [arc.option for arc in arcs if arc.option is not None]
    table = (sum(column) for column in zip(*(option.scores for option in chosen), strict=True))
    lm, jump = sum(arc.lm for arc in arcs), sum(arc.jump for arc in arcs)
    return Derivation(words, (*table, float(len(chosen)), float(len(words)), lm, float(jump)), score)


def n_best(best: PartialTranslation, size: int) -> list[Derivation]:
    """The best translations that differ in their words, at most `size`."""
    found: dict[tuple[str, ...], Derivation] = {}
    for score, arcs in islice(paths(best), size * TRIES):
        one = candidate(score, arcs)
        found.setdefault(one.words, one)
        if len(found) == size:
            break
    return list(found.values())
