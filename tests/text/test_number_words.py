"""Numbers in words."""

from __future__ import annotations

import pytest

from regard.text.number_words import numbers_in_words


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("two hundred and five", "en", "205"),
        ("three thousand two hundred", "en", "3200"),
        ("a dozen", "en", "12"),
        ("five in the afternoon", "en", "17"),
        ("3 pm", "en", "15"),
        ("5 million", "en", "5000000"),
        ("quatre-vingt-dix-sept", "fr", "97"),
        ("soixante et onze", "fr", "71"),
        ("dreiundzwanzig", "de", "23"),
        ("treinta y cinco", "es", "35"),
    ],
)
def test_values(text: str, language: str, value: str) -> None:
    assert value in numbers_in_words(text, language)


def test_nothing_said() -> None:
    assert numbers_in_words("The cat sleeps.") == numbers_in_words("") == set()
