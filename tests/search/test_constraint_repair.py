"""What CTranslate2 searches on from keeps its constraint, and is scored and aligned as if it had been said at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from converted import engines, saved_transformer
from regard.align.attention import RowMeaning
from regard.bundle.numpy_weights import pieces_to_card
from regard.search.constraint_repair import (
    ConstraintRepair,
    TranslatedRules,
    ViolatingDraft,
    translatable_rules,
)
from regard.search.constraints import All, Constraint, EachOnce, Never, NoRepeat, count_violations, satisfies
from regard.search.ctranslate2_engine import CTranslate2Engine
from regard.search.engine import Engine, Hypothesis, Ids, Progress, SearchRequest, Weights, length_penalty
from regard.search.options import SearchOptions
from regard.search.required_terms import Terms
from regard.text.slots import SLOTS
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.translator import Translator
from support import LINES

GREEDY, BEAM = SearchOptions(1, 0.6, attention=True), SearchOptions(4, 0.6, nbest=4, attention=True)
ONE, TWO = SLOTS[:2]


class Counting:
    """A native engine that counts the requests it gets, and answers."""

    def __init__(self, native: Engine) -> None:
        self.native, self.asked = native, 0

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: Progress | None = None
    ) -> list[list[Hypothesis]]:
        self.asked += len(requests)
        return self.native.search(requests, options, progress)

    def attention(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[Weights] | None:
        raise AssertionError("CTranslate2 has it")

    def log_probs(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        raise AssertionError("CTranslate2 has them")

    def next_log_probs(self, sources: Sequence[Ids], prefixes: Sequence[Ids]) -> list[NDArray[np.float64]]:
        raise AssertionError("CTranslate2 has them")


@pytest.fixture(scope="module")
def both(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CTranslate2Engine, Engine]:
    return engines(run_folder / "best", tmp_path_factory.mktemp("converted") / "out")


def with_row(both: tuple[CTranslate2Engine, Engine], row: RowMeaning) -> tuple[CTranslate2Engine, Counting]:
    engine, native = both[0], Counting(both[1])
    return replace(engine, view=replace(engine.view, row=row), make_native=lambda: native), native


def bound(tokenizer: Tokenizer, texts: list[str], no_repeat: int = 0) -> list[SearchRequest]:
    """With each slot of the source to be said once."""
    said = dict(zip(tokenizer.source.slot_ids, tokenizer.slot_ids, strict=True))
    found = []
    for ids in tokenizer.encode_source(texts):
        slots = EachOnce(frozenset(said[i] for i in ids if i in said), frozenset(tokenizer.slot_ids))
        runs = NoRepeat.for_source(no_repeat, ids) if no_repeat else None
        found.append(SearchRequest(tuple(ids), slots if runs is None else All((slots, runs))))
    return found


@pytest.mark.parametrize("row", ["predicting", "having-read"])
@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_a_model_that_never_saw_slots_says_them_all_the_same(
    row: RowMeaning, options: SearchOptions, both: tuple[CTranslate2Engine, Engine], translator: Translator
) -> None:
    (engine, counting), native = with_row(both, row), both[1]
    texts = [f"{source[:-1]} {ONE}." for source, _ in LINES] + [f"{ONE} sees {TWO}.", f"The {TWO} eats {ONE}."]
    requests = bound(translator.tokenizer, texts)
    seen: list[int] = []
    found = engine.search(requests, options, seen.append)
    assert sum(seen) == len(requests)
    assert counting.asked <= 3  # a model that learnt eight sentences by heart cannot go on after every beginning
    sources, targets = [one.ids for one in requests], [some[0].ids for some in found]
    maps, rows = native.attention(sources, targets), native.log_probs(sources, targets)
    assert maps is not None
    for request, some, weights, log_probs in zip(requests, found, maps, rows, strict=True):
        assert some
        assert all(satisfies(one.ids, request.constraint) for one in some)
        assert [one.score for one in some] == sorted((one.score for one in some), reverse=True)
        best = some[0]
        assert best.log_prob == pytest.approx(log_probs.sum(), abs=1e-3)
        assert best.score == pytest.approx(log_probs.sum() / length_penalty(len(log_probs), 0.6), abs=1e-3)
        if best.log_probs:
            np.testing.assert_allclose(best.log_probs, log_probs, atol=1e-3)
        if best.attention is not None:  # of a beam, also a wider one, the first row is left out if it is not read
            first = int(row == "having-read")
            np.testing.assert_allclose(best.attention[first:], weights[first:], atol=2e-5)


def test_the_result_does_not_depend_on_the_other_sentences(
    both: tuple[CTranslate2Engine, Engine], translator: Translator
) -> None:
    engine, counting = with_row(both, "having-read")
    requests = bound(translator.tokenizer, [f"{source[:-1]} {ONE}." for source, _ in LINES[:3]] + [f"{TWO} sleeps."])
    together = engine.search(requests, BEAM)
    assert [engine.search([one], BEAM)[0][0].ids for one in requests] == [some[0].ids for some in together]
    assert counting.asked == 0


def test_a_beginning_may_have_pieces_that_are_not_written_after_the_tag(tmp_path: Path) -> None:
    tagged = Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360, tags=("<a>", "<b>")))
    some = np.zeros(tagged.target_size, np.int64)
    some[300:340] = 1
    saved_transformer(tmp_path / "bundle", tagged, {"written_pieces": pieces_to_card({"<a>": some, "<b>": some})})
    ours, native = engines(tmp_path / "bundle", tmp_path / "out")
    slots = EachOnce(frozenset(tagged.slot_ids[:1]), frozenset(tagged.slot_ids))
    ids = [(*tagged.tag_ids("<a>"), *one) for one in tagged.encode_source([f"The {ONE} eats.", f"{ONE}"])]
    requests = [SearchRequest(one, slots) for one in ids]
    for (best, *_), request in zip(ours.search(requests, BEAM), requests, strict=True):
        (log_probs,) = native.log_probs([request.ids], [best.ids])
        assert satisfies(best.ids, slots)
        assert best.log_prob == pytest.approx(log_probs[: len(best.log_probs)].sum(), abs=1e-3)


def test_runs_of_tokens_are_not_repeated(both: tuple[CTranslate2Engine, Engine], translator: Translator) -> None:
    engine, counting = with_row(both, "having-read")
    requests = bound(translator.tokenizer, [f"The cat {ONE} sleeps."], no_repeat=1)
    (some,) = engine.search(requests, BEAM)
    assert len(set(some[0].ids)) == len(some[0].ids)
    assert counting.asked == 0


def test_where_a_translation_is_begun_again(both: tuple[CTranslate2Engine, Engine], translator: Translator) -> None:
    model, tokenizer = both[0].model, translator.tokenizer
    (request,) = bound(tokenizer, [f"The cat {ONE} sees {TWO}."])
    first, second = (tokenizer.slot_ids[k] for k in range(2))
    space, le, dort = (model.target_ids([piece])[0] for piece in ("▁", "▁Le", "▁dort"))
    pieces = [model.source[i] for i in request.ids]

    def begun(*ids: int) -> list[tuple[int, ...]]:
        weights = np.zeros((len(ids) + 1, len(request.ids) + 1))
        weights[1, pieces.index(model.target[second])] = 0.9  # the second token attended to the second slot
        weights[0, pieces.index(model.target[second])] = 0.5
        return ConstraintRepair(model, "predicting", 512).beginnings(ViolatingDraft(request, ids, weights))

    assert begun(le, dort, space, first) == [
        (le, space, second),
        (space, second),
        (le, dort, space, second),
        (le, dort, space, first, space, second),
    ]
    assert begun(le, space, first, dort, space, first) == [
        (le, space, first, dort),  # before the repeated one
        (le, space, first, dort, space, second),  # the one that is missing in its place
    ]


# ── what of a constraint can be told ──────────────────────────────────────────────────────────────────────────────────

SLOT = EachOnce(frozenset({7}), frozenset({7, 8}))


def test_rules_of_a_constraint() -> None:
    def rules(constraint: Constraint | None) -> TranslatedRules | None:
        return translatable_rules(SearchRequest((5, 6, 9, 5, 6), constraint))

    assert rules(SLOT) == TranslatedRules(SLOT)
    assert rules(All((SLOT, NoRepeat(3)))) == TranslatedRules(SLOT, 3)
    assert rules(NoRepeat(2, times=2)) == TranslatedRules(None, 3)  # 5 6 is in the source twice, 5 6 9 once
    for other in (None, Terms.of([[(5,)]]), All((SLOT, Never(frozenset({(5,)}))))):
        assert rules(other) is None
    assert translatable_rules(SearchRequest((5,) * 40, NoRepeat(2))) is None


@given(st.lists(st.integers(5, 9), max_size=8))
def test_breaks_counts_what_is_wrong(ids: list[int]) -> None:
    expected = max(0, ids.count(7) - 1) + ids.count(8) + (7 not in ids)
    assert count_violations(tuple(ids), SLOT) == expected
    assert satisfies(tuple(ids), SLOT) == (ids.count(7) == 1 and 8 not in ids)
