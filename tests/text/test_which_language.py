"""Which of a few languages a text is in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.text.which_language import Found, which_language

FOUR = ["de", "en", "es", "fr"]
SHORT = {
    "fr": ["Bonjour", "Je t'aime", "Bonne nuit", "Où est la gare ?", "Le chat dort."],
    "de": ["Guten Tag", "Danke", "Ich liebe dich", "Die Katze schläft."],
    "es": ["Gracias", "Buenos días", "El gato duerme.", "Te quiero"],
    "en": ["Good morning", "Thanks", "I love you", "The cat sleeps."],
}


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, some in SHORT.items() for text in some])
def test_a_word_or_two_are_often_enough(language: str, text: str) -> None:
    assert which_language([text], FOUR).language == language


def test_what_tells_nothing_is_the_usual_language_and_not_sure() -> None:
    for text in ("", "42", "Hi", "OK", "https://example.org/le-chat"):
        assert which_language([text], FOUR) == Found("en", sure=False)
        assert which_language([text], ["fr", "de"]).language == "fr"


def test_what_is_in_none_of_them_is_said_to_be() -> None:
    assert which_language(["Il gatto dorme sul tappeto."], FOUR) == Found("it", sure=True)
    assert which_language(["Я никогда раньше не видел такого красивого сада."], FOUR).language == "ru"


def test_a_text_is_in_the_language_of_most_of_its_lines() -> None:
    german, english = "Die Katze schläft auf dem Teppich.", "The cat sleeps on the mat."
    assert which_language([f"{german}\n" * 9 + english], FOUR) == Found("de", sure=True)
    assert which_language([german] * 6 + [english] * 4, FOUR) == Found("de", sure=True, mixed=True)
    assert which_language(["OK", "Tom", "Hallo", german], FOUR) == Found("de", sure=True)


def test_a_language_that_the_identifier_does_not_know_can_be_asked_for() -> None:
    assert which_language(["qwrtz"], ["tlh"]) == Found("tlh", sure=False)


@settings(max_examples=25)
@given(st.lists(st.text(max_size=40), max_size=4), st.sets(st.sampled_from(FOUR), min_size=1))
def test_any_text_has_an_answer(texts: list[str], languages: set[str]) -> None:
    found = which_language(texts, sorted(languages))
    assert found.sure or found.language in languages
