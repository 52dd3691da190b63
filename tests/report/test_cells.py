"""Text in terminal cells: nothing too wide, nothing that acts."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from maps import WORD
from regard.report.cells import cell_len, one_line, shorten, shorten_middle, wrap_cells


def test_long_sentences_are_wrapped_then_cut() -> None:
    assert wrap_cells("aa bb cc", 5) == ["aa bb", "cc"]
    assert wrap_cells("aa bbbbbbb c", 5) == ["aa", "bbbbb", "bb c"]
    assert wrap_cells("猫猫猫猫", 5) == ["猫猫", "猫猫"]
    assert wrap_cells("aa bb cc dd", 2, most=3) == ["aa", "bb", "c…"]
    assert wrap_cells("", 5) == [""]


def test_what_is_cut_and_what_acts() -> None:
    assert shorten_middle("猫" * 10, 6) == "猫…猫"
    assert one_line("a\x1b[31m\u00a0b\tc") == "a\ufffd[31m b c"


@example("<❤️", 2)
@example("<<<", 2)
@given(WORD, st.integers(1, 12))
def test_a_shortened_text_fits(word: str, cells: int) -> None:
    for shown in (shorten(word, cells), shorten_middle(word, cells)):
        assert cell_len(shown) <= cells
        assert "\x1b" not in shown
