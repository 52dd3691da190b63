"""Case of rough text: only letters change, and only their case."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from regard.text.capitals import cased_words
from regard.text.known_words import KnownWords
from regard.text.mend import in_capitals, in_small, in_title_case, with_known_capitals
from support import grammar


@given(st.text(alphabet="ABCÉ .!?42'", max_size=30))
def test_only_letters_change_and_only_their_case(text: str) -> None:
    assert in_small(text).upper() == text


@given(st.text())
def test_every_character_keeps_its_place(text: str) -> None:
    small = in_small(text)
    assert len(small) == len(text)
    assert all(a.casefold() == b.casefold() for a, b in zip(text, small, strict=True))


def test_sentences_begin_with_a_capital() -> None:
    assert in_small("WHO IS IT? 'IT IS ME.' I SEE…\tÉTÉ") == "Who is it? 'It is me.' i see…\tÉté"


def test_the_embedded_corpus_is_tidy() -> None:
    for example in grammar()["train"].examples:
        assert not in_capitals(example.src)
        assert not in_title_case(example.src)
        assert not in_title_case(example.tgt)


def test_time_is_linear_in_the_length_of_a_line() -> None:
    """Seconds; in quadratic time hours."""
    for line in ("x" + " " * 300_000, " " * 300_000 + "x", "STOP" + "! " * 200_000):
        assert len(in_small(line)) == len(line)


def test_capitals_are_given_to_words_that_are_known_with_one_alone() -> None:
    known = KnownWords(["Haus", "grün", "arm", "Zeit"], ["Tom"])
    assert with_known_capitals("tom: das haus, grün, arm?", known, "de") == "Tom: das Haus, grün, arm?"
    assert with_known_capitals("TOM das Haus", known, "de") == "TOM das Haus"


@given(st.text())
def test_known_capitals_keep_every_character_in_its_place(line: str) -> None:
    words = {line[start:end] for start, end, _ in cased_words(line)}
    known = KnownWords({word[:1].upper() + word[1:] for word in words})
    found = with_known_capitals(line, known)
    assert all(a.casefold() == b.casefold() for a, b in zip(line, found, strict=True))


def test_a_short_line_in_title_case_is_a_sentence_of_known_words() -> None:
    known = KnownWords(["está", "aquí", "casa", "blanca"], ["Tom"])
    lines = ("Tom Está Aquí.", "Casa Blanca", "Tom Vuelve Aquí.", "Aquí Tom.", "Tom Está aquí.")
    assert [in_title_case(line, "es", known) for line in lines] == [True, False, False, False, False]
