"""Terms of a glossary in the place of the words that are aligned with their source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import regard
from regard.align.attention import WordAttention
from regard.text.glossary import Glossary
from regard.text.span_matching import find_occurrences
from regard.text.words import split_words, word_spans
from regard.translation.options import TranslateOptions
from regard.translation.placeholder_check import NOT_ALIGNED, NOT_PLACED, checked, repaired
from regard.translation.prepare import Reader, prepared
from regard.translation.term_edits import TermDraft, edits_for, translated_twice
from regard.translator import Translator


def draft(source: str, answer: str, links: dict[int, int], terms: dict[str, str]) -> TermDraft:
    """A draft whose words, by number, attend to words of the source."""
    sentence = prepared(source, TranslateOptions(glossary=Glossary.of(terms)), Reader("en", "fr"))
    read, said = word_spans(sentence.read), word_spans(answer)
    weights = np.full((len(said), len(read)), 0.01)
    for target, at in links.items():
        weights[target, at] = 0.9
    pairs = [(read[int(row.argmax())], word) for row, word in zip(weights, said, strict=True)]
    attention = WordAttention(tuple(split_words(source)), tuple(split_words(answer)), weights, np.zeros(len(said)))
    return TermDraft(sentence, checked(sentence, answer, pairs), attention, "fr")


POWER = {"power button": "bouton marche/arrêt"}
LINKS = {0: 0, 1: 1, 2: 3, 3: 2, 4: 2, 5: 4}  # Tenez le bouton d' électricité .


def test_aligned_words_are_replaced_as_a_whole() -> None:
    found = draft("Hold the power button.", "Tenez le bouton d'électricité.", LINKS, POWER)
    assert [(one.beginning, one.rest) for one in edits_for(found)] == [("Tenez le bouton marche/arrêt", ".")]


def test_the_article_agrees_with_the_term() -> None:
    found = draft("Hold the power button.", "Tenez le bouton d'électricité.", LINKS, {"power button": "option"})
    assert [one.beginning for one in edits_for(found)] == ["Tenez l'option"]
    first = draft("Routers are red.", "Toits sont rouges.", {0: 0, 1: 1, 2: 2, 3: 3}, {"router": "routeur"})
    assert {one.beginning for one in edits_for(first)} == {"Routeurs", "Routeur"}


def test_without_an_aligned_word_there_is_no_place() -> None:
    found = draft("Hold the power button.", "Tenez le.", {0: 0, 1: 1, 2: 4}, POWER)
    assert edits_for(found) == []
    (one,) = repaired(found.found).protected
    assert (one.status, one.target, one.note) == ("missing", None, NOT_PLACED)
    assert repaired(found.found).text == "Tenez le."


def test_what_a_user_forced_is_not_changed() -> None:
    found = draft("Hold the power button.", "Tenez le bouton d'électricité.", LINKS, POWER)
    forced = "Tenez le bou"
    assert all(edit.beginning.startswith(forced) for edit in edits_for(found._replace(fixed=len(forced))))
    assert edits_for(found._replace(fixed=len(found.found.text))) == []


def test_a_word_beside_the_term_may_translate_it_twice() -> None:
    found = draft("Hold the power button.", "Tenez le bouton marche/arrêt électrique.",
                  {0: 0, 1: 1, 2: 3, 3: 2, 5: 2, 6: 2, 7: 4}, POWER)  # fmt: skip
    assert translated_twice(found) == 1


def test_a_term_elsewhere_is_not_its_translation() -> None:
    found = draft("A dog and a cat.", "Un chat et un animal.", {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5}, {"cat": "chat"})
    (one,) = found.found.protected
    assert (one.status, one.note) == ("missing", NOT_ALIGNED)
    assert [edit.beginning for edit in edits_for(found)] == ["Un chat et un chat", "Un chat et une chat"]
    assert [(one.status, one.note) for one in repaired(found.found).protected] == [("kept", NOT_ALIGNED)]


@pytest.fixture(scope="module")
def box() -> Translator:
    return regard.load("en-fr", device="cpu")


TERMS = {
    "power button": "bouton marche/arrêt",
    "router": "routeur",
    "file": "archive",
    "user": "abonnée",
    "shelf": "étagère",
}
SENTENCES = ["Hold the {} for ten seconds.", "The {} is new.", "I saw the {} and the {}.", "Each {} has a {}.",
             "The color of the {} is red.", "Where are the {}s?"]  # fmt: skip


@pytest.mark.usefixtures("usual_engine")
@settings(max_examples=8, deadline=None)
@given(st.sampled_from(SENTENCES), st.permutations(sorted(TERMS)))
def test_every_term_is_in_its_place_or_reported(box: Translator, pattern: str, order: list[str]) -> None:
    source = pattern.format(*order)
    found = box.translate(source, glossary=TERMS, guard=False)
    spans = [one for one in found.sentences[0].protected if one.kind == "term"]
    assert [one.text.removesuffix("s") for one in spans] == order[: pattern.count("{}")]
    for one in spans:
        if one.status == "missing":
            assert one.note
            assert any(reason.name == "lost" for reason in found.sentences[0].reasons)
        else:
            assert one.target is not None
            place = found.text[slice(*one.target)].lower()
            assert place in (TERMS[one.text.removesuffix("s")], one.wanted)
            assert len(find_occurrences(found.text[slice(*one.target)], "term", found.text)) == 1
    last = max((one.target for one in spans if one.target), default=(0, 0))
    assert not found.text[: last[0]].rstrip().endswith(".")  # not appended after the end
    for wrong in ("le archive", "le étagère", "de étagère", "la étagère", "d'routeur", "l'routeur", "l'bouton"):
        assert wrong not in found.text.lower().replace("’", "'")


def test_a_term_does_not_make_a_translation_improbable(box: Translator) -> None:
    sentence = "Hold the power button of the router for ten seconds."
    free = box.translate(sentence).sentences[0]
    placed = box.translate(sentence, glossary={"power button": "bouton marche/arrêt"}).sentences[0]
    assert "marche/arrêt" in placed.text
    assert free.confidence is not None
    assert placed.confidence == pytest.approx(free.confidence, abs=0.2)
