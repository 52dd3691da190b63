"""Whether a sentence is not in a model's language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.language import NAMES_OF, language_code, language_name, language_of, not_in, plain_words

SENTENCES = {
    "en": "I have never seen such a beautiful garden before.",
    "fr": "Je n'ai jamais vu un si beau jardin auparavant.",
    "de": "Ich habe noch nie einen so schönen Garten gesehen.",
    "es": "Nunca antes había visto un jardín tan hermoso.",
    "it": "Non ho mai visto un giardino così bello prima d'ora.",
    "nl": "Ik heb nog nooit zo'n mooie tuin gezien.",
    "pl": "Nigdy wcześniej nie widziałem tak pięknego ogrodu.",
    "ru": "Я никогда раньше не видел такого красивого сада.",
    "ja": "こんなに美しい庭は今まで見たことがありません。",
    "zh": "我以前从来没有见过这么美丽的花园。",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("expected", SENTENCES)
def test_a_sentence_is_told_from_every_other_language_and_not_from_its_own(language: str, expected: str) -> None:
    found = not_in(SENTENCES[language], expected)
    if language == expected:
        assert found is None
    else:
        assert found is not None
        assert found[0] == language
        assert found[1] > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "12:30 3,14",
        "Zürich",
        "Merkel",
        "Angela Merkel, Gerhard Schröder",
        "Go!",
        "Ask Tom.",
        "https://exemple.fr/le/chat/est/sur/le/tapis",
        "{le} {chat} %s <est>",
        "OK",
        "\ud800 \udfff \x00 a b",
        "PLEASE DO NOT FEED THE ANIMALS.",
        "I love pizza 🍕 and my dog 😂!",
    ],
)
def test_names_numbers_and_short_english_raise_no_alarm(text: str) -> None:
    assert not_in(text, "en") is None


def test_a_neighbour_language_is_no_alarm() -> None:
    danish = "Jeg har aldrig set en så smuk have før."
    assert not_in(danish, "no") is None
    assert not_in(danish, "en") is not None


def test_a_language_that_the_identifier_does_not_know_is_never_missed() -> None:
    assert not_in(SENTENCES["fr"], "tlh") is None


def test_addresses_and_numbers_around_a_sentence_do_not_hide_its_language() -> None:
    found = not_in("https://example.com/docs?id=42 3:45 " + SENTENCES["fr"] + " #user @name", "en")
    assert found is not None
    assert found[0] == "fr"


@given(st.text(alphabet=st.characters(), max_size=200), st.sampled_from(["en", "ja", "xx"]))
def test_any_text_has_an_answer(text: str, language: str) -> None:
    found = not_in(text, language)
    assert found is None or (found[0] != language and found[1] > 0)


def test_a_very_long_word_is_only_begun() -> None:
    assert not_in("é" * 5_000_000, "en") is None
    assert sum(map(len, plain_words("a" * 5_000_000))) <= 1000


def test_a_sample_has_a_language_only_where_its_lines_agree() -> None:
    french, german = [SENTENCES["fr"]] * 200, [SENTENCES["de"]] * 200
    assert language_of(french) == "fr"
    assert language_of(french + german) is None
    assert language_of(french[:50]) is None
    assert language_of(["12", "%s", "Paris"] * 200) is None


def test_codes_and_names_are_each_others_inverse() -> None:
    assert all(language_code(language_name(code)) == code for code in NAMES_OF)
    assert len(set(NAMES_OF.values())) == len(NAMES_OF)
