"""One table in three forms."""

from __future__ import annotations

from rich.cells import cell_len

from regard.report.table import Markup, Table

TABLE = Table(["system", "BLEU", "note"], [["a|b", "1.25", "<b>"], ["猫", "100.00", "x\x1b[2J"]], left=(0, 2))


def test_text_lines_up_in_cells() -> None:
    lines = TABLE.text().split("\n")
    assert lines == ["system    BLEU  note", "a|b       1.25  <b>", "猫      100.00  x\ufffd[2J"]
    assert {cell_len(line.split("  ")[0]) <= 6 for line in lines} == {True}


def test_a_narrow_text_loses_nothing() -> None:
    table = Table(["name", "what"], [["one", "a rather long cell that does not fit"]], left=(0, 1))
    narrow = table.text(24)
    assert max(map(len, narrow.split("\n"))) <= 24
    assert " ".join(narrow.split()).replace("one ", "", 1) == "name what a rather long cell that does not fit"


def test_markdown_has_as_many_cells_in_every_row() -> None:
    lines = TABLE.markdown().split("\n")
    assert lines[1] == "| --- | --: | --- |"
    assert {line.replace("\\|", "").count("|") for line in lines} == {4}
    assert "a\\|b" in lines[2]


def test_html_escapes_all_but_markup() -> None:
    html = Table(["<i>", "n"], [["<b>", Markup("<code>1</code>")]]).html()
    assert "<td>&lt;b&gt;</td>" in html
    assert "<th>&lt;i&gt;</th>" in html
    assert '<td class="n"><code>1</code></td>' in html
    assert "\x1b" not in TABLE.html()


def test_no_rows_are_a_header() -> None:
    assert Table(["a", "b"], []).text() == "a  b"
