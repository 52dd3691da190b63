"""Names where capitals say nothing: only where names stand, only what is unknown, and every character in its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.known_words import KnownWords
from regard.text.likely_names import BEFORE_NAMES, with_likely_names

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
    assert with_likely_names(text, KNOWN, language) == read


@given(st.text(), st.sampled_from(list(BEFORE_NAMES)))
def test_only_first_letters_change_and_only_their_case(text: str, language: str) -> None:
    read = with_likely_names(text, KNOWN, language)
    assert len(read) == len(text)
    assert all(a == b or a.upper() == b or a.title() == b for a, b in zip(text, read, strict=True))
    assert with_likely_names(read, KNOWN, language) == read
