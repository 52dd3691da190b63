"""Sentences that are too long: every part fits, nothing is lost, and cuts are where a clause ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.clauses import clause_spans

WORDS = st.sampled_from(
    ["and", "because", "cat", "a", "  ", "one,", "two;", "so…", "猫、", "é", "e\u0301", "👩‍🚀", "\n"]
)


@given(st.text() | st.lists(WORDS, max_size=40).map(" ".join), st.integers(1, 30), st.sampled_from(["en", "fr", "xx"]))
def test_parts_fit_and_only_white_space_is_between_them(text: str, most: int, language: str) -> None:
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    spans = clause_spans(text, (start, end), lambda part: len(part) <= most, language)
    assert all(0 < stop - begin <= most for begin, stop in spans)
    assert not "".join(text[stop:begin] for (_, stop), (begin, _) in pairwise(spans)).strip()
    if start < end:
        assert (spans[0][0], spans[-1][1]) == (start, end)
        assert len(spans) <= 1 + 3 * (end - start) / most  # a part of a third is as short as they come on average


@pytest.mark.parametrize(
    ("most", "parts"),
    [
        (80, ["I came because you called; you were not there, and I left."]),
        (40, ["I came because you called;", "you were not there, and I left."]),
        (27, ["I came because you called;", "you were not there,", "and I left."]),
    ],
)
def test_clauses_come_first(most: int, parts: list[str]) -> None:
    text = parts[0] if len(parts) == 1 else " ".join(parts)
    spans = clause_spans(text, (0, len(text)), lambda part: len(part) <= most)
    assert [text[start:end] for start, end in spans] == parts


def test_parts_are_even() -> None:
    text = "one two three four five six seven eight nine ten"
    spans = clause_spans(text, (0, len(text)), lambda part: len(part) <= 40)
    assert [end - start for start, end in spans] == [23, 24]


@pytest.mark.parametrize("unit", ["a", "ab ", "猫", "e\u0301", "a, ", "\u0301", "👩‍🚀", "and "])
def test_work_is_linear_in_the_length(unit: str) -> None:
    """Few calls for each part, and none with a string much longer than what fits but the first."""
    text = (unit * (100_000 // len(unit))).strip()
    seen: list[int] = []

    def fits(part: str) -> bool:
        seen.append(len(part))
        return len(part) <= 300

    spans = clause_spans(text, (0, len(text)), fits)
    assert len(text) / 300 <= len(spans) <= 1.2 * len(text) / 300
    assert len(seen) <= 4 * len(spans) + 20
    assert max(seen[1:]) <= 600


def test_what_never_fits_is_cut_into_characters() -> None:
    assert clause_spans("ab c", (0, 4), lambda part: False) == [(0, 1), (1, 2), (3, 4)]
    assert clause_spans("", (0, 0), lambda part: False) == []
