"""Layout: marks before lines, and paragraphs of wrapped text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text.layout import paragraphs, text_lines


@given(st.text() | st.text("a1.)->#\n\r\t ", max_size=30))
def test_a_line_is_marks_and_then_text(text: str) -> None:
    found = list(text_lines(text))
    assert [line.start for line in found] == [
        sum(len(line) for line in text.splitlines(keepends=True)[:n]) for n in range(len(found))
    ]
    for line in found:
        assert line.start <= line.text <= line.end
        assert line.text == line.end or not text[line.text].isspace()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", [["one", "two"], ["three"]]),
        ("- one\n  two\n- three", [["one", "two"], ["three"]]),
        ("> one\n> two\nthree", [["one", "two"], ["three"]]),
        ("# One\ntwo", [["One"], ["two"]]),
        ("one\n===\ntwo", [["one"], ["two"]]),
        ("the winter of\n48. Then", [["the winter of", "48. Then"]]),
        ("1. one\n2. two\nthree", [["one"], ["two", "three"]]),
        ("first:\n1. one", [["first:"], ["one"]]),
    ],
)
def test_paragraphs(text: str, expected: list[list[str]]) -> None:
    assert [[text[line.text : line.end] for line in block] for block in paragraphs(text)] == expected
