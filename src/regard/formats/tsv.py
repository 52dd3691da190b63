"""Tables whose cells are separated by tabs: the cells of the chosen columns are translated.

A column is chosen by its name in the first line, which is then a header, or by its number from 1, and then the first
line is translated like any other. A tab always separates; there is no quotation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.text import SpanDocument, TextSpan, kept_warning

LINE_OR_TAB = re.compile(r"[\t\r\n]+")


class ChosenColumns(NamedTuple):
    """The indices of the chosen columns, from 0, and whether the first line of the table is a header."""

    numbers: frozenset[int]
    has_header: bool


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    spans, kept = read_rows(source, chosen_columns(options.columns, source.text.partition("\n")[0]))
    return SpanDocument(source, spans, kept_warning(kept, "cell"))


def read_rows(source: Encoded, columns: ChosenColumns, first_line: int = 1) -> tuple[list[TextSpan], int]:
    """Reads the texts of whole lines of a table; also returns how many cells of the chosen columns have no letter."""
    spans: list[TextSpan] = []
    start, kept = 0, 0
    for number, line in enumerate(source.text.split("\n"), first_line):
        place = start
        for column, cell in enumerate(line.split("\t")):
            text = cell.removesuffix("\r")
            if column in columns.numbers and text and not (number == 1 and columns.has_header):
                if has_letter(text):
                    segment = Segment(text, place=f"line {number}, column {column + 1}")
                    spans.append(TextSpan(place, place + len(text), [segment], written))
                else:
                    kept += 1
            place += len(cell) + 1
        start += len(line) + 1
    return spans, kept


def written(placed: Sequence[PlacedSegment]) -> str:
    return LINE_OR_TAB.sub(" ", placed[0].text)


def chosen_columns(columns: tuple[str, ...], first_line: str) -> ChosenColumns:
    """Finds the chosen columns by the first line of the table.

    >>> chosen_columns(("text",), "id\\ttext")
    ChosenColumns(numbers=frozenset({1}), has_header=True)
    """
    header = first_line.removesuffix("\r").split("\t")
    names = [column for column in columns if column in header]
    for column in columns or ("",):
        if column not in header and not (
            column.isascii() and column.isdecimal() and 1 <= int(column[:9]) <= len(header)
        ):
            shown = ", ".join(f"{number} ({name[:30]})" for number, name in enumerate(header[:20], 1))
            given = f"{column!r} is none of them" if column else "none was chosen"
            raise InputError(f"columns must name columns of the table, but {given}; there are: {shown}")
    return ChosenColumns(frozenset(header.index(c) if c in header else int(c) - 1 for c in columns), bool(names))
