"""Widths, cuts and directions of text, in all scripts."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from maps import WORD
from regard.report.text import LINE, cut, letters_of, printable, runs_left, width, wrap

ANY = st.text(max_size=60)


@given(ANY, st.floats(1.1, 20))
def test_a_cut_text_fits(text: str, most: float) -> None:
    assert width(cut(text, most)) <= most + 1e-9
    assert cut(text, most) == text or cut(text, most).endswith("…")


@given(ANY, st.floats(3, 20))
def test_wrapped_lines_fit_and_lose_nothing(text: str, most: float) -> None:
    lines = wrap(text, most)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= most or len(letters_of(line)) == 1 for line in lines)
    few = wrap(text, most, 2)
    assert few == lines or (len(few) == 2 and few[-1].endswith("…"))


@given(WORD)
def test_letters_are_the_word(word: str) -> None:
    assert "".join(letters_of(word)) == word
    assert not any(unicodedata.category(letter[0]).startswith("M") for letter in letters_of(word)[1:])


@given(st.text(max_size=20))
def test_nothing_acts(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert not any(c < " " or c in "\u202e\u2066\u2028\x7f" or unicodedata.category(c) == "Cs" for c in shown)


def test_families_and_flags_stay_whole() -> None:
    assert letters_of("👩‍👩‍👧a") == ["👩‍👩‍👧", "a"]
    assert printable("👩‍👩‍👧") == "👩‍👩‍👧"


def test_which_way() -> None:
    assert runs_left("שלום worlds") is False  # more letters run right
    assert runs_left("שלום עולם")
    assert not runs_left("")
    assert LINE > 1
