"""One delivery: the terminal or a file, whole, by its suffix."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.errors import InputError
from regard.report.deliver import FORMATS, NUMBERS, Output, check_out, deliver
from regard.report.drawing import Drawing, Label
from regard.report.page import page, picture
from regard.report.table import Table
from support import need_font

DRAWING = Drawing(99, 40, (Label(5, 20, "a"),), "title")
WHOLE = Output(
    text=lambda: Table(["a"], [["1"]]).rich(),
    data=lambda: {"a": 1},
    markdown=lambda: "# a\n",
    page=lambda: page("a", picture(DRAWING)),
    drawing=lambda: DRAWING,
    dot=lambda: "digraph {}\n",
)
BEGINS = {
    ".svg": b"<svg",
    ".html": b"<!doctype html>",
    ".json": b"{",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF-",
    ".md": b"# a",
    ".txt": b"a\n1\n",
    ".dot": b"digraph",
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_is_written(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if suffix in (".png", ".pdf"):
        need_font()
    path = tmp_path / f"x{suffix}"
    deliver(WHOLE, path, above="above")
    assert path.read_bytes().startswith(BEGINS[suffix])
    assert capsys.readouterr() == ("above\n", f"regard: wrote {path}\n")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_only_the_form_that_is_asked_for_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> str:
        raise AssertionError

    deliver(Output(text=never, data=lambda: [1]), tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == [1]
    deliver(Output(text=lambda: "shown\n", data=never), None)
    assert capsys.readouterr().out == "shown\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.pdf", r"x.pdf must end in .json, .txt, which says what is written; try x.json"),
        ("x.svg", r"must end in .json, .txt"),
        ("none/x.json", "is not a folder"),
        ("folder.json", "is a folder; name a file"),
    ],
)
def test_a_file_that_cannot_be_written_is_one_error_before_any_work(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match=message):
        check_out(tmp_path / name, NUMBERS)
    with pytest.raises(InputError, match=message):
        deliver(Output(text=lambda: "a", data=lambda: 1), tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["folder.json"]
