"""Names by shape and by known words, and names under a closing formula."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.known_words import KnownWords
from regard.text.names import is_email_signature, name_spans

KNOWN = KnownWords(
    words=[
        *str.split(
            "the a is in of to we met saw said hello my name our new product cat house street and by pro walk dear"
        ),
        *("Monday", "French", "London", "Zealand", "German", "I", "Mr", "TV", "White"),
    ],
    copied=["Tom", "New", "York"],
    rare=["Street"],
)


def names(text: str, known: KnownWords | None = KNOWN, language: str = "en") -> list[str]:
    return [text[start:end] for start, end in name_spans(text, (), known, language)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My name is Sarah.", ["Sarah"]),
        ("Zürich", ["Zürich"]),
        ("Sarah's house is new.", ["Sarah"]),
        ("We met Angela Merkel in London on Monday.", ["Angela Merkel"]),
        ("We saw New Zealand.", []),
        ("We met Tom.", []),
        ("We met Tom Merkel.", ["Tom Merkel"]),
        ("AcmeCloud Pro is our new product.", ["AcmeCloud Pro"]),
        ("We met J. K. Rowling and Mr. Bryce.", ["J. K. Rowling", "Bryce"]),
        ("We met Ludwig van Beethoven.", ["Ludwig van Beethoven"]),
        ("Hello. Walking is new.", []),
        ('We said: "Hello Zoe."', ["Zoe"]),
        ("HELLO ZOE, WE MET IN LONDON.", []),
        ("We saw NASA on TV.", ["NASA"]),
        ("The Zürich-based cat met Jean-Luc.", ["Zürich", "Jean-Luc"]),
        ("I met the Germans.", []),
        ("We met in Wall Street.", ["Wall Street"]),
        ("Street of London", []),
        ("We met O'Brien’s cat.", ["O'Brien"]),
    ],
)
def test_names_in_sentences(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("My iPhone met AcmeCloud Pro at NASA.", ["iPhone", "AcmeCloud Pro", "NASA"]),
        ("We met Sarah in Zürich.", []),
        ("I am NOT happy.", []),
        ("HELLO!", []),
        ("NASA SAYS HELLO.", []),
    ],
)
def test_by_shape_alone(text: str, found: list[str]) -> None:
    assert names(text, None) == found


def test_german_nouns_are_no_names() -> None:
    known = KnownWords(["ich", "sah", "den", "in", "Tom"], copied=["Tom"])
    assert names("Ich sah den Gehweg in Zürich.", known, "de") == []
    assert names("Ich sah Frau Merkel, Tom Müller und AcmeCloud.", known, "de") == ["Merkel", "Tom Müller", "AcmeCloud"]


def test_french_elisions_and_imperatives() -> None:
    known = KnownWords(["le", "chat", "de", "est", "a"])
    assert names("Le chat d'Angela est l'Orion.", known, "fr") == ["Angela", "Orion"]
    assert names("Oublie-la.", known, "fr") == []


def test_taken_spans_are_left_out() -> None:
    text = "We met @Sarah in Zoe."
    assert name_spans(text, [(7, 13)], KNOWN) == [(17, 20)]


@given(st.text("abAB .'-JK\n", max_size=30))
def test_names_are_within_words(text: str) -> None:
    for start, end in name_spans(text, (), KNOWN):
        assert text[start:end].strip() == text[start:end] != ""
        assert any(map(str.isupper, text[start:end]))


def last_line(text: str) -> tuple[int, int]:
    return len(text) - len(text.splitlines()[-1]), len(text)


@pytest.mark.parametrize(
    "text",
    [
        "Kind regards,\nMark",
        "Bye.\n\nThanks,\n\nMark Miller",
        "Cordialement,\r\nRose",
        "Mit freundlichen Grüßen\nMark S.",
    ],
)
def test_signatures(text: str) -> None:
    assert is_email_signature(text, last_line(text))


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ann,\nThanks",
        "Mark",
        "Regards,\nmark it",
        "Kind regards,\nMark the page.",
        "Many thanks for it.\nMark",
        "\nMark",
    ],
)
def test_other_lines(text: str) -> None:
    assert not is_email_signature(text, last_line(text))


def test_a_name_within_a_line_is_no_signature() -> None:
    assert not is_email_signature("Kind regards, Mark", (14, 18))


@given(
    st.lists(
        st.sampled_from([*KNOWN.words, *KNOWN.copied, *KNOWN.rare, "Zoe", "iPhone", "NASA", ".", "“", "Tom’s", "L'"])
    ),
    st.sampled_from(["en", "fr", "de"]),
)
def test_no_name_is_missed(words: list[str], language: str) -> None:
    found = name_spans(" ".join(words), (), KNOWN, language)
    with patch("regard.text.names.may_have_names", lambda *_: True):
        assert name_spans(" ".join(words), (), KNOWN, language) == found
