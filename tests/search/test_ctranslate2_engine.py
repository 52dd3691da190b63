"""The engine of CTranslate2 gives what the native one gives, and hands over what it cannot do."""

from __future__ import annotations

import dataclasses
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from converted import engines, saved_transformer
from regard.align.attention import ROW_MEANINGS, RowMeaning
from regard.bundle.numpy_weights import pieces_to_card
from regard.explain.sentence_pair import explained_source
from regard.search.constraint_repair import max_target_length
from regard.search.constraints import EachOnce, Never, NoRepeat, satisfies
from regard.search.ctranslate2_engine import CTranslate2Engine, supports
from regard.search.engine import Engine, Hypothesis, Ids, SearchRequest, StopSignal
from regard.search.options import Sampling, SearchOptions
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.text.vocabulary import BYTES, SPECIALS
from regard.translator import Translator
from support import LINES

GREEDY, BEAM = SearchOptions(1, 0.6), SearchOptions(4, 0.6, nbest=4)


@pytest.fixture(scope="module")
def trained(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CTranslate2Engine, Engine]:
    return engines(run_folder / "best", tmp_path_factory.mktemp("converted") / "out")


@pytest.fixture(scope="module")
def requests(translator: Translator) -> list[SearchRequest]:
    ids = translator.tokenizer.encode_source([source for source, _ in LINES] + ["cat dog me", "A black", "eats " * 20])
    return [SearchRequest(tuple(one)) for one in ids]


class NeverAsked:
    """A native engine that must not be needed."""

    def __call__(self) -> Engine:
        raise AssertionError("the native engine was asked for")


