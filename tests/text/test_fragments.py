"""Fragments: what is one, and that a translation gets the end and the case of its source."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.fragments import is_fragment, reshaped, spaced

LANGUAGES = st.sampled_from(["en", "fr", "de", "es"])
WORDS = st.lists(st.text("abcdeéßñ", min_size=1, max_size=8), min_size=1, max_size=5).map(" ".join)
ENDS = st.sampled_from(["", ":", "…", "...", ";", ",", " :", ".:"])


def end(text: str) -> str:
    """The punctuation at the end of a text, without spaces."""
    found = re.search(r"[\s.,:;!?…]*$", text)
    return "".join(found[0].split()) if found else ""


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("Settings", "Settings", True),
        ("Save…", "Save…", True),
        ("Search...", "Search...", True),
        ("• Log out", "Log out", True),
        ("3. Log out\nThe cat sleeps.", "Log out", True),
        ("The cat sleeps.\nKind regards,\nAnna", "Kind regards,", True),
        ("Phone: +33 1 23 45 67 89", "Phone: +33 1 23 45 67 89", True),
        ("The cat sleeps.", "The cat sleeps.", False),
        ("Yes! The cat sleeps.", "Yes!", False),
        ("The cat sleeps. Yes", "Yes", False),
        ("The black cat of my neighbour sleeps on the mat", "The black cat of my neighbour sleeps on the mat", False),
    ],
)
def test_a_fragment_is_short_alone_and_without_full_stop(text: str, part: str, expected: bool) -> None:
    start = text.index(part)
    assert is_fragment(text, (start, start + len(part))) is expected


@pytest.mark.parametrize(
    ("read", "answer", "language", "expected"),
    [
        ("settings:", "Les paramètres.", "fr", "paramètres :"),
        ("Cancel (Esc)", "Annuler (Esc).", "fr", "Annuler (Esc)"),
        ("Paramètres :", "The settings", "en", "Settings:"),
        ("tools", "Die Werkzeuge.", "de", "Werkzeuge"),
        ("monday", "Montag", "de", "Montag"),
        ("lundi", "Monday", "en", "Monday"),
        ("Fresh apples", "Las manzanas frescas", "es", "Manzanas frescas"),
        ("Team", "L’équipe", "fr", "Équipe"),
        ("The team", "L'équipe", "fr", "L'équipe"),
        ("Life is good", "La vie est belle", "fr", "La vie est belle"),
        ("Books, films", "Les livres, les films", "fr", "Les livres, les films"),
        ("Nothing", ".", "fr", "."),
    ],
)
def test_shape_of_a_translation(read: str, answer: str, language: str, expected: str) -> None:
    assert reshaped(read, answer, language) == expected


@given(WORDS, ENDS, WORDS, st.sampled_from(["", ".", "!", " !", "…", "。"]), LANGUAGES, st.booleans())
def test_end_and_case_of_any_fragment_are_kept(
    read: str, marks: str, answer: str, added: str, language: str, capital: bool
) -> None:
    read, answer = (read.capitalize() if capital else read), answer.capitalize()
    shaped = reshaped(read + marks, answer + added, language)
    assert end(shaped) == end(marks)
    assert not shaped.endswith(".") or marks.endswith(".")
    assert shaped[0].isupper() or not capital or not shaped[0].isalpha()
    assert shaped[0].islower() or capital or language in ("de", "en")
    assert reshaped(read + marks, shaped, language) == shaped


@given(st.text(" :;!?.…", max_size=8), LANGUAGES)
def test_spacing_changes_only_spaces(marks: str, language: str) -> None:
    written = spaced(marks, language)
    assert "".join(written.split()) == "".join(marks.split())
    assert spaced(written, language) == written


@given(st.text(max_size=120), st.data())
def test_any_text_can_be_asked(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    assert is_fragment(text, (start, stop)) in (True, False)
    assert isinstance(reshaped(text[start:stop], text[:start], "fr"), str)
