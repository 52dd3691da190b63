"""Formality: the tag of a register stands in place of the language's tag, and the sentences of a text agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import regard
from regard.errors import InputError
from regard.text.language import Register
from regard.translation.chain import TextChain
from regard.translation.job import TranslationJob
from regard.translation.options import TranslateOptions
from regard.translator import Translator
from registers import SENTENCES

MIXED = "You sleep. Your dog eats. You see the cat."  # by itself the model says vous, votre, tu


@pytest.fixture(scope="module")
def french(registers: Path) -> Translator:
    return regard.load(registers / "en-fr", device="cpu")


def test_the_model_is_as_the_other_tests_need_it(french: Translator) -> None:
    found = [one.text for one in french.translate([english for english, *_ in SENTENCES])]
    assert found == [one if usual == "formal" else other for _, one, other, usual in SENTENCES]


@pytest.mark.parametrize(("register", "place"), [("formal", 1), ("informal", 2)])
def test_a_register_can_be_asked_for(french: Translator, register: Register, place: int) -> None:
    found = french.translate([english for english, *_ in SENTENCES], formality=register)
    assert [one.text for one in found] == [row[place] for row in SENTENCES]


def test_one_id_stands_in_place_of_the_tag(french: Translator) -> None:
    (plain,) = french.unit_maker(TranslateOptions()).units([(0, "You sleep.")])
    (formal,) = french.unit_maker(TranslateOptions(formality="formal")).units([(0, "You sleep.")])
    assert plain.ids[1:] == formal.ids[1:]
    ids = french.tokenizer.source.ids
    assert (plain.ids[0], formal.ids[0]) == (ids["<fr>"], ids["<fr-formal>"])


def test_the_words_are_aligned(french: Translator) -> None:
    (sentence,) = french.translate("You sleep.", formality="informal").sentences
    assert sentence.alignment
    assert all(span[1] <= len("You sleep.") for span, _ in sentence.alignment)


def test_registers_share_a_batch(french: Translator) -> None:
    jobs = [french.job("You sleep.", formality=register) for register in ("formal", "informal", None)]
    assert len({job.parts[0].key for job in jobs}) == 1
    units = [unit for job in jobs for unit in job.parts[0].units]
    texts = [one.outcome.text for one in jobs[0].parts[0].pipeline.results(units)]
    assert texts == ["Vous dormez.", "Tu dors.", "Vous dormez."]


def test_the_fast_engine_writes_the_pieces_of_the_language(registers: Path) -> None:
    fast = regard.load(registers / "en-fr", device="cpu", engine="ctranslate2")
    found = [fast.translate("You sleep.", formality=register).text for register in ("formal", "informal")]
    assert found == ["Vous dormez.", "Tu dors."]


def test_a_tag_that_is_given_has_registers_too(registers: Path) -> None:
    home = registers.parent / "run"
    translator = regard.load(home / "last", device="cpu")
    assert translator.translate("You sleep.", tag="<fr>", formality="informal").text == "Tu dors."
    with pytest.raises(InputError, match="formality is formal, but this model has no tags for it"):
        translator.translate("You sleep.", tag="<en>", formality="formal")


def test_a_model_without_registers_refuses_them(registers: Path, translator: Translator) -> None:
    for one in (translator, regard.load(registers / "fr-en", device="cpu")):
        with pytest.raises(InputError, match="in one way only; leave formality out") as problem:
            one.translate("Tu dors.", formality="formal")
        assert "\n" not in str(problem.value)


def test_formality_is_formal_or_informal(french: Translator) -> None:
    with pytest.raises(InputError, match='formality must be "formal" or "informal", but is \'more\''):
        french.translate("You sleep.", formality="more")


def test_a_chain_leaves_the_register_to_its_last_step(registers: Path, french: Translator) -> None:
    chain = TextChain([regard.load(registers / "fr-en", device="cpu"), french])
    assert chain.translate("Tu dors. Je te vois.", formality="formal").text == "Vous dormez. Je vous vois."
    assert chain.translate("Vous dormez.", formality="informal").text == "Tu dors."


# ── one register for a text ──────────────────────────────────────────────────────────────────────────────────────────


def test_the_sentences_of_a_text_agree(french: Translator) -> None:
    assert french.translate(MIXED).text == "Vous dormez. Votre chien mange. Vous voyez le chat."


def test_of_two_equal_registers_the_formal_one_is_taken(french: Translator) -> None:
    assert french.translate("You see the cat. You sleep.").text == "Vous voyez le chat. Vous dormez."


def test_the_majority_decides(french: Translator) -> None:
    found = french.translate("I see you. You see the cat.\n\nYou sleep. The cat sleeps.")
    assert found.text == "Je te vois. Tu vois le chat.\n\nTu dors. Le chat dort."


def test_each_text_is_its_own(french: Translator) -> None:
    assert [one.text for one in french.translate(["You sleep.", "I see you."])] == ["Vous dormez.", "Je te vois."]


def test_the_texts_of_a_document_agree(french: Translator) -> None:
    found = french.translate(["You sleep.", "I see you.", "I see you."], documents=(0, 0, 1))
    assert [one.text for one in found] == ["Vous dormez.", "Je vous vois.", "Je te vois."]


def test_every_text_needs_a_document(registers: Path, french: Translator) -> None:
    chain = TextChain([regard.load(registers / "fr-en", device="cpu"), french])
    for one in (french, chain):
        with pytest.raises(InputError, match="documents must have a number for each of the 2 texts, but has 1"):
            one.translate(["You sleep.", "I see you."], documents=(0,))


def test_what_agrees_is_translated_once(french: Translator) -> None:
    steps = french.job("You sleep. Your dog eats. The cat sleeps.").steps()
    job = next(steps)
    with pytest.raises(StopIteration):
        steps.send(job.run())


def test_spans_scores_and_links_are_those_of_the_new_text(french: Translator) -> None:
    text = "You see the cat.  You sleep. The dog eats."
    found = french.translate(text)
    assert found.text == "Vous voyez le chat.  Vous dormez. Le chien mange."
    for sentence in found.sentences:
        assert text[slice(*sentence.source_span)] == sentence.source
        assert found.text[slice(*sentence.target_span)] == sentence.text
        for source, target in sentence.alignment or ():
            assert sentence.source_span[0] <= source[0] < source[1] <= sentence.source_span[1]
            assert sentence.target_span[0] <= target[0] < target[1] <= sentence.target_span[1]
    assert found.candidates[0].text == found.text
    assert found.score == pytest.approx(sum(one.candidates[0].score for one in found.sentences))


def test_a_forced_prefix_stays(french: Translator) -> None:
    assert french.translate("You see the cat. You sleep.", prefix="Tu ").text.startswith("Tu vois")


def test_a_chain_agrees_too(registers: Path, french: Translator) -> None:
    chain = TextChain([regard.load(registers / "fr-en", device="cpu"), french])
    assert chain.translate("Tu dors. Je te vois.").text == "Vous dormez. Je vous vois."


def test_a_model_without_registers_makes_a_plain_job(translator: Translator) -> None:
    assert type(translator.job("The cat sleeps. The cat sleeps.")) is TranslationJob
