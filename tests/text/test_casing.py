"""Words that begin a sentence, and the first letter of a list item."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.casing import cased_forms, cased_words, lowercase_initial


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The cat. A dog! Is it? Yes…", ["The", "A", "Is", "Yes"]),
        ("Mr. Smith met J. Doe.", ["Mr"]),
        ("He said: “We go” (They stay).", ["He", "We", "They"]),
        ("One\nTwo", ["One", "Two"]),
        ("1. Hello 3.5 Dogs", ["1", "Hello"]),
        ("It's Tom's.", ["It"]),
        ("- Oui\n– Non", ["Oui", "Non"]),
    ],
)
def test_first_words(text: str, first: list[str]) -> None:
    found = [text[word.start : word.end] for word in cased_words(text) if word.at_start]
    assert [word for word in found if word not in ("3", "5")] == first


def test_words_of_spans_are_left_out() -> None:
    assert [(word.start, word.end) for word in cased_words("see a.b.c now", [(4, 9)])] == [(0, 3), (10, 13)]


def test_french_elision() -> None:
    assert [(word.start, word.at_start) for word in cased_words("L'Angleterre", language="fr")] == [(2, False)]


@given(st.text(max_size=40))
def test_words_are_in_order(text: str) -> None:
    words = list(cased_words(text, language="fr"))
    assert all(before.end <= word.start < word.end for before, word in itertools.pairwise(words))


@pytest.mark.parametrize(
    ("language", "said", "wanted"),
    [
        ("fr", "Deux œufs", "deux œufs"),
        ("es", "Dos huevos", "dos huevos"),
        ("en", "Two eggs", "two eggs"),
        ("en", "A loaf", "a loaf"),
        ("en", "I'm here", "I'm here"),
        ("en", "Monday morning", "Monday morning"),
        ("en", "English lessons", "English lessons"),
        ("de", "Zwei Eier", "zwei Eier"),
        ("de", "Milch", "Milch"),
        ("fr", "ONU", "ONU"),
        ("ja", "Deux", "Deux"),
        (None, "Deux", "Deux"),
    ],
)
def test_first_letters(language: str | None, said: str, wanted: str) -> None:
    assert lowercase_initial(said, language) == wanted


@given(st.text(), st.sampled_from(["en", "fr", "de", "es", None]))
def test_only_the_first_letter_changes(text: str, language: str | None) -> None:
    found = lowercase_initial(text, language)
    assert found == text or (found[len(found) - len(text) + 1 :] == text[1:] and found[0] == text[0].lower()[0])


@given(st.text("aLqusS'’-.& é\u0301", max_size=20), st.sampled_from(["en", "fr"]))
def test_forms_are_those_of_words(text: str, language: str) -> None:
    assert cased_forms(text, language) == [text[word.start : word.end] for word in cased_words(text, (), language)]
