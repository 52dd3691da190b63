"""The first letter of a list's item."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.initial import with_small_initial


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
    assert with_small_initial(said, language) == wanted


@given(st.text(), st.sampled_from(["en", "fr", "de", "es", None]))
def test_only_the_first_letter_changes(text: str, language: str | None) -> None:
    found = with_small_initial(text, language)
    assert found == text or (found[len(found) - len(text) + 1 :] == text[1:] and found[0] == text[0].lower()[0])
