"""Tables with a header, written as terminal text, Markdown or HTML.

    table = Table(["model", "BLEU"], [["rnn", "20.13"], ["transformer", "27.30"]])
    table.text()          one string with aligned columns, also for wide scripts
    table.text(80)        the same in at most 80 cells: long cells are broken into lines
    table.markdown()      | model | BLEU | …
    table.html()          <table>…, every cell escaped
    table.rich()          a renderable of rich

Columns in `left` hold words and are left-aligned; the others hold numbers and are right-aligned. A cell is text; a cell
that is HTML already is a `Markup`, which `html()` does not escape (do not use it for the other forms).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from regard.report.cells import plain_text, visible
from regard.report.text import printable

if TYPE_CHECKING:
    import rich.table

GAP = 2  # cells between columns
ANY_WIDTH = 100_000  # terminal cells; no line is wrapped


class Markup(str):
    """HTML that is written unchanged. The caller must have escaped untrusted text in it."""


@dataclass(frozen=True)
class Table:
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)  # columns of words

    def text(self, width: int | None = None) -> str:
        """
        >>> print(Table(["", "lines"], [["0–9", "12"], ["猫", "3"]]).text())
             lines
        0–9     12
        猫       3
        """
        return plain_text(self.rich(), width or ANY_WIDTH).rstrip("\n")

    def rich(self) -> rich.table.Table:
        from rich.table import Table as RichTable
        from rich.text import Text

        made = RichTable(box=None, pad_edge=False, padding=(0, GAP // 2), header_style="bold")
        for number, name in enumerate(self.header):
            made.add_column(Text(visible(name)), justify="left" if number in self.left else "right", overflow="fold")
        for row in self.rows:
            made.add_row(*(Text(visible(cell)) for cell in row))
        return made

    def markdown(self) -> str:
        """
        >>> print(Table(["a", "b"], [["x|y", "1"]]).markdown())
        | a | b |
        | --- | --: |
        | x\\|y | 1 |
        """
        rule = ["---" if number in self.left else "--:" for number in range(len(self.header))]
        lines = [map(_markdown_cell, self.header), rule, *(map(_markdown_cell, row) for row in self.rows)]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def html(self) -> str:
        """
        >>> Table(["a"], [["<b>"], [Markup("<b>x</b>")]]).html()
        '<table>\\n<tr><th>a</th></tr>\\n<tr><td>&lt;b&gt;</td></tr>\\n<tr><td><b>x</b></td></tr>\\n</table>'
        """
        kinds = ["" if number in self.left else ' class="n"' for number in range(len(self.header))]

        def line(tag: str, cells: Sequence[str]) -> str:
            made = (f"<{tag}{kind}>{_html_cell(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
            return f"<tr>{''.join(made)}</tr>"

        return "\n".join(["<table>", line("th", self.header), *(line("td", row) for row in self.rows), "</table>"])


def _markdown_cell(cell: str) -> str:
    return printable(cell).replace("|", "\\|")


def _html_cell(cell: str) -> str:
    return cell if isinstance(cell, Markup) else escape(printable(cell))
