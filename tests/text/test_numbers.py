"""Numbers in digits and in words have the same values whatever the locale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.numbers import numbers_in_words, numeric_values, quantities

WRITINGS = {  # thousands and decimal separators
    "en": (",", "."),
    "fr": ("\u202f", ","),
    "fr, typed": (" ", ","),
    "de": (".", ","),
    "ch": ("’", "."),
}


@given(st.integers(0, 10**12), st.none() | st.integers(0, 99), st.sampled_from(list(WRITINGS)))
def test_every_writing_of_a_number_is_read(whole: int, decimals: int | None, writing: str) -> None:
    thousands, decimal = WRITINGS[writing]
    text = f"{whole:,}".replace(",", thousands)
    value = str(whole)
    if decimals is not None:
        text, value = f"{text}{decimal}{decimals:02}", f"{value}.{decimals:02}"
    assert value in numeric_values(text)
    [found] = quantities(f"We saw {text}.")
    assert value in found.values
    assert found.whole == (7, 7 + len(text))


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("20%", "%", "20"),
        ("20\u202f%", "%", "20"),
        ("$5", "$", "5"),
        ("5 $", "$", "5"),
        ("-€5", "€", "-5"),
        ("−3", "", "-3"),
    ],
)
def test_units_and_signs(text: str, unit: str, value: str) -> None:
    [found] = quantities(text)
    assert (found.unit, found.values) == (unit, {value})


def test_joined_numbers_are_also_numbers_alone() -> None:
    assert [sorted(found.values) for found in quantities("1939–1945")] == [["1939-1945"], ["1939"], ["1945"]]


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
