"""Numbers are read the same whatever the locale of their writing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.values import quantities, readings

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
    assert value in readings(text)
    [found] = quantities(f"We saw {text}.")
    assert value in found.readings
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
    assert (found.unit, found.readings) == (unit, {value})


def test_joined_numbers_are_also_numbers_alone() -> None:
    assert [sorted(found.readings) for found in quantities("1939–1945")] == [["1939-1945"], ["1939"], ["1945"]]
