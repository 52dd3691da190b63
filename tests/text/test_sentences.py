"""Sentences: layout is kept exactly, and what ends a sentence is decided as a reader would."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regard.text.layout import in_one_line
from regard.text.sentences import sentence_spans

LANGUAGES = ("en", "fr", "de", "es", "it", "ja", "zh", "ru", "xx", "pt-BR")
# What rules look at is drawn more often than chance would
WORDS = [
    "Mr. ",
    "z. B. ",
    "3. ",
    "Oktober ",
    "I. ",
    "U.S. ",
    "etc. ",
    "p.m. ",
    "The ",
    "he ",
    "Tom ",
    "said ",
    "iPhone ",
]
LAYOUT = ["> ", "- ", "* ", "1. ", "a) ", "## ", "---", "[1]", "\r\n", "... ", "{x}", "https://a.b/c ", ":) "]
SIGNS = list("#.!?… 。！？」「“”«»\"'()\n\r\u2028\x0b\x0c\x1c\x85\t\u00a0\x00\u0301\ufffc😀猫はとaZ9ß")
PIECES = st.sampled_from(WORDS + LAYOUT + SIGNS)
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)


def cut(text: str, language: str = "en", wrapped: bool = False) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, language, wrapped=wrapped)]


@given(TEXTS, st.sampled_from(LANGUAGES), st.booleans())
def test_spans_are_in_order_and_hold_no_space_at_their_ends(text: str, language: str, wrapped: bool) -> None:
    spans = sentence_spans(text, language, wrapped=wrapped)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip() != ""


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_a_line_break_is_in_no_sentence(text: str, language: str) -> None:
    assert all(len(sentence.splitlines()) == 1 for sentence in cut(text, language))


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_no_letter_and_no_number_is_left_out(text: str, language: str) -> None:
    """Between the sentences there are spaces, line breaks and the marks of lists, which are short."""
    inside = "".join(cut(text, language))
    letters = sum(map(str.isalpha, text)) - sum(map(str.isalpha, inside))
    assert letters <= 6 * 3 * (text.count(".") + text.count(")"))


@given(TEXTS, st.sampled_from(LANGUAGES), st.booleans())
def test_a_sentence_is_read_in_one_line(text: str, language: str, wrapped: bool) -> None:
    for sentence in cut(text, language, wrapped):
        assert len(in_one_line(sentence).splitlines()) == 1
