"""The engine in torch: slots are searched freely first, and with their constraint only where one is lost."""

from __future__ import annotations

import pytest

from chain import Chain
from regard.search import native_engine
from regard.search.alignment_heads import AlignmentHeads, AlignmentView
from regard.search.constraints import EachOnce, NoRepeat, satisfies
from regard.search.engine import SearchRequest
from regard.search.native_engine import NativeEngine
from regard.search.options import Sampling, SearchOptions
from regard.search.search import search

SLOT = EachOnce(frozenset({4}), frozenset({4, 5}))
OPTIONS = SearchOptions(4, 0.6, nbest=2)


def engine_of(seed: int) -> NativeEngine:
    model = Chain(seed)
    return NativeEngine(model, AlignmentView(AlignmentHeads(())), model)


@pytest.mark.parametrize("seed", range(8))
def test_slots_kept_freely_are_those_of_a_free_search_and_lost_ones_of_a_constrained_search(seed: int) -> None:
    engine = engine_of(seed)
    plain = [SearchRequest((word, 3)) for word in range(3, 7)]
    bound = [request._replace(constraint=SLOT) for request in plain]
    free, constrained = (search(engine.model, some, OPTIONS) for some in (plain, bound))
    for found, freely, required in zip(engine.search(bound, OPTIONS), free, constrained, strict=True):
        assert found
        assert all(satisfies(one.ids, SLOT) for one in found)
        assert found[0] == (freely[0] if satisfies(freely[0].ids, SLOT) else required[0])
        assert found[0].score >= required[0].score  # the free search is never worse by the model


def test_only_lost_slots_are_searched_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[SearchRequest]] = []

    def spy(model: Chain, requests: list[SearchRequest], *rest: object) -> object:
        asked.append(list(requests))
        return search(model, requests, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(native_engine, "search", spy)
    engine = engine_of(1)
    requests = [SearchRequest((word, 3), SLOT) for word in range(3, 7)]
    requests.append(SearchRequest((3, 3), NoRepeat(2)))
    engine.search(requests, OPTIONS)
    first, second = asked
    assert [one.constraint for one in first] == [None] * 4
    best = [some[0].ids for some in search(engine.model, first[:4], OPTIONS)]
    assert second == [*(one for one, ids in zip(requests, best, strict=False) if not satisfies(ids, SLOT)), requests[4]]
    failed = [one._replace(free_search_failed=True) for one in requests[:2]]
    engine.search(failed, OPTIONS)
    assert asked.pop() == failed
    engine.search(requests[:1], SearchOptions(1, sampling=Sampling(seed=1)))
    assert asked[2][0].constraint is SLOT  # samples are drawn under the constraint
