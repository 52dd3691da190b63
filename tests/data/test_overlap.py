"""Words whatever the spelling, and hashes of runs of them, against their definitions.

---

Which lines have something of held-out sentences, against the rule written out."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.overlap import (
    BASE,
    BITS,
    FEWEST,
    FIVE,
    LONG,
    SHARE,
    SPAN,
    HashedLines,
    HeldOutText,
    Overlap,
    contains,
    key_words,
    word_hash,
)

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


SENTENCE = st.lists(st.sampled_from(["a", "b", "c"]), max_size=16).map(" ".join)


def runs(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def overlap(held: list[str], line: str) -> Overlap:
    sentences, words = [s.split() for s in held if s], line.split()
    if words and words in sentences:
        return Overlap.SAME
    whole = {tuple(s) for s in sentences if SPAN <= len(s) < LONG} | {r for s in sentences for r in runs(s, LONG)}
    if any(run in whole for n in range(SPAN, LONG + 1) for run in runs(words, n)):
        return Overlap.INSIDE
    known, mine = {r for s in sentences for r in runs(s, FIVE)}, runs(words, FIVE)
    near = len(mine) >= FEWEST and sum(run in known for run in mine) >= SHARE * len(mine)
    return Overlap.NEAR if near else Overlap.NONE


@given(st.lists(SENTENCE, max_size=4), st.lists(SENTENCE, max_size=4))
def test_overlaps_are_those_of_the_rule(held: list[str], lines: list[str]) -> None:
    lines = [*lines, *(f"a {text} b" for text in held)]  # so that some are found inside
    assert HeldOutText.of(held).judge(lines) == [overlap(held, line) for line in lines]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ONE two, three - four five six seven eight nine ten", Overlap.SAME),
        ("So: one two three four five six seven eight nine ten!", Overlap.INSIDE),
        ("one two three four five six seven eight nine eleven", Overlap.NEAR),
        ("one two three four five and then six seven eight nine ten", Overlap.NONE),
        ("", Overlap.NONE),
    ],
)
def test_kinds(line: str, kind: Overlap) -> None:
    assert HeldOutText.of(["One two three four five six seven eight nine ten.", ""]).judge([line]) == [kind]


def test_nothing_held_out() -> None:
    assert HeldOutText.of([]).judge(["a line", ""]) == [Overlap.NONE, Overlap.NONE]
