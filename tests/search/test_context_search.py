"""Search in context: both engines return what follows the context's translation, and nothing of the context."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contexts import PRONOUNS, THINGS
from converted import engines
from regard.bundle.bundle import Bundle
from regard.search.constraints import EachOnce
from regard.search.context_search import PrefixSearch, beyond_context, joined
from regard.search.ctranslate2_engine import CTranslate2Engine
from regard.search.engine import Context, Engine, SearchRequest, StopSignal
from regard.search.options import Sampling, SearchOptions
from regard.text.tokenizer import Tokenizer
from regard.translator import Translator

OPTIONS = SearchOptions(2, 0.6, attention=True)


@pytest.fixture(scope="module")
def both(contexts: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CTranslate2Engine, Engine]:
    return engines(contexts, tmp_path_factory.mktemp("converted") / "out")


@pytest.fixture(scope="module")
def tokenizer(contexts: Path) -> Tokenizer:
    return Bundle.read(contexts).tokenizer


@pytest.fixture(scope="module")
def requests(tokenizer: Tokenizer) -> list[SearchRequest]:
    """Each pronoun after each thing."""
    found = []
    for english, french in THINGS.items():
        source, target = (tuple(tokenizer.encode_source([english])[0]), tuple(tokenizer.encode_target([french])[0]))
        for sentence in PRONOUNS:
            ids = tuple(tokenizer.encode_source([sentence])[0])
            found.append(SearchRequest(ids, context=Context(source, target)))
    return found


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_the_context_decides_and_both_engines_agree(
    beam: int, both: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest], tokenizer: Tokenizer
) -> None:
    options = replace(OPTIONS, beam=beam)
    fast, native = (engine.search_in_context(requests, options) for engine in both)
    wanted = [row[gender] for gender in (1, 2) for row in PRONOUNS.values()]
    assert [tokenizer.decode(some[0].ids).strip() for some in fast] == wanted
    for request, one, other in zip(requests, fast, native, strict=True):
        assert one[0].ids == other[0].ids
        assert one[0].score == pytest.approx(other[0].score, abs=1e-2)
        assert one[0].log_prob == pytest.approx(other[0].log_prob, abs=1e-2)
        assert one[0].attention is not None
        assert other[0].attention is not None
        assert one[0].attention.shape == (len(one[0].ids) + 1, len(request.ids) + 1)
        assert one[0].attention.sum(axis=1) == pytest.approx(1)
        assert one[0].attention == pytest.approx(other[0].attention, abs=2e-2)


def test_attention_and_log_probability_are_those_of_a_forced_pass(
    both: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    for request, (best, *_) in zip(requests, both[0].search_in_context(requests, OPTIONS), strict=True):
        whole = joined(request)
        (weights,) = both[1].attention([whole.ids], [whole.prefix + best.ids]) or [None]
        (row,) = both[1].log_probs([whole.ids], [whole.prefix + best.ids])
        assert request.context is not None
        assert weights is not None
        assert best.attention == pytest.approx(beyond_context(weights, request.context), abs=2e-2)
        assert best.log_prob == pytest.approx(row[len(whole.prefix) :].sum(), abs=5e-2)


def test_the_tag_stays_before_the_context() -> None:
    request = SearchRequest((9, 1, 2), context=Context((3, 4), (5,), tags=1))
    assert joined(request).ids == (9, 3, 4, 1, 2)
    weights = np.array([[0.0] * 6, [0.1, 0.3, 0.2, 0.1, 0.1, 0.2]])
    assert beyond_context(weights, Context((3, 4), (5,), tags=1)) == pytest.approx(np.array([[0.2, 0.2, 0.2, 0.4]]))


def test_what_misses_its_constraint_is_not_found(
    both: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    slot = frozenset({5})
    bound = [request._replace(constraint=EachOnce(slot, slot)) for request in requests]
    for engine in both:
        assert engine.search_in_context(bound, OPTIONS) == [[]] * len(requests)


def test_what_is_too_long_or_stopped_is_not_searched(
    both: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    first = requests[0]
    assert first.context is not None
    long = first._replace(context=first.context._replace(source=first.context.source * 1000))
    stopped = first._replace(stops=(StopSignal(is_cancelled=lambda: True),))
    found = both[0].search_in_context([long, stopped, first], OPTIONS)
    assert [bool(some) for some in found] == [False, False, True]


def test_samples_are_drawn_by_the_native_engine(
    both: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    drawn = SearchOptions(1, 0.6, nbest=2, sampling=Sampling(seed=1))
    assert all(both[0].search_in_context(requests, drawn))


def test_a_prefix_stays_as_it_is_after_searches_with_other_tags() -> None:
    """CTranslate2 keeps the places of pieces from one limited vocabulary to the next."""
    translator = Translator.load("en-fr", engine="ctranslate2")
    engine, tokenizer = translator.engine(), translator.tokenizer
    assert isinstance(engine, CTranslate2Engine)
    tag_of_french, *source = tokenizer.encode_source(["The cherry trees are in blossom."])[0]
    prefix = tuple(tokenizer.encode_target(["Les cerisiers"])[0])
    for tag in ("<de>", "<es>", "<fr-formal>", "<fr-informal>"):
        other = SearchRequest((engine.model.source.index(tag), *source))
        for _ in range(8):  # every worker has searched with this tag
            engine.search([other], OPTIONS)
        asked = [SearchRequest((tag_of_french, *source), prefix=prefix)] * 8
        for found in PrefixSearch(engine.model, 512).search(asked, OPTIONS, attention=False):
            assert found
            assert all(one.ids[: len(prefix)] == prefix for one in found)
