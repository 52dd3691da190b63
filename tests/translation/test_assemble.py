"""Texts put together again: gaps stay, spans lead to the right characters, n-best lists are the best combinations."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from regard.search.options import SearchOptions
from regard.translation.assemble import _best_choices, assembled
from regard.translation.pipeline import SearchRun, UnitResult
from regard.translation.placeholder_check import CheckedAnswer
from regard.translation.prepared_sentence import PreparedSentence
from regard.translation.translation import Candidate, ProtectedSpan
from regard.translation.units import Unit
from regard.translator import Translator


def unit(sentence: int, start: int, source: str) -> Unit:
    span = (start, start + len(source))
    return Unit(0, sentence, span, PreparedSentence(source, 0, len(source), source), (1,))


def result(text: str, *others: str) -> UnitResult:
    candidates = tuple(Candidate(t, -float(i), -float(i), (i,)) for i, t in enumerate((text, *others)))
    word = ((0, 1), (0, 1))
    lost = ProtectedSpan("x", "number", "x", (0, 1), None, "missing", "missing from the search's output")
    kept = ProtectedSpan("x", "number", "x", (0, 1), (0, 1), "kept")
    return UnitResult(candidates, CheckedAnswer(text, (word,), (kept, lost)), True, SearchRun(SearchOptions(5, 0.6)))


def test_spans_are_of_the_whole_text() -> None:
    text = "  - One.  Two;\tthree.\n"
    parts = [
        (unit(0, 4, "One."), result("Un, un.")),
        (unit(1, 10, "Two;"), result("Deux ;")),
        (unit(1, 15, "three."), result("trois.")),
    ]
    found = assembled(text, parts)
    assert found.text == "  - Un, un.  Deux ;\ttrois.\n"
    one, two = found.sentences
    assert (one.source, one.text, two.source, two.text) == ("One.", "Un, un.", "Two;\tthree.", "Deux ;\ttrois.")
    assert found.text[slice(*two.target_span)] == two.text
    assert [(text[slice(*a)], found.text[slice(*b)]) for a, b in two.alignment or ()] == [("T", "D"), ("t", "t")]
    assert [found.text[slice(*p.target)] for p in two.protected if p.target] == ["D", "t"]
    assert [reason.name for reason in one.reasons] == ["lost"]
    assert len(found.warnings) == 3
    assert found.log_prob == 0.0


def test_sentences_without_a_space_get_one_where_the_target_needs_it() -> None:
    parts = [(unit(0, 0, "猫。"), result("Chat.")), (unit(1, 2, "犬。"), result("Chien."))]
    assert assembled("猫。犬。", parts).text == "Chat. Chien."
    same = [(unit(0, 0, "猫。"), result("猫。")), (unit(1, 2, "犬。"), result("犬。"))]
    assert assembled("猫。犬。", same).text == "猫。犬。"


def test_parts_of_one_word_stay_together() -> None:
    parts = [(unit(0, 0, "wo"), result("wo")), (unit(0, 2, "rd"), result("rd"))]
    assert assembled("word", parts).text == "word"


@given(st.lists(st.lists(st.integers(-9, 0), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(1, 12))
def test_the_best_combinations_are_the_best(scores: list[list[int]], most: int) -> None:
    rows = [sorted(map(float, row), reverse=True) for row in scores]
    found = [sum(row[choice.get(i, 0)] for i, row in enumerate(rows)) for choice in _best_choices(rows, most)]
    assert found == sorted((sum(choice) for choice in product(*rows)), reverse=True)[:most]


def test_n_best_of_several_sentences(translator: Translator) -> None:
    found = translator.translate("The cat sleeps. The dog sees the cat.", nbest=3)
    texts = [candidate.text for candidate in found.candidates]
    assert len(set(texts)) == len(texts) == 3
    assert texts[0] == found.text == "Le chat dort. Le chien voit le chat."
    scores = [candidate.score for candidate in found.candidates]
    assert scores == sorted(scores, reverse=True)
