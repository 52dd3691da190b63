"""The second pass: pronouns are translated in the context of the sentence before, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import regard
from regard.text.glossary import Glossary
from regard.text.slots import SLOTS, SlotTexts
from regard.translation import revision
from regard.translation.job import run_steps
from regard.translation.options import TranslateOptions
from regard.translation.revision import RegisterUse, SecondPass, context_of, is_better, register_uses, rounds
from regard.translation.revision import contexts as sentences_in_context
from regard.translation.translation import Candidate, SentenceTranslation, Translation
from regard.translator import Translator

CAR = "I see the car. It is old."
IN_CONTEXT = "Je vois la voiture. Elle est vieille."


@pytest.fixture(scope="module")
def french(contexts: Path) -> Translator:
    return regard.load(contexts, device="cpu")


def test_a_pronoun_refers_to_the_sentence_before(french: Translator) -> None:
    assert french.translate(CAR).text == IN_CONTEXT
    assert french.translate("I see the boat. It is old.").text == "Je vois le bateau. Il est vieux."


def test_it_can_be_switched_off(french: Translator) -> None:
    assert french.translate(CAR, in_context=False).text == "Je vois la voiture. C'est vieux."


def test_the_fast_engine_does_the_same(contexts: Path) -> None:
    assert regard.load(contexts, device="cpu", engine="ctranslate2").translate(CAR).text == IN_CONTEXT


def test_a_model_that_was_not_trained_for_it_leaves_it_out(translator: Translator) -> None:
    job = translator.job("The cat sleeps. It eats.")
    steps = job.steps()
    with pytest.raises(StopIteration):
        steps.send(next(steps).run())


def test_sentences_with_pronouns_follow_each_other(french: Translator) -> None:
    found = french.translate("I see the boat.  It is old. It is here.")
    assert found.text == "Je vois le bateau.  Il est vieux. Il est ici."


def test_the_first_sentence_and_those_after_a_heading_or_in_a_list_stay(french: Translator) -> None:
    for text in ("It is old.", "Dogs\n\nIt is old.", "- I see the car.\n- It is old."):
        assert "C'est vieux." in french.translate(text).text


def test_the_context_is_read_as_in_its_own_translation(french: Translator) -> None:
    found = french.translate("I see the\ncar. It is old.", split="wrapped")
    assert found.text == IN_CONTEXT
    first = replace(found.sentences[0], read=f"I see {SLOTS[0]}.", slots=SlotTexts(("Zoë",), ("Zoë",)))
    now = {(0, 0): first, (0, 1): found.sentences[1]}
    assert context_of((0, 1), {(0, 1): (0, 0)}, now).source == "I see Zoë."


def test_texts_of_a_document_are_neighbours(french: Translator) -> None:
    texts = CAR.replace(". ", ".\n").split("\n")
    assert [one.text for one in french.translate(texts)] == ["Je vois la voiture.", "C'est vieux."]
    found = french.translate([*texts, texts[1]], documents=(0, 0, 1))
    assert [one.text for one in found] == ["Je vois la voiture.", "Elle est vieille.", "C'est vieux."]


def test_spans_scores_and_links_are_those_of_the_sentence_alone(french: Translator) -> None:
    found = french.translate(f"{CAR} The dog eats.")
    assert found.text == f"{IN_CONTEXT} Le chien mange."
    for sentence in found.sentences:
        assert found.source[slice(*sentence.source_span)] == sentence.source
        assert found.text[slice(*sentence.target_span)] == sentence.text == sentence.candidates[0].text
        assert sentence.confidence is not None
        for source, target in sentence.alignment or ():
            assert sentence.source_span[0] <= source[0] < source[1] <= sentence.source_span[1]
            assert sentence.target_span[0] <= target[0] < target[1] <= sentence.target_span[1]
    assert found.score == pytest.approx(sum(one.candidates[0].score for one in found.sentences))


def test_other_texts_are_as_without_context(french: Translator) -> None:
    text = "I see the car. The dog eats.\n\nI see the boat."
    assert french.translate(text) == french.translate(text, in_context=False)


def test_the_result_does_not_depend_on_the_other_texts(french: Translator) -> None:
    texts = [CAR, "The dog eats. It is old.", "I see the boat. It is here."]
    assert [one.text for one in french.translate(texts)] == [french.translate(text).text for text in texts]


def test_n_best_lists_have_the_revised_sentence(french: Translator) -> None:
    found = french.translate(CAR, nbest=2)
    assert len(found.candidates) == 2
    assert found.candidates[0].text == found.text == IN_CONTEXT


def test_a_required_term_stays(french: Translator) -> None:
    found = french.translate(CAR, glossary=Glossary.of({"old": "ici"}))
    assert "ici" in found.sentences[1].text


def test_a_prefix_and_a_length_limit_leave_it_out(french: Translator) -> None:
    for changes in ({"prefix": "Je "}, {"max_length": 30}):
        assert french.translate(CAR, **changes).text == "Je vois la voiture. C'est vieux."


def test_a_job_runs_in_steps(french: Translator) -> None:
    assert run_steps(french.job(CAR).steps())[0].text == IN_CONTEXT
    steps = french.job(CAR).steps()
    second = steps.send(next(steps).run())
    assert [unit.context is not None for unit in second.parts[0].units] == [True]


# ── reasons ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def made(*pairs: tuple[str, str]) -> Translation:
    """A translation of some sentences, each with its translation."""
    sentences, source, text = [], "", ""
    for one, other in pairs:
        spans = (len(source), len(source) + len(one)), (len(text), len(text) + len(other))
        sentences.append(SentenceTranslation(one, other, *spans, one, candidates=(Candidate(other, 0.0, 0.0, ()),)))
        source, text = f"{source}{one} ", f"{text}{other} "
    return Translation(source, text, 0.0, 0.0, (), tuple(sentences))


def test_places_of_sentences_in_context() -> None:
    texts = [made(("The car is here.", ""), ("It is old.", "")), made(("They sleep.", "")), made(("It is.", ""))]
    assert sentences_in_context(texts, (0, 0, 1), "en") == {(0, 1): (0, 0), (1, 0): (0, 1)}
    assert sentences_in_context(texts, (0, 0, 1), "it") == {}


def test_no_context_from_headings_and_capitals() -> None:
    for first in ("Cars", "THE CAR IS HERE.", "a list:"):
        assert sentences_in_context([made((first, ""), ("It is old.", ""))], (0,), "en") == {}
    assert sentences_in_context([made(('He said: "Go."', ""), ("It is old.", ""))], (0,), "en")


def test_long_runs_take_a_limited_number_of_rounds() -> None:
    chain = {(0, number): (0, number - 1) for number in range(1, 9)}
    assert [len(some) for some in rounds(chain)] == [1, 1, 6]


def test_a_translation_in_context_must_differ_in_a_pronoun_and_keep_its_capital() -> None:
    first, *others = (
        replace(made(("Is it old?", text)).sentences[0], candidates=(Candidate(text, 0.0, 0.0, ()),))
        for text in ("¿Es viejo?", "¿Es vieja?", "¿ es vieja?", "¿Es viejo?")
    )
    assert [is_better(first, one, "es") for one in others] == [True, False, False]
    assert not is_better(first, replace(others[0], candidates=()), "es")


def test_registers_of_a_document() -> None:
    texts = [made(("You sleep.", "Vous dormez."), ("You eat.", "Tu manges."), ("I sleep.", "Je dors."))]
    assert register_uses(texts, (0,), ("en", "fr")) == {
        (0, 0): RegisterUse("formal", "formal"),
        (0, 1): RegisterUse("informal", "formal"),
    }


def test_a_sentence_with_both_registers_is_translated_again() -> None:
    texts = [made(("Do you know your way?", "Connais-tu votre chemin ?"), ("You sleep.", "Vous dormez."))]
    assert register_uses(texts, (0,), ("en", "fr"))[0, 0] == RegisterUse("informal", "formal")


def test_a_formal_salutation_decides() -> None:
    letter = made(("Dear Ms Roth,", "Chère Mme Roth,"), ("You sleep.", "Tu dors."), ("You eat.", "Tu manges."))
    assert {use.usual for use in register_uses([letter], (0,), ("en", "fr")).values()} == {"formal"}


def test_a_sentence_in_context_gets_the_register_of_its_document(
    french: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(
        revision, "context_job", lambda model, sources, before, options: asked.append(options.formality)
    )
    first = made(("You sleep.", "Vous dormez."), ("You see it.", "Tu le vois."), ("Your cat.", "Votre chat."))
    options = TranslateOptions(in_context=True)
    steps = SecondPass(french, french.job, options, registers=True, context=True).steps([first])  # type: ignore[arg-type]
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([made(("You see it.", "Vous le voyez."))])
    assert asked == ["formal"]
    assert [one.text for one in end.value.value[0].sentences] == ["Vous dormez.", "Vous le voyez.", "Votre chat."]


def test_a_sentence_in_another_register_than_asked_for_is_chosen_from_more_candidates(french: Translator) -> None:
    asked: list[TranslateOptions] = []

    def job(sources: list[str], options: TranslateOptions) -> None:
        assert sources == ["You see your cat."]
        asked.append(options)

    options = TranslateOptions(formality="informal", beam=2)
    first = made(("I sleep.", "Je dors."), ("You see your cat.", "Tu vois votre chat."))
    steps = SecondPass(french, job, options, registers=True, context=False).steps([first])  # type: ignore[arg-type]
    next(steps)
    assert (asked[0].beam, asked[0].nbest) == (revision.WIDE, revision.WIDE)
    candidates = tuple(Candidate(text, 0.0, 0.0, ()) for text in ("Vous voyez ton chat.", "Tu vois ton chat."))
    steps.send([replace(made(("You see your cat.", "Vous voyez ton chat.")), candidates=candidates)])
    assert asked[1].prefix == ("Tu vois ton chat.",)
    with pytest.raises(StopIteration) as end:
        steps.send([made(("You see your cat.", "Tu vois ton chat."))])
    assert [one.text for one in end.value.value[0].sentences] == ["Je dors.", "Tu vois ton chat."]


def test_it_stays_if_no_candidate_has_the_register(french: Translator) -> None:
    job = SecondPass(french, lambda *_: None, TranslateOptions(formality="informal"), registers=True, context=False)  # type: ignore[arg-type, return-value]
    first = made(("You sleep.", "Vous dormez."))
    steps = job.steps([first])
    next(steps)
    with pytest.raises(StopIteration) as end:
        steps.send([replace(first, candidates=(Candidate("Vous dormez.", 0.0, 0.0, ()),))])
    assert end.value.value == [first]