@pytest.mark.parametrize("options", [GREEDY, BEAM], ids=["greedy", "beam"])
def test_hypotheses_and_scores_are_the_native_ones(
    options: SearchOptions, trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    ours, native = trained
    alone = dataclasses.replace(ours, make_native=NeverAsked())
    seen: list[int] = []
    for one, other in zip(alone.search(requests, options, seen.append), native.search(requests, options), strict=True):
        assert one[0].ids == other[0].ids
        assert one[0].score == pytest.approx(other[0].score, abs=1e-3)
        assert one[0].log_prob == pytest.approx(other[0].log_prob, abs=1e-3)
        assert [h.score for h in one] == sorted((h.score for h in one), reverse=True)
        assert len({h.ids for h in one}) == len(one)
    assert sum(seen) == len(requests)


def test_the_best_hypothesis_does_not_depend_on_how_many_are_asked_for(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    many, one = (trained[0].search(requests, SearchOptions(4, 0.6, nbest=n)) for n in (4, 1))
    assert [found[0].ids for found in many] == [found[0].ids for found in one]


@pytest.mark.parametrize("row", ROW_MEANINGS)
def test_attention_comes_with_the_search_and_equals_a_forced_pass(
    row: RowMeaning, trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    native = trained[1]
    ours = dataclasses.replace(trained[0], view=dataclasses.replace(trained[0].view, row=row))
    for options in (GREEDY, BEAM):  # of a beam, the first row is left out if it is not read
        first = int(options is BEAM and row == "having-read")
        found = ours.search(requests, dataclasses.replace(options, attention=True))
        sources, targets = [one.ids for one in requests], [one[0].ids for one in found]
        forced = native.attention(sources, targets)
        assert forced is not None
        for hypotheses, weights in zip(found, forced, strict=True):
            if hypotheses[0].attention is not None:  # None: cut off
                np.testing.assert_allclose(hypotheses[0].attention[first:], weights[first:], atol=2e-5)
        assert sum(hypotheses[0].attention is not None for hypotheses in found) >= len(LINES)
        alone = ours.search(requests[:1], dataclasses.replace(options, attention=True))[0][0]
        np.testing.assert_allclose(alone.attention[first:], forced[0][first:], atol=2e-5)


def test_the_log_probability_of_a_greedy_search_is_that_of_a_forced_pass(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    ours, native = trained
    found = ours.search(requests * 8, GREEDY)  # more batches than wait
    forced = native.log_probs([one.ids for one in requests * 8], [one[0].ids for one in found])
    for (best,), row in zip(found, forced, strict=True):
        ended = len(row) - bool(best.log_probs)  # those of a hypothesis that was cut off have no EOS
        assert best.log_prob == pytest.approx(row[:ended].sum(), abs=1e-4)


def test_a_given_translation_has_the_attention_and_probabilities_of_the_native_engine(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    sources = [one.ids for one in requests]
    targets = [(), *(one.ids[:5] for one in requests[1:])]
    for one, other in zip(*(engine.attention(sources, targets) or [] for engine in trained), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)
    prefixes = [(), requests[1].ids[:1], requests[1].ids]
    for one, other in zip(*(engine.next_log_probs(sources[:3], prefixes) for engine in trained), strict=True):
        np.testing.assert_allclose(np.exp(one), np.exp(other), atol=2e-5)


def test_branches_and_their_continuations_are_those_of_the_native_engine(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    source = requests[1].ids
    ((best,),) = trained[1].search([requests[1]], GREEDY)
    for prefix in ((), best.ids[:2]):
        for length in (1, 3):
            ours, native = (engine.branches(source, prefix, length, 0.01) for engine in trained)
            assert [one.ids for one in ours] == [one.ids for one in native]
            for one, other in zip(ours, native, strict=True):
                assert one.log_prob == pytest.approx(other.log_prob, abs=1e-3)
                assert len(one.ids) <= length
        assert max(ours, key=lambda one: one.log_prob).ids == best.ids[len(prefix) :][:3]
    prefixes = [(), best.ids[:1], best.ids]
    both = [engine.continued(source, prefixes) for engine in trained]
    assert both[0] == both[1]
    assert both[0][0] == both[0][1] == best.ids


def test_a_translation_without_an_end_is_cut_off_at_its_own_limit(tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = saved_transformer(tmp_path / "model", tokenizer, output_bias=True)
    bundle.model.get_parameter("output.bias").data[2] = -1000.0  # EOS is never said
    bundle.save(tmp_path / "model")
    ours, native = engines(tmp_path / "model", tmp_path / "out")
    asked = [SearchRequest((5, 6, 7)), SearchRequest((5,) * 12)]
    for options in (GREEDY, SearchOptions(3, 0.6)):
        for each, one, other in zip(asked, ours.search(asked, options), native.search(asked, options), strict=True):
            assert len(one[0].ids) == len(other[0].ids) == max_target_length(each.ids)
            assert len(one[0].log_probs) == len(one[0].ids)
    assert ours.search(asked, GREEDY)[0][0].ids == native.search(asked, GREEDY)[0][0].ids


def test_padding_and_the_start_are_never_said(tokenizer: Tokenizer, tmp_path: Path) -> None:
    bundle = saved_transformer(tmp_path / "model", tokenizer, output_bias=True)
    bundle.model.get_parameter("output.bias").data[:2] = 1000.0
    bundle.save(tmp_path / "model")
    ours, _ = engines(tmp_path / "model", tmp_path / "out")
    assert not {0, 1}.intersection(ours.search([SearchRequest((5, 6))], GREEDY)[0][0].ids)


# ── handed over ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Recorder:
    """A native engine that notes what it is asked for and says nothing."""

    def __init__(self) -> None:
        self.asked: list[SearchRequest] = []

    def __call__(self) -> Engine:
        return cast(Engine, self)

    def search(
        self, requests: Sequence[SearchRequest], options: SearchOptions, progress: object = None
    ) -> list[list[Hypothesis]]:
        self.asked += requests
        return [[Hypothesis((), (0.0,), 0.0)] for _ in requests]


def test_only_the_sentence_whose_constraint_is_not_kept_is_handed_over(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    recorder = Recorder()
    engine = dataclasses.replace(trained[0], make_native=recorder)
    free = engine.search(requests[:3], BEAM)
    said = free[0][0].ids[0]
    missing = next(i for i in range(300, 360) if i not in free[1][0].ids)
    asked = [
        requests[0]._replace(constraint=EachOnce(frozenset({said}), frozenset({said}))),
        requests[1]._replace(constraint=EachOnce(frozenset({missing}), frozenset({missing}))),
        requests[2]._replace(constraint=NoRepeat.for_source(3, requests[2].ids)),
    ]
    found = engine.search(asked, BEAM)
    assert recorder.asked == [asked[1]._replace(free_search_failed=True)]
    assert found[0][0].ids == free[0][0].ids
    assert found[2][0].ids == free[2][0].ids
    assert all(satisfies(one.ids, asked[0].constraint) for one in found[0])


def test_a_wider_beam_meets_the_constraint_that_a_greedy_search_violates(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.search.ctranslate2_engine.SCORE_MARGIN", math.inf)  # other hypotheses are far worse
    engine, wide = dataclasses.replace(trained[0], make_native=NeverAsked()), SearchOptions(5, 0.6, nbest=5)
    asked, expected = [], []
    for request, (greedy,), several in zip(
        requests, engine.search(requests, GREEDY), engine.search(requests, wide), strict=True
    ):
        tokens = (
            token for one in several for token in one.ids if token not in greedy.ids and one.ids.count(token) == 1
        )
        for token in islice(tokens, 1):
            rule = EachOnce(frozenset({token}), frozenset({token}))
            asked.append(request._replace(constraint=rule))
            expected.append(next(one for one in several if satisfies(one.ids, rule)))
    seen: list[int] = []
    found = engine.search(asked, GREEDY, seen.append)
    assert asked
    assert sum(seen) == len(asked)
    assert [one.ids for (one,) in found] == [one.ids for one in expected]
    assert [one.score for (one,) in found] == pytest.approx([one.score for one in expected], abs=1e-4)


def test_without_torch_the_best_is_returned_though_it_violates_its_constraint(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.search.ctranslate2_engine.has_torch", lambda: False)
    engine = dataclasses.replace(trained[0], make_native=NeverAsked())
    (free,) = engine.search(requests[:1], BEAM)
    missing = next(i for i in range(300, 360) if i not in free[0].ids)
    rule = EachOnce(frozenset({missing}), frozenset({missing}))
    (found,) = engine.search([requests[0]._replace(constraint=rule)], BEAM)
    assert [one.ids for one in found] == [free[0].ids]


def test_a_stop_signal_excludes_the_native_engine_or_what_takes_long_here(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    recorder = Recorder()
    engine = dataclasses.replace(trained[0], make_native=recorder)
    free, never = engine.search(requests[:3], BEAM), Never(frozenset({(3, 4)}))
    fast = [StopSignal(fallback=False) for _ in range(3)]
    cases = ((requests[0], None), (requests[1], never), (requests[2], None))
    asked = [one._replace(constraint=rule, stops=(stop,)) for (one, rule), stop in zip(cases, fast, strict=True)]
    assert [bool(one) for one in engine.search(asked, BEAM)] == [True, False, True]
    assert [stop.abandoned for stop in fast] == [False, True, False]
    wide = SearchOptions(64, 0.6)
    long = requests[0]._replace(ids=requests[0].ids * (1 + 2560 // (64 * len(requests[0].ids))), stops=(StopSignal(),))
    gone = requests[1]._replace(stops=(StopSignal(is_cancelled=lambda: True),))
    assert engine.search([long, gone], wide)[1] == []
    assert recorder.asked == [long]
    assert engine.search([requests[0]._replace(stops=(StopSignal(),))], BEAM)[0][0].ids == free[0][0].ids


def test_what_it_does_not_know_is_handed_over(
    trained: tuple[CTranslate2Engine, Engine], requests: list[SearchRequest]
) -> None:
    recorder = Recorder()
    engine = dataclasses.replace(trained[0], make_native=recorder)
    engine.search(requests[:2], SearchOptions(4, 0.6, nbest=2, sampling=Sampling(seed=3)))
    assert recorder.asked == requests[:2]
    long = SearchRequest((5,) * 510)  # its translation may have more tokens than the converted model has positions
    engine.search([long, requests[0]], GREEDY)
    assert recorder.asked[2:] == [long]


def test_options_it_supports() -> None:
    assert supports(SearchOptions(5, 0.6, nbest=3, no_repeat=3, min_length=2, attention=True))
    changes = {"coverage_penalty": 0.2, "repetition_penalty": 1.2, "max_length": 9, "exact": True, "groups": 2}
    for name, value in changes.items():
        assert not supports(dataclasses.replace(SearchOptions(4, 0.6), **{name: value})), name


# ── through a translator ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_translator_translates_and_explains_by_the_same_engine(run_folder: Path) -> None:
    fast, native = (Translator.load(run_folder, "cpu", engine) for engine in ("ctranslate2", "native"))
    assert not fast.bundle.loaded
    text = "The black cat sleeps."
    answer = fast.translate(text)
    assert answer.text == native.translate(text).text == "Le chat noir dort."
    assert answer.sentences[0].alignment == native.translate(text).sentences[0].alignment
    assert not fast.bundle.loaded  # nor the guard nor the alignment needed it
    found = explained_source(fast, text)
    assert isinstance(found.pipeline.engine, CTranslate2Engine)
    assert found.target().translation == answer.text
    assert found.target().ids == answer.candidates[0].ids
    assert fast.explain(text).translation == answer.text


def test_the_guard_needs_no_second_pass(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = CTranslate2Engine.log_probs

    def noted(self: CTranslate2Engine, sources: Sequence[Ids], targets: Sequence[Ids]) -> list[NDArray[np.float64]]:
        asked.append(len(sources))
        return plain(self, sources, targets)

    monkeypatch.setattr(CTranslate2Engine, "log_probs", noted)
    fast, native = (Translator.load(run_folder, "cpu", engine) for engine in ("ctranslate2", "native"))
    learnt = LINES[0][0]
    sure = fast.translate(learnt).sentences[0]
    assert not asked
    assert sure.reasons == ()
    assert sure.confidence == pytest.approx(native.translate(learnt).sentences[0].confidence, abs=0.1)


SCRIPT = """
import os, regard
translator = regard.load("en-fr-classic", device="cpu", engine="ctranslate2")
print(translator.translate(["The cat sleeps."])[0].text, flush=True)
if not (child := os.fork()):
    print(translator.translate(["The cat sleeps."])[0].text, flush=True)
    raise SystemExit
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_translates() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, timeout=100, check=True)
    assert done.stdout.decode().splitlines() == ["Le chat dort.", "Le chat dort.", "0"]


def test_after_a_tag_only_its_pieces_are_written(tmp_path: Path) -> None:
    tagged = Tokenizer.train(lambda: iter(LINES * 3), TextConfig(vocab_size=360, tags=("<a>", "<b>")))
    size, spelling = tagged.target_size, len(SPECIALS) + len(BYTES)
    some = np.zeros(size, np.int64)
    some[spelling : spelling + 40] = 1
    card = {"written_pieces": pieces_to_card({"<a>": some, "<b>": np.ones(size, np.int64)})}
    saved_transformer(tmp_path / "bundle", tagged, card)
    ours, native = engines(tmp_path / "bundle", tmp_path / "out")
    plain = [tuple(ids) for ids in tagged.encode_source([source for source, _ in LINES])]
    requests = {tag: [SearchRequest((*tagged.tag_ids(tag), *ids)) for ids in plain] for tag in (None, "<a>", "<b>")}
    for tag in (None, "<b>"):  # all pieces: the same as without a map
        pairs = zip(ours.search(requests[tag], GREEDY), native.search(requests[tag], GREEDY), strict=True)
        assert all(one[0].ids == other[0].ids for one, other in pairs)
    for options in (GREEDY, BEAM):
        said = {i for found in ours.search(requests["<a>"], options) for one in found for i in one.ids}
        assert said <= set(range(spelling + 40))
        free = {i for found in native.search(requests["<a>"], options) for one in found for i in one.ids}
        assert not free <= set(range(spelling + 40))  # else the map would have nothing to do here
