"""Cutting word by word against the tokenizer's own answer for the whole line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.metrics.ngrams import TokenEncoder, encoder_for, tokenizer, tokens_of

MARKS = list(".,;:!?-'\"()[]{}<>&@#$%^*_+=/\\|~`«—…。！€№½²٣")
WORDS = ["1", "28", "3.5", "a", "Don't", "&quot;", "&amp;lt;", "<skipped>", "x-<skipped>", "猫", "ｆ", "Σ", "ΑΣ", "İ"]
SPACES = [" ", "  ", "\t", "\u00a0", "\u2028", "\u3000", "\x1c", "\x85", "\ufeff", "\u200b", "\ue000", "\r"]
LINE = st.lists(st.sampled_from(MARKS + WORDS + SPACES), max_size=14).map("".join) | st.text(max_size=12)


def decoded(encoder: TokenEncoder, lines: list[str]) -> list[list[str]]:
    found = encoder.encode(lines)
    names = {number: token for token, number in encoder._token_numbers.items()}
    ends = np.cumsum(found.lengths).tolist()
    return [[names[t] for t in found.flat[end - n : end]] for end, n in zip(ends, found.lengths.tolist(), strict=True)]


@settings(max_examples=100, deadline=None)
@given(st.lists(LINE, max_size=6), st.sampled_from(["13a", "intl", "zh", "char", "none"]), st.booleans())
def test_words_are_cut_as_in_their_line(lines, tokenize, lowercase):
    encoder = TokenEncoder(tokenize, lowercase)
    expected = [tokens_of(line, tokenize, lowercase) for line in lines]
    assert decoded(encoder, lines) == expected
    assert decoded(encoder, lines[::-1]) == expected[::-1]  # known words are remembered as they were


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
@pytest.mark.parametrize("line", ["two-\nlines", "two\nlines", "1\n.2", "\n", "\n.", "end-\n"])
def test_a_line_that_holds_a_line_end(tokenize, line):
    """No file gives such a line, but a program may."""
    lines = ["before.", line, "(after"]
    assert decoded(TokenEncoder(tokenize), lines) == [tokens_of(some, tokenize) for some in lines]


@pytest.mark.parametrize("name", ["ja-mecab", "ko-mecab", "flores101", "flores200"])
def test_a_tokeniser_of_whole_lines_that_is_not_installed_says_so(name):
    """These need packages of their own, which the project does not install."""
    with pytest.raises(InputError, match=f'^tokenizer "{name}" needs something that is not installed: .*$'):
        tokenizer(name)


def test_a_tokeniser_of_whole_lines(monkeypatch):
    """Stood in for by one of ours, since those that there are need more than the project installs."""
    monkeypatch.setattr("regard.metrics.ngrams._WORD_BY_WORD", {"none"})
    assert decoded(TokenEncoder("13a"), ["One line.", "", " (two"]) == [["One", "line", "."], [], ["(", "two"]]


def test_words_are_remembered_up_to_a_limit(monkeypatch):
    encoder_for("none", False).encode(["a b c"])
    assert len(encoder_for("none", False)) >= 3
    monkeypatch.setattr("regard.metrics.ngrams.MOST_WORDS", 2)
    assert len(encoder_for("none", False)) == 0
