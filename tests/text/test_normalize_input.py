"""Informal input: its case, and names where case carries no information."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.casing import cased_forms, cased_words
from regard.text.known_words import KnownWords
from regard.text.normalize_input import (
    WORDS_BEFORE_NAMES,
    capitalize_names,
    is_all_caps,
    is_title_case,
    sentence_case,
    spelling_corrections,
    truecase,
)
from support import grammar


@given(st.text(alphabet="ABCÉ .!?42'", max_size=30))
def test_only_letters_change_and_only_their_case(text: str) -> None:
    assert sentence_case(text).upper() == text


@given(st.text())
def test_every_character_keeps_its_place(text: str) -> None:
    small = sentence_case(text)
    assert len(small) == len(text)
    assert all(a.casefold() == b.casefold() for a, b in zip(text, small, strict=True))


def test_sentences_begin_with_a_capital() -> None:
    assert sentence_case("WHO IS IT? 'IT IS ME.' I SEE…\tÉTÉ") == "Who is it? 'It is me.' i see…\tÉté"


def test_the_embedded_corpus_is_tidy() -> None:
    for example in grammar()["train"].examples:
        assert not is_all_caps(example.src)
        assert not is_title_case(example.src)
        assert not is_title_case(example.tgt)


def test_time_is_linear_in_the_length_of_a_line() -> None:
    """Seconds; in quadratic time hours."""
    for line in ("x" + " " * 300_000, " " * 300_000 + "x", "STOP" + "! " * 200_000):
        assert len(sentence_case(line)) == len(line)


def test_capitals_are_given_to_words_that_are_known_with_one_alone() -> None:
    known = KnownWords(["Haus", "grün", "arm", "Zeit"], ["Tom"])
    assert truecase("tom: das haus, grün, arm?", known, "de") == "Tom: das Haus, grün, arm?"
    assert truecase("TOM das Haus", known, "de") == "TOM das Haus"


@given(st.text())
def test_known_capitals_keep_every_character_in_its_place(line: str) -> None:
    words = {line[start:end] for start, end, _ in cased_words(line)}
    known = KnownWords({word[:1].upper() + word[1:] for word in words})
    found = truecase(line, known)
    assert all(b in (a, a.upper(), a.title()) for a, b in zip(line, found, strict=True))  # ı becomes I


def test_a_short_line_in_title_case_is_a_sentence_of_known_words() -> None:
    known = KnownWords(["está", "aquí", "casa", "blanca"], ["Tom"])
    lines = ("Tom Está Aquí.", "Casa Blanca", "Tom Vuelve Aquí.", "Aquí Tom.", "Tom Está aquí.")
    assert [is_title_case(line, "es", known) for line in lines] == [True, False, False, False, False]


KNOWN = KnownWords(
    ["he", "lives", "in", "with", "a", "the", "rabbit", "saw", "station", "Paris", "il", "a", "vu", "et"],
    ["Tom"],
    by_frequency=True,
)


@pytest.mark.parametrize(
    ("language", "text", "read"),
    [
        ("en", "he lives in hamburg", "he lives in Hamburg"),
        ("en", "he lives in hamburg altona", "he lives in Hamburg Altona"),
        ("en", "he saw a hinny", "he saw a hinny"),
        ("en", "he lives in hinnies with mr. kwame", "he lives in Hinnies with mr. Kwame"),
        ("en", 'he saw "moana"', 'he saw "Moana"'),
        ("en", "he saw 3 hinnies", "he saw 3 hinnies"),
        ("en", "he lives in a staiton", "he lives in a staiton"),
        ("en", "in staiton with tom", "in staiton with tom"),  # a slip, and a name that is known
        ("en", "Tom hilfiger", "Tom hilfiger"),  # the first word has a capital anyway
        ("en", "he saw Paris hilton", "he saw Paris Hilton"),
        ("fr", "il a vu l'oregon et l’utah", "il a vu l'Oregon et l’Utah"),
        ("fr", "il a vu qu'effondra", "il a vu qu'effondra"),
        ("en", "in xy with ab", "in xy with ab"),
    ],
)
def test_where_names_stand(language: str, text: str, read: str) -> None:
    assert capitalize_names(text, KNOWN, language) == read


@given(st.text(), st.sampled_from(list(WORDS_BEFORE_NAMES)))
def test_only_first_letters_change_and_only_their_case(text: str, language: str) -> None:
    read = capitalize_names(text, KNOWN, language)
    assert len(read) == len(text)
    assert all(a == b or a.upper() == b or a.title() == b for a, b in zip(text, read, strict=True))
    assert capitalize_names(read, KNOWN, language) == read


LONG = "x" * 31
FREQUENT = KnownWords(
    ["the", "was", "of", "people", "station", "Bahnhof", "été", LONG], ["Tom"], ["Baker"], by_frequency=True
)
SLIPS = "The Teh teh thee peolpe Sttaion Bahnhfo Banhhof thepeople ofthe ete L'ete Tom Tmo Baekr ."


@given(
    st.lists(st.sampled_from([*SLIPS.split(), LONG, LONG + "x", LONG + "y"])),
    st.sampled_from(["en", "fr", "de"]),
)
def test_no_misspelled_word_is_missed(words: list[str], language: str) -> None:
    text = "The " + " ".join(words)
    found = spelling_corrections(text, [], FREQUENT, language)
    with (
        patch.object(KnownWords, "unfamiliar", lambda _, text, language: cased_forms(text, language)),
        patch.object(KnownWords, "may_be_misspelled", lambda *_: True),
    ):
        assert spelling_corrections(text, [], FREQUENT, language) == found
