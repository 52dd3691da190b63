"""Tables whose cells are separated by tabs: the cells of the chosen columns are translated.

A column is chosen by its name in the first line, which is then a header, or by its number from 1, and then the first
line is translated like any other. A tab always separates; there is no quotation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import decode
from regard.formats.flow import has_letter
from regard.formats.spans import SpanDocument, TextSpan, kept_warning

LINE_OR_TAB = re.compile(r"[\t\r\n]+")


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    lines = source.text.split("\n")
    header = lines[0].removesuffix("\r").split("\t")
    numbers, has_header = chosen_columns(options.columns, header)
    spans: list[TextSpan] = []
    start, kept = 0, 0
    for number, line in enumerate(lines, 1):
        place = start
        for column, cell in enumerate(line.split("\t")):
            text = cell.removesuffix("\r")
            if column in numbers and text and not (number == 1 and has_header):
                if has_letter(text):
                    segment = Segment(text, place=f"line {number}, column {column + 1}")
                    spans.append(TextSpan(place, place + len(text), [segment], written))
                else:
                    kept += 1
            place += len(cell) + 1
        start += len(line) + 1
    return SpanDocument(source, spans, kept_warning(kept, "cell"))


def written(placed: Sequence[PlacedSegment]) -> str:
    return LINE_OR_TAB.sub(" ", placed[0].text)


def chosen_columns(columns: tuple[str, ...], header: list[str]) -> tuple[set[int], bool]:
    """The columns' numbers from 0, and whether the first line is a header.

    >>> chosen_columns(("text",), ["id", "text"]), chosen_columns(("1",), ["id", "text"])
    (({1}, True), ({0}, False))
    """
    names = [column for column in columns if column in header]
    for column in columns or ("",):
        if column not in header and not (
            column.isascii() and column.isdecimal() and 1 <= int(column[:9]) <= len(header)
        ):
            shown = ", ".join(f"{number} ({name[:30]})" for number, name in enumerate(header[:20], 1))
            given = f"{column!r} is none of them" if column else "none was chosen"
            raise InputError(f"columns must name columns of the table, but {given}; there are: {shown}")
    return {header.index(c) if c in header else int(c) - 1 for c in columns}, bool(names)
