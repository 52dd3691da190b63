"""Lessons as notebooks, slides and a page: every block is there, and nothing is loaded from elsewhere."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import html5lib
import nbformat
import pytest

from regard.course.lessons.export import chosen_numbers, export_lessons
from regard.course.lessons.handout import handout
from regard.course.lessons.lesson import Guess, Lesson, Listing, QuotedCode
from regard.course.lessons.load import lesson, lessons
from regard.course.lessons.notebook import notebook, session_cells
from regard.course.lessons.slides import slides
from regard.errors import InputError
from support import Call

each = pytest.mark.parametrize("one", lessons(), ids=lambda one: one.name)


# ── notebooks ────────────────────────────────────────────────────────────────────────────────────────────────────────


@each
def test_a_notebook_is_valid_and_complete(one: Lesson) -> None:
    made: Any = nbformat.reads(notebook(one), as_version=4)
    nbformat.validate(made)
    everything = "\n".join(cell.source for cell in made.cells)
    for exercise in one.exercises:
        assert exercise.question.strip() in everything or "](" in exercise.question
    for block in one.blocks:
        if isinstance(block, Guess | QuotedCode):
            assert (block.text if isinstance(block, QuotedCode) else block.question) in everything
    commands = [block.text for block in one.blocks if isinstance(block, Listing) and block.kind == "console"]
    assert [cell.source for cell in made.cells if cell.source.startswith("!")] == [
        f"!{text.splitlines()[0].removeprefix('$ ')}" for text in commands
    ]
    texts = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.search(r"\]\((?!https?://|\d\d-[a-z-]+\.ipynb\))", texts)  # a link leads to a notebook or out


@each
def test_the_python_of_a_notebook_can_be_compiled(one: Lesson) -> None:
    for cell in json.loads(notebook(one))["cells"]:
        if cell["cell_type"] == "code" and not cell["source"].startswith("!"):
            compile(cell["source"], one.name, "exec")


def test_the_cells_of_a_notebook_run_and_show_their_outputs() -> None:
    """Of lesson 12, which needs no model; docs/course are run as a whole by `make test-course`."""
    names: dict[str, Any] = {}
    checked = 0
    for cell in json.loads(notebook(lesson(12)))["cells"]:
        if cell["cell_type"] != "code" or cell["source"].startswith("!"):
            continue
        out = io.StringIO()
        *body, last = cell["source"].splitlines()
        shown = [output for output in cell["outputs"] if output["output_type"] == "execute_result"]
        with contextlib.redirect_stdout(out):
            if shown:
                exec("\n".join(body), names)
                assert shown[0]["data"]["text/plain"] == repr(eval(last, names))
            else:
                exec(cell["source"], names)
        if not shown and cell["outputs"]:
            assert out.getvalue().rstrip() == cell["outputs"][0]["text"].rstrip()
        checked += bool(cell["outputs"])
    assert checked > 3


def test_a_session_is_divided_where_it_prints() -> None:
    loop = ">>> for b in 'xy':\n...     print(b)\nx\ny\n"
    fails = ">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: x\n"
    cells = [*session_cells(f">>> a = 1\n>>> a\n1\n{loop}{fails}>>> c = 2")]
    assert [cell["source"] for cell in cells] == ["a = 1\na", "for b in 'xy':\n    print(b)", "1 / 0", "c = 2"]
    assert cells[0]["outputs"][0]["data"] == {"text/plain": "1"}
    assert cells[1]["outputs"][0]["text"] == "x\ny"
    assert cells[2]["metadata"] == {"tags": ["raises-exception"]}
    assert cells[3]["outputs"] == []


# ── slides, and a page ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("make", [slides, handout])
def test_a_document_is_whole_and_loads_nothing(make: Any) -> None:
    text = make(lessons())
    html5lib.HTMLParser(strict=False).parse(text)
    for one in lessons():
        assert f'id="lesson-{one.number}"' in text
    body = re.sub(r"<(script|style)>.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"<(img|link|iframe|script|object)\b", body)
    assert re.search(r"default-src 'none'", text)
    targets = set(re.findall(r'href="([^"]*)"', body))
    assert all(target.startswith(("https://", "http://")) or target[1:] in text for target in targets)
    assert "#/lesson" not in body
    answers = len([block for one in lessons() for block in one.blocks if isinstance(block, Guess)])
    exercises = sum(len(one.exercises) for one in lessons())
    assert len(re.findall(r"<details>|answer fragment", body)) == answers + exercises


def test_a_link_to_a_lesson_that_is_not_exported_is_text() -> None:
    assert 'href="#lesson-' not in handout([lesson(4)]).replace('href="#lesson-4"', "")


# ── the files ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_writes_files(call: Call, tmp_path: Path) -> None:
    code, out, _ = call("course", "export", "--as", "notebook", "--lessons", "2,12", "--out", tmp_path / "n")
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "n").iterdir()) == ["02-bottleneck.ipynb", "12-bleu.ipynb"]
    assert out.count("\n") == 2
    code, out, _ = call("course", "export", "--as", "html", "--lessons", "3", "--out", tmp_path / "a" / "b.html")
    assert (code, (tmp_path / "a" / "b.html").read_text("utf-8")) == (0, handout([lesson(3)]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "pdf"], "invalid value for '--as'"),
        ([], "missing option '--as'"),
        (["--as", "html", "--lessons", "13"], 'lessons are chosen like 4 or 1-3,12, from 1 to 12, but not "13"'),
        (["--as", "html", "--out", "."], "html is one file, but . is a folder; give a name such as course.html"),
    ],
)
def test_what_cannot_be_written_is_one_line(words: list[str], said: str, call: Call) -> None:
    code, _, err = call("course", "export", *words)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err


def test_notebooks_need_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="notebooks are written into a folder"):
        export_lessons([lesson(1)], "notebook", tmp_path / "file")


@pytest.mark.parametrize("given", ["", "0", "13", "3-2", "a", "1-", "-1", "1,,2", "²"])
def test_lessons_that_are_not_chosen_well(given: str) -> None:
    with pytest.raises(InputError, match="lessons are chosen like"):
        chosen_numbers(given, 12)
