"""Words whatever the spelling, and hashes of runs of them, against their definitions."""

from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.data.key_words import BASE, BITS, HashedLines, contains, key_words, word_hash

LINES = st.lists(st.lists(st.sampled_from("abcde"), max_size=9), max_size=6)


@given(st.text("aB9 _-'’éßİ²ⅳ。\u00a0\u2028ǆ٣", max_size=12))
def test_words_are_the_alphanumeric_runs(text: str) -> None:
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(c if c.isalnum() else " " for c in folded)
    assert key_words(text) == (spaced.split() or text.split())


def run_hash(words: list[str]) -> int:
    return sum(word_hash(word) * pow(BASE, k) for k, word in enumerate(words)) % BITS


@given(LINES)
def test_hashes_of_runs_are_those_of_the_definition(lines: list[list[str]]) -> None:
    hashed = HashedLines.of(lines)
    assert hashed.whole().tolist() == [run_hash(line) for line in lines]
    for n, (hashes, line) in enumerate(hashed.runs(4), start=1):
        runs = [(run_hash(words[i : i + n]), at) for at, words in enumerate(lines) for i in range(len(words) - n + 1)]
        assert list(zip(hashes.tolist(), line.tolist(), strict=True)) == runs


@given(st.sets(st.integers(0, 20)), st.lists(st.integers(0, 20)))
def test_contains(some: set[int], wanted: list[int]) -> None:
    found = contains(np.array(sorted(some), dtype=np.uint64), np.array(wanted, dtype=np.uint64))
    assert found.tolist() == [number in some for number in wanted]
