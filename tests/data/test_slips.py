"""Careless typing: slips of the fingers as people make them, and nothing in words that are no words."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.slips import (
    BARE,
    KEY_NEIGHBORS,
    other_apostrophes,
    slip,
    with_slips,
    with_typos,
    without_accents,
    without_marks,
)


def test_a_slip_keeps_a_capital() -> None:
    rng = random.Random(1)
    assert {slip("É", "t", "neighbour", KEY_NEIGHBORS[0], rng)[0] for _ in range(99)} == set(
        KEY_NEIGHBORS[0]["e"].upper()
    )
    assert slip("猫", "が", "neighbour", KEY_NEIGHBORS[0], rng) == ("猫", "が")
    assert slip("t", ".", "swapped", KEY_NEIGHBORS[0], rng) == ("t", ".")


def test_what_is_no_ordinary_word_stays() -> None:
    text = "https://example.com/abc me@abc.de {name} %s file_name 4th <b> @tom #tag C++ a/b"
    assert all(with_slips(text, 2, random.Random(seed)) == text for seed in range(20))
    assert all(len(with_slips("I a", 1, random.Random(seed)).split()) == 2 for seed in range(50))


@pytest.mark.parametrize("every", [15, 40])
def test_as_many_slips_as_wanted(every: int) -> None:
    text = "People often write far too quickly for their own good. " * 400
    typed = with_slips(text, every, random.Random(1))
    wrong = sum(a != b for a, b in zip(text.split(), typed.split(), strict=True))
    assert 0.6 < wrong / (len(text) / every) < 1  # some fall on a space, two in one word are counted once


def test_letters_without_their_accents() -> None:
    assert (
        without_accents("Über œuvre, señor Łódź: naïve Straße, が й ά")
        == "Uber oeuvre, senor Lodz: naive Strasse, が й ά"
    )
    assert not any(chr(number).isascii() for number in BARE)
    found = {other_apostrophes("don't l’eau", random.Random(seed)) for seed in range(20)}
    assert found == {"dont leau", "don't l'eau", "don’t l’eau"}


@pytest.mark.parametrize(
    ("text", "last", "all_marks"),
    [
        ("Ça va ?", "Ça va", "Ça va"),
        ("« Oui », dit-il.", "« Oui », dit-il", "Oui dit-il"),
        ("¿Qué tal, Ana?", "Qué tal, Ana", "Qué tal Ana"),
        ("It's 3.5, 10:30 a.m.: see a.b.", "It's 3.5, 10:30 a.m.: see a.b", "It's 3.5 10:30 a.m see a.b"),
        ("...", "...", "..."),
        ("?!", "?!", "?!"),
    ],
)
def test_marks_are_missing(text: str, last: str, all_marks: str) -> None:
    assert (without_marks(text, "last"), without_marks(text, "all")) == (last, all_marks)


@given(st.text(min_size=1, max_size=40).filter(str.strip), st.integers(0, 99))
def test_typing_is_drawn_from_the_generator(text: str, seed: int) -> None:
    typed = with_typos(text, random.Random(seed))
    assert typed == with_typos(text, random.Random(seed))
    assert typed.strip()
