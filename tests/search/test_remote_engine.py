"""An engine in another process: calls that are answered together get what each would get alone."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chain import Chain
from regard.search.alignment_heads import AlignmentHeads, AlignmentView
from regard.search.constraints import EachOnce, NoRepeat
from regard.search.engine import SearchRequest
from regard.search.native_engine import NativeEngine
from regard.search.options import SearchOptions
from regard.search.remote_engine import EngineCall, RemoteEngine, answer_calls

WORD = st.integers(3, 6)
IDS = st.lists(WORD, min_size=1, max_size=4).map(tuple)
RULES = st.sampled_from([None, EachOnce(frozenset({4}), frozenset({4, 5})), NoRepeat(2)])
REQUESTS = st.lists(st.tuples(IDS, RULES).map(lambda pair: SearchRequest(*pair)), min_size=1, max_size=4)
PAIRS = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=4).map(lambda pairs: tuple(zip(*pairs, strict=True)))
OPTIONS = st.sampled_from([SearchOptions(2, 0.6), SearchOptions(4, 1.0, nbest=2)])
ENGINE = st.integers(0, 1)
SEARCHES = st.builds(
    lambda number, some, options: EngineCall(number, "search_as_asked", (some,), options), ENGINE, REQUESTS, OPTIONS
)
SCORES = st.builds(lambda number, pairs: EngineCall(number, "log_probs", pairs), ENGINE, PAIRS)


def engine_of(seed: int) -> NativeEngine:
    model = Chain(seed)
    return NativeEngine(model, AlignmentView(AlignmentHeads(())), model)


ENGINES = [engine_of(1), engine_of(2)]


def alone(call: EngineCall) -> Any:
    return getattr(ENGINES[call.engine], call.method)(*call.rows, *([call.options] if call.options else []))


@settings(max_examples=25, deadline=None)
@given(st.lists(SEARCHES | SCORES, min_size=1, max_size=5))
def test_calls_that_are_answered_together_get_what_each_would_get_alone(calls: list[EngineCall]) -> None:
    sent = pickle.loads(pickle.dumps(calls))  # as another process sends them
    for call, found in zip(calls, answer_calls(ENGINES, sent), strict=True):
        for ours, own in zip(found, alone(call), strict=True):
            if call.method == "search_as_asked":
                assert [one.ids for one in ours] == [one.ids for one in own]
            else:
                np.testing.assert_allclose(ours, own, rtol=1e-5)


def test_a_remote_engine_has_the_results_of_the_engine() -> None:
    remote = RemoteEngine(lambda call: answer_calls(ENGINES, [call])[0], 1)
    slot = EachOnce(frozenset({4}), frozenset({4, 5}))
    requests, finished = [SearchRequest((3, 4), slot), SearchRequest((5,))], list[int]()
    options = SearchOptions(3, 0.6)
    assert remote.search(requests, options, finished.append) == ENGINES[1].search(requests, options)
    assert sum(finished) == 2
    assert remote.attention([(3,)], [(4,)]) is None  # a model without attention
    assert remote.search([], options) == []


def test_an_error_of_the_engine_reaches_the_caller() -> None:
    with pytest.raises(AttributeError):
        answer_calls([object()], [EngineCall(0, "search_as_asked", ([SearchRequest((3,))],), SearchOptions(1))])  # type: ignore[list-item]
