"""What is printed: readable at every width, with and without colours, and never a row that cannot be true."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from regard.align.attention import View, WordAttention
from regard.explain.alignment import Trust
from regard.explain.grid import Grid, grid_of, row_problem
from regard.explain.render.terminal import Arrows, HeatMap, render

WORDS = WordAttention(
    ("The", "black", "cat"),
    ("Le", "chat", "noir"),
    np.array([[0.80, 0.05, 0.10], [0.02, 0.05, 0.93], [0.0, 1.0, 0.0]]),
    np.array([0.05, 0.0, 0.0]),
)


def mapped(*attention: object) -> Grid:
    return grid_of(WordAttention(*attention), View(0))  # type: ignore[arg-type]


MAP = grid_of(WORDS, View(0))


def printed(what: object, width: int = 80, **options: object) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, **options).print(what)  # type: ignore[arg-type]
    return out.getvalue().rstrip("\n").split("\n")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


def test_arrows():
    assert [line.rstrip() for line in printed(Arrows(MAP))] == [
        "Le   ← The   0.80 ██████▍",
        "chat ← cat   0.93 ███████▌",
        "noir ← black 1.00 ████████",
    ]


def test_arrows_say_when_the_end_of_the_sentence_got_more():
    lost = mapped(("a",), ("b",), np.array([[0.2]]), np.array([0.8]))
    assert "(EOS 0.80)" in printed(Arrows(lost))[0]


def test_digits_where_there_is_no_terminal():
    assert [line.rstrip() for line in printed(HeatMap(MAP))] == [
        "     The black cat",
        "Le    8    ·    1",
        "chat  ·    ·    9",
        "noir  ·    9    ·",
        "digits are tenths: 9 is 0.9 or more, · is under 0.1",
    ]


def test_headings_stand_upright_where_words_are_too_wide():
    assert [line.rstrip() for line in printed(HeatMap(MAP), width=12)][:8] == [
        "       b",
        "       l",
        "     T a c",
        "     h c a",
        "     e k t",
        "Le   8 · 1",
        "chat · · 9",
        "noir · 9 ·",
    ]


def test_too_narrow_for_a_map():
    wide = mapped(("w",) * 30, ("t",), np.full((1, 30), 1 / 30), np.zeros(1))
    assert printed(HeatMap(wide), width=40)[0].startswith("t ← w 0.03")


def test_colours_on_a_terminal():
    lines = printed(HeatMap(MAP), force_terminal=True, color_system="truecolor")
    assert "48;2;124;198;226" in lines[3]  # a weight of 1: the bright end of the dark scale
    assert "48;2;18;21;24" in lines[3]  # a weight of 0
    assert not any(character.isdigit() for character in lines[0])


def test_no_color_gives_digits_even_on_a_terminal(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    lines = printed(HeatMap(MAP), force_terminal=True, color_system="truecolor")
    assert "48;2" not in "".join(lines)
    assert "9" in lines[2]


def test_sixteen_colours_are_too_few():
    assert "9" in printed(HeatMap(MAP), force_terminal=True, color_system="standard")[2]


def test_caption_says_how_far_to_trust_it():
    assert grid_of(WORDS, View(1, None, "having-read"), Trust(0.123)).caption == (
        "layer 2 · mean of heads · having read · AER 12.3% · EOS mass 0.02"
    )
    assert "head 1 · predicting · AER not evaluated" in grid_of(WORDS, View(0, 0)).caption
    assert "EOS mass unknown" in mapped((), (), np.zeros((0, 0)), np.zeros(0)).caption
    for heat in (True, False):
        assert printed(render(MAP, heat=heat))[-1].startswith("layer 1 · mean of heads")


@pytest.mark.parametrize(
    ("row", "eos", "problem"),
    [
        ([np.nan, 0.5], 0.1, "NaN or infinity"),
        ([np.inf, 0.5], 0.1, "NaN or infinity"),
        ([0.5, 0.5], np.nan, "NaN or infinity"),
        ([0.9, 0.2], 0.0, "sums to 1.100"),
        ([0.5, 0.2], 0.1, "sums to 0.800"),
        ([0.5, 0.4], 0.2, "sums to 1.100"),
        ([1.2, -0.3], 0.0, "a weight is -0.300"),
    ],
)
def test_rows_that_cannot_be_true_are_not_drawn(row, eos, problem):
    assert problem in str(row_problem(np.array(row), eos))
    bad = mapped(("a", "b"), ("x", "y"), np.array([row, [0.5, 0.5]]), np.array([eos, 0.0]))
    for form in (HeatMap(bad), Arrows(bad)):
        text = printed(form)
        line = next(line for line in text if line.startswith("x"))
        assert problem in line
        assert "←" not in line
        assert any(line.startswith("y") and "not drawn" not in line for line in text)


def test_rounding_is_no_problem():
    assert row_problem(np.array([0.5, 0.5004])) is None


def test_control_characters_do_not_reach_the_terminal():
    hostile = mapped(("\x1b[2J", "[red]"), ("\x07", "\ud800"), np.full((2, 2), 0.5), np.zeros(2))
    for form in (HeatMap(hostile), Arrows(hostile)):
        text = "\n".join(printed(form))
        assert not {"\x1b", "\x07", "\ud800"} & set(text)
        assert "[" in text
        text.encode("utf-8")


WORD = st.text(st.sampled_from("abé猫😀ש\u0301ก็\x1b"), min_size=1, max_size=20)


@settings(max_examples=30, deadline=None)
@given(st.lists(WORD, max_size=8), st.lists(WORD, max_size=4), st.integers(24, 90), st.booleans())
def test_no_line_is_wider_than_the_terminal(sources, targets, width, colours):
    weights = np.random.default_rng(0).dirichlet(np.ones(len(sources) + 1), size=len(targets))
    found = mapped(tuple(sources), tuple(targets), weights[:, :-1], weights[:, -1])
    options = {"force_terminal": True, "color_system": "truecolor"} if colours else {}
    out = io.StringIO()
    console = Console(file=out, width=width, record=True, **options)
    console.print(HeatMap(found), Arrows(found))
    rows = console.export_text().split("\n")
    assert all(cell_len(line) <= width for line in rows)
