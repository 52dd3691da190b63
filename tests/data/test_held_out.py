"""Which lines have something of held-out sentences, against the rule written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.held_out import FEWEST, FIVE, LONG, SHARE, SPAN, HeldOutText, Overlap

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
