"""Every explanation is of the translation that `translate` gives: the same mending, beam, length penalty and limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.bundle.bundle import Bundle
from regard.cli.translate_lines import print_attention
from regard.errors import InputError
from regard.explain.evidence import evidence
from regard.explain.explanation import Explanation, explain
from regard.explain.lattice import lattice
from regard.explain.mechanisms import Query
from regard.explain.sentence_pair import explained_source
from regard.explain.step import step_numbers
from regard.models.table import ARCHITECTURES, make_model
from regard.text.slots import SLOTS, SlotTexts, slots_in
from regard.text.tokenizer import Tokenizer
from regard.translation.pipeline import Pipeline
from regard.translation.prepare import Reader
from regard.translation.translation import SentenceTranslation
from regard.translator import Translator

ROUGH = [
    "PLEASE DO NOT FEED THE ANIMALS.",
    "The Cat Is Back on His Mat",
    "The cat sleeps.",
    "Call 555-0199 at 3:45 pm",
    "I was born on May 3, 1998.",
    "Zürich is a town.",
    "See https://example.com/docs?id=42 for details.",
    "I love pizza 🍕 and my dog 😂!",
    "AcmeCloud Pro is our new product.",
    "Le chat est sur le tapis.",
    "Hello {name}, you have %d messages.",
    "@tom and #cats are here.",
    "THE CAT SLEEPS AT 12:30.",
    "“Yes,” he said.",
    "  Indented, with spaces.  ",
    "- A list item",
    "cat cat cat cat cat cat cat cat",
    "xqzt blorf grumpf",
]
SEVERAL = [
    "The cat sleeps. The dog eats.",
    "HELLO! 12:30. Where is Tom? 😀",
    "First line.\n\n  * Second line: call 555-0199.\nThird?",
    "I am here. Dr. Smith is not. He left at 3:45 pm.",
    "😀 Where are you? #later",
]


def every_third(texts: list[str]) -> list[Any]:
    """`make test` takes every third text, `make test-long` the others."""
    return [pytest.param(text, marks=[pytest.mark.long] * (number % 3 > 0)) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def bundled() -> Translator:
    """The small model in the box: its recipe says to mend, and its beam is 5."""
    found = regard.load("en-fr-classic", device="cpu")
    assert found.config.mend
    return found


@pytest.mark.parametrize("text", every_third(ROUGH))
def test_all_explain_what_translate_says(bundled: Translator, text: str) -> None:
    said = bundled.translate(text)
    (sentence,) = said.sentences
    check(bundled, text, None, sentence, relies=ROUGH.index(text) % 6 == 0)  # a sixth of them, for time


def test_a_bundle_and_a_request_give_the_same(bundled: Translator) -> None:
    said = bundled.translate(ROUGH[3])
    assert explain(bundled.bundle, ROUGH[3]).translation == said.text
    assert explained_source(bundled, ROUGH[3]).target().ids == said.candidates[0].ids


@pytest.mark.parametrize("text", every_third(SEVERAL))
def test_each_sentence_is_explained_as_it_was_translated(bundled: Translator, text: str) -> None:
    said = bundled.translate(text)
    assert len(said.sentences) > 1
    for number, sentence in enumerate(said.sentences):
        if sentence.read:
            check(bundled, text, number, sentence, relies=number == 0)
        else:
            with pytest.raises(InputError, match="has no words and is copied as it is"):
                explain(bundled, text, sentence=number)
    for ask in (explain, evidence, lattice):
        with pytest.raises(InputError, match=r"has \d sentences, but one is explained at a time; .* from 0 to \d"):
            ask(bundled, text)
        with pytest.raises(InputError, match=r"sentence must be from 0 to \d in this text, but is 99"):
            ask(bundled, text, sentence=99)


def check(
    translator: Translator, text: str, number: int | None, sentence: SentenceTranslation, relies: bool = True
) -> None:
    """Every explanation of a sentence is of what `translate` said."""
    shown = explain(translator, text, sentence=number)
    assert (shown.text, shown.translation) == (sentence.source, sentence.text)
    assert (shown.trace.read, shown.trace.target_ids) == (sentence.read, sentence.candidates[0].ids)
    searched = lattice(translator, text, sentence=number)
    assert searched.source == shown.trace.source
    assert searched.nbest[0].text == sentence.text
    assert searched.nbest[0].score == pytest.approx(sentence.candidates[0].score, abs=1e-4)
    if relies:
        check_evidence(translator, text, number, sentence, shown)


def check_evidence(
    translator: Translator, text: str, number: int | None, sentence: SentenceTranslation, shown: Explanation
) -> None:
    relied = evidence(translator, text, sentence=number)
    assert (relied.source, relied.target) == (shown.trace.source, shown.trace.target)
    assert (relied.translation, relied.target_ids) == (sentence.text, sentence.candidates[0].ids)


def test_a_second_search_is_the_one_that_is_shown(bundled: Translator) -> None:
    """A doubtful sentence whose second search was taken: the last among the rough ones, not chosen by hand."""
    text = next(text for text in reversed(ROUGH) if "second search" in explained_source(bundled, text).search_name())
    found, first = lattice(bundled, text), lattice(bundled, text, guard=False)
    assert found.note.startswith("second search: ")
    assert (first.beam, "second" in first.note) == (5, False)
    assert found.nbest[0].text == bundled.translate(text).sentences[0].text
    assert first.nbest[0].text == bundled.translate(text, guard=False).sentences[0].text
    assert "second search: " in explain(bundled, text).grid().caption


def test_what_was_repaired_after_the_search_is_said(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pipeline, "constraint", lambda *_: None)  # so that nothing makes the search say it
    text = "The dog sees 1998."
    said = translator.translate(text)
    assert [one.status for one in said.sentences[0].protected] == ["repaired"]
    found = explain(translator, text)
    assert found.translation == said.text
    assert "1998" in found.translation
    assert "1998" in found.trace.target
    assert found.grid().caption.endswith("· changed after the search")
    assert evidence(translator, text).translation == said.text


# ── slots ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def with_slots(run_folder: Path) -> Translator:
    """The model has not learnt slots, but the search makes it say each of them once."""
    found = regard.load(run_folder, device="cpu")
    found.__dict__["reader"] = Reader("en", "fr", slots=len(found.tokenizer.slot_ids))
    return found


TWO_SLOTS = "The dog sees 555-0199 at 3:45 pm."


def test_people_see_what_a_slot_stands_for(with_slots: Translator) -> None:
    (sentence,) = with_slots.translate(TWO_SLOTS).sentences
    assert slots_in(sentence.read) == [*SLOTS[:2]]
    assert sentence.slots == SlotTexts(("555-0199", "3:45 pm"), ("555-0199", "3:45 pm"))
    check(with_slots, TWO_SLOTS, None, sentence)
    found = explain(with_slots, TWO_SLOTS)
    assert found.trace.source == TWO_SLOTS
    assert sorted(map(found.trace.target.count, ("555-0199", "3:45 pm"))) == [1, 1]
    for kind, side in (("cross", "columns"), ("cross", "rows"), ("encoder", "rows"), ("decoder", "columns")):
        for words in (True, False):
            labels = getattr(found.grid(kind, words=words), side)  # type: ignore[arg-type]
            assert {"555-0199", "3:45 pm"} <= set(labels)
    assert found.arcs("3:45 pm").words[found.arcs("3:45 pm").word] == "3:45 pm"
    relied = evidence(with_slots, TWO_SLOTS)
    assert "555-0199" in relied.source_words
    assert {"555-0199", "3:45 pm"} <= set(relied.target_words)
    searched = lattice(with_slots, TWO_SLOTS)
    assert {"555-0199", "3:45 pm"} <= {node.piece for node in searched.nodes}
    assert searched.rows > searched.beam
    trace = found.trace
    numbers = step_numbers(with_slots.bundle, trace.read, trace.target_ids, Query(), trace.slots)
    assert "3:45 pm" in numbers.keys
    assert numbers.source == TWO_SLOTS
    everything = repr((found.sheet(), found.grid(), relied, searched.nodes, searched.nbest, numbers))
    assert not slots_in(everything)


def test_a_given_target_is_read_with_its_slots(with_slots: Translator) -> None:
    found = explain(with_slots, TWO_SLOTS, "Le chien voit 555-0199 à 3:45 pm.")
    assert slots_in(found.trace.output) == [*SLOTS[:2]]
    assert (found.trace.target, found.translation) == ("Le chien voit 555-0199 à 3:45 pm.",) * 2


def test_the_attention_of_a_translation_shows_them_too(
    with_slots: Translator, capsys: pytest.CaptureFixture[str]
) -> None:
    print_attention(with_slots.bundle, with_slots.translate(TWO_SLOTS))
    shown = capsys.readouterr().out
    assert "3:45 pm" in shown
    assert not slots_in(shown)


# ── the search, and what is refused ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("architecture", ["rnn", "rnn-attention", "transformer"])
@pytest.mark.parametrize("beam", [pytest.param(1, marks=pytest.mark.long), 3])
def test_evidence_searches_with_the_beam_of_the_model(tokenizer: Tokenizer, architecture: str, beam: int) -> None:
    torch.manual_seed(1)
    config = ARCHITECTURES[architecture].presets["tiny"]
    model = make_model(architecture, config, tokenizer)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # so that other beams find other translations
    card = {"recipe": {"decode": {"beam": beam, "length_penalty": 0.0}, "data": {"max_length": 12}}}
    bundle = Bundle(architecture, config, model.eval(), tokenizer, card)
    found = evidence(bundle, "The dog sees the cat.")
    assert found.translation == Translator(bundle).translate("The dog sees the cat.").text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the text is empty"),
        (" \n", "the text is empty"),
        ("12:30", '"12:30" has no words and is copied as it is'),
        ("...", "has no words"),
        ("cat " * 500, "tokens, but the model reads fewer than"),
    ],
)
def test_what_cannot_be_explained_is_one_error(bundled: Translator, text: str, message: str) -> None:
    for ask in (explain, evidence, lattice):
        with pytest.raises(InputError, match=message):
            ask(bundled, text)


def test_a_model_that_does_not_mend_reads_the_text_as_it_is(translator: Translator) -> None:
    assert not translator.config.mend
    assert explain(translator, "THE CAT SLEEPS.").trace.source == "THE CAT SLEEPS."
