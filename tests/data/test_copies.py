"""What a translation copies: the same on both sides, and the rest of the pair as it was."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.copies import with_emoji, with_list_mark, with_other_numbers, with_placeholder
from regard.text.layout import after_list_marks
from regard.text.protected_spans import protected_spans

SOME = st.lists(
    st.sampled_from(["Tom", "a", "1,250", "1 250", "98", "7", "10:30", "3rd", "21st", "1.5", "x2"]), max_size=9
)


@given(SOME, SOME, st.integers(0, 99))
def test_other_numbers_are_the_same_on_both_sides(ours: list[str], theirs: list[str], seed: int) -> None:
    src, tgt = " . ".join(ours), " . ".join(theirs)
    found = with_other_numbers(src, tgt, random.Random(seed))
    for before, after in zip((src, tgt), found, strict=True):
        assert re.sub("[0-9]", "0", after) == re.sub("[0-9]", "0", before)
    if sorted(ours) == sorted(theirs):
        assert sorted(found[0].split(" . ")) == sorted(found[1].split(" . "))


@pytest.mark.parametrize("text", ["21st", "10:30", "1.5 million", "7 cats", "x2", "03/04/2010", "1999-2000", "12.30pm"])
def test_numbers_that_grammar_depends_on_stay(text: str) -> None:
    assert all(with_other_numbers(text, text, random.Random(seed)) == (text, text) for seed in range(20))


def test_numbers_of_one_side_stay() -> None:
    src, tgt = "In 1998 there were 12, 12.", "En 1998 il y en avait 12."
    found = {with_other_numbers(src, tgt, random.Random(seed)) for seed in range(50)}
    assert len(found) > 40
    assert all(a.endswith("there were 12, 12.") and b.endswith("il y en avait 12.") for a, b in found)
    assert all(a[3:7] == b[3:7] and a[3] != "0" for a, b in found)


def test_a_placeholder_stands_for_what_both_sides_have() -> None:
    for seed in range(60):
        src, tgt = with_placeholder("I met Tom.", "J'ai vu Tom.", random.Random(seed))
        assert src[:6] + tgt[:8] == "I met J'ai vu "
        assert src[6:] == tgt[8:]
        assert src.endswith(".")
    for seed in range(60):
        src, tgt = with_placeholder("I see.", "Je vois.", random.Random(seed))
        assert src.replace("I see", "Je vois") == tgt


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_emoji_and_list_marks_are_what_the_translator_takes_for_such(seed: int) -> None:
    src, tgt = with_emoji("I see.", "Je vois.", random.Random(seed))
    assert src.replace("I see", "Je vois") == tgt
    assert {span.kind for span in protected_spans(src)} == {"emoji"} or ".:" in src or ".;" in src or ".<" in src
    src, tgt = with_list_mark("I see.", "Je vois.", random.Random(seed))
    assert src.replace("I see", "Je vois") == tgt
    assert src[after_list_marks(src, 0, len(src)) :] == "I see."
