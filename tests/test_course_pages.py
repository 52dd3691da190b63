"""docs/course: every lesson quotes the source as it is, and shows what its commands print.

Commands are run by `make test-course`; the rest is checked with the other tests.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course_pages import BLOCK, COURSE, LESSONS, ROOT, Block, blocks, difference, quotes, run_lesson, same
from regard.course.claims.run import ALL

INDEX = COURSE / "README.md"
ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
IDS = [page.stem for page in LESSONS]
EVERY_PAGE = [INDEX, *LESSONS]


def table() -> list[list[str]]:
    """The rows of the table from the notes to the code."""
    text = INDEX.read_text(encoding="utf-8").partition("## From the notes to the code")[2]
    rows = [[cell.strip() for cell in row.split("|")] for row in ROW.findall(text)]
    return [row for row in rows if set("".join(row)) - set("-: ") and row[0] != "notes"]


@pytest.mark.course
@pytest.mark.parametrize("page", LESSONS, ids=IDS)
def test_what_a_lesson_shows_is_what_is_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("REGARD_ENGINE")  # the engine of a reader who types what is shown
    wrong = run_lesson(page)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", LESSONS, ids=IDS)
def test_quoted_code_is_in_the_source(page: Path) -> None:
    for block in blocks(page):
        assert block.file is None or quotes(block), f"not in {block.file}:\n{block.body}"


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_every_row_of_the_table_is_filled_and_true() -> None:
    rows = table()
    assert {row[0] for row in rows} == {"000", "001", "002", "003", "004"}
    for row in rows:
        assert len(row) == 5, row
        assert all(row), row
        for path in re.findall(r"`((?:src|tests|docs|benchmarks|recipes)/[^`]*)`", " ".join(row)):
            assert (ROOT / path).exists(), path
    text = INDEX.read_text(encoding="utf-8")
    known = {claim.name for claim in ALL}
    assert set(re.findall(r"--only ([\w-]+)", text)) <= known


def test_all_exercises_of_003_have_a_row() -> None:
    said = " ".join(row[1] for row in table() if row[0] == "003")
    assert re.findall(r"exercise (\d)", said) == ["1", "2", "3", "4", "5"]


# ------------------------------------------------------------------------------------------------ the checks themselves


def test_figures_have_a_tolerance_and_text_has_none() -> None:
    assert same("AER 8.8% at 0.123", "AER  8.8% at 0.125")
    assert not same("AER 8.8% at 0.123", "AER 8.8% at 0.126")
    assert same("under 1e-12, 1250.0", "under 1e-12, 1255.0")
    assert not same("3 heads", "4 heads")
    assert not same("chat 0.5", "chien 0.5")


def test_lines_that_are_left_out_may_be_anything_and_others_not() -> None:
    printed = "a\nb 0.50\nc\nd\n"
    assert difference("a\n…\nd\n", printed) is None
    assert difference("a\n…\n", printed) is None
    assert difference("a\nb 0.51\n…\n", printed) is None
    assert difference("…\nc\n", printed) == "this is not shown: d"
    assert difference("a\nc\n…\n", printed) == "a\nc"


def test_code_that_moved_or_changed_is_not_quoted() -> None:
    file = "src/regard/layers/attention.py"
    assert quotes(Block(file, "weights = scores.softmax(dim=-1)\nreturn weights @ v, weights\n"))
    assert not quotes(Block(file, "weights = scores.softmax(dim=-1)\nreturn weights\n"))
    assert not quotes(Block("src/regard/layers/scores.py", "weights = scores.softmax(dim=-1)\n"))
    assert not quotes(Block("src/regard/layers/moved.py", "weights = scores.softmax(dim=-1)\n"))
