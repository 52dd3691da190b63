"""Tables as text, CSV and TSV: cells are translated in place; delimiters, quotation marks and line ends stay.

Without a choice of columns, every cell that is prose is translated, labels in the first row too. A column is chosen by
its name in the first row, which is then a header and stays, or by its number from 1; all its cells with a letter are
translated.

CSV (RFC 4180): a cell in quotation marks may contain delimiters, line breaks and doubled quotation marks. The delimiter
is the comma, semicolon, tab or bar that divides the first rows most regularly. TSV: a tab or line break always ends a
cell, and a quotation mark is text, unless a pair of them encloses the cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.messages import is_prose
from regard.formats.text import SpanDocument, TextSpan, kept_warning

TABLES = ("csv", "tsv")  # the formats that are read here
DELIMITERS = ",;\t|"  # of CSV
SAMPLE_ROWS, MAX_SAMPLE = 50, 1 << 16  # rows and characters from which the delimiter is determined
MAX_ROW_BYTES = 16 << 20  # of a CSV row; a longer one is a quotation mark that was never closed
LINE_OR_TAB = re.compile(r"[\t\r\n]+")


class TableStyle(NamedTuple):
    """How a table is written."""

    delimiter: str
    quoting: bool  # whether quotation marks enclose cells as in CSV


TSV = TableStyle("\t", quoting=False)


class Cell(NamedTuple):
    """Characters `start` to `end` of a table, without the quotation marks that enclose them."""

    row: int  # from 0
    column: int  # from 0
    start: int
    end: int
    quoted: bool


class ChosenColumns(NamedTuple):
    """The indices of the chosen columns, from 0, or None for every cell that is prose; and whether the first row is a
    header, which stays."""

    numbers: frozenset[int] | None
    has_header: bool


def read_csv(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    return _read(source, csv_style(source.text), options.columns)


def read_tsv(data: bytes, options: FormatOptions) -> SpanDocument:
    return _read(decode(data), TSV, options.columns)


def _read(source: Encoded, style: TableStyle, columns: tuple[str, ...]) -> SpanDocument:
    spans, kept = read_rows(source, style, chosen_columns(columns, source.text, style))
    return SpanDocument(source, spans, kept_warning(kept, "cell"))


def read_rows(
    source: Encoded, style: TableStyle, columns: ChosenColumns, first_line: int = 1
) -> tuple[list[TextSpan], int]:
    """Reads the texts of whole rows, of which the first has the number `first_line`. Also returns how many cells were
    left out: those of chosen columns without a letter, or cells with letters that are not prose."""
    spans: list[TextSpan] = []
    kept, by_prose = 0, columns.numbers is None
    for cell in cells(source.text, style, first_line):
        row, text = cell.row + first_line, source.text[cell.start : cell.end]
        skipped = columns.numbers is not None and cell.column not in columns.numbers
        if not text or skipped or (row == 1 and columns.has_header):
            continue
        if cell.quoted:
            text = text.replace('""', '"')
        if is_prose(text) if by_prose else has_letter(text):
            place = f"{'row' if style.quoting else 'line'} {row}, column {cell.column + 1}"
            write = partial(written, style, cell.quoted)
            spans.append(TextSpan(cell.start, cell.end, [Segment(text, place=place)], write))
        else:
            kept += not by_prose or has_letter(text)
    return spans, kept


def written(style: TableStyle, quoted: bool, placed: Sequence[PlacedSegment]) -> str:
    """The content of a cell; if it was not quoted but must be, with quotation marks."""
    text = placed[0].text if style.quoting else LINE_OR_TAB.sub(" ", placed[0].text)
    doubled = text.replace('"', '""')
    if quoted:
        return doubled
    return f'"{doubled}"' if style.quoting and set(text) & {style.delimiter, '"', "\r", "\n"} else text


@cache
def _cell_pattern(style: TableStyle) -> re.Pattern[str]:
    """A cell and its end; the group "open" is a quotation mark that is not closed."""
    mark = re.escape(style.delimiter)
    if style.quoting:
        plain, inner, end = rf"[^{mark}\r\n]*+", '[^"]++', rf"{mark}|\r\n|[\r\n]|\Z"
        quoted = rf'"(?P<quoted>(?:{inner}|"")*+)"(?P<rest>{plain})|(?P<open>")'
    else:
        plain, inner, end = rf"(?:[^{mark}\r\n]++|\r(?!\n|\Z))*+", rf'[^"{mark}\r\n]++', rf"{mark}|\r?\n|\r?\Z"
        quoted = rf'"(?P<quoted>(?:{inner}|"")*+)"(?P<rest>)(?={end})|(?P<open>(?!))'
    return re.compile(rf"(?:{quoted}|(?P<plain>{plain}))(?P<end>{end})?")


def cells(text: str, style: TableStyle, first_row: int = 1) -> Iterator[Cell]:
    """Yields the cells of a table, in order; a text after a closing quotation mark, which CSV does not have, belongs to
    no cell. Raises InputError for a quotation mark that is not closed.

    >>> [(cell.start, cell.end, cell.quoted) for cell in cells('a,"b, c",', TableStyle(",", quoting=True))]
    [(0, 1, False), (3, 7, True), (9, 9, False)]
    """
    match = _cell_pattern(style).match
    at = row = column = 0
    while at < len(text) or column:
        found = match(text, at)
        assert found is not None
        if found["open"]:
            raise never_closed(row + first_row)
        if not found["rest"]:
            quoted = found["quoted"] is not None
            yield Cell(row, column, *found.span("quoted" if quoted else "plain"), quoted)
        at, end = found.end(), found["end"]
        if end == style.delimiter:
            column += 1
        elif at == len(text):
            return
        else:
            row, column = row + 1, 0


# ── style and columns ─────────────────────────────────────────────────────────────────────────────────────────────────


def csv_style(text: str) -> TableStyle:
    """Finds the delimiter of a CSV table by its first rows: of those in the first row the one by which most rows have
    as many cells as the first, then the one that gives the most cells.

    >>> csv_style("id;text\\n1;One, two, three\\n").delimiter
    ';'
    """
    found: list[tuple[int, int, TableStyle]] = []
    if len(text) > MAX_SAMPLE:
        text = text[: text.rfind("\n", 0, MAX_SAMPLE) + 1] or text[:MAX_SAMPLE]
    for delimiter in DELIMITERS:
        style = TableStyle(delimiter, quoting=True)
        counts = list(islice(_row_lengths(text, style), SAMPLE_ROWS))
        if counts and counts[0] > 1:
            found.append((counts.count(counts[0]), counts[0], style))
    return max(found, key=lambda one: one[:2], default=(0, 0, TableStyle(",", quoting=True)))[2]


def _row_lengths(text: str, style: TableStyle) -> Iterator[int]:
    """Yields the numbers of cells of the rows; a row that is cut off is left out."""
    row = last = 0
    try:
        for cell in cells(text, style):
            if cell.row != row:
                yield last + 1
                row = cell.row
            last = cell.column
    except InputError:
        return
    if text:
        yield last + 1


def chosen_columns(columns: tuple[str, ...], text: str, style: TableStyle) -> ChosenColumns:
    """Finds the chosen columns by the first row of a table.

    >>> chosen_columns(("text",), "id\\ttext\\n", TSV)
    ChosenColumns(numbers=frozenset({1}), has_header=True)
    """
    if not columns:
        return ChosenColumns(None, has_header=False)
    header: list[str] = []
    for cell in cells(text, style):
        if cell.row:
            break
        name = text[cell.start : cell.end]
        header.append(name.replace('""', '"') if cell.quoted else name)
    for column in columns:
        if column not in header and not (
            column.isascii() and column.isdecimal() and 1 <= int(column[:9]) <= len(header)
        ):
            shown = ", ".join(f"{number} ({name[:30]})" for number, name in enumerate(header[:20], 1))
            wrong = f"columns must name columns of the table, but {column!r} is none of them; there are: {shown}"
            raise InputError(wrong, parameter="column")
    has_header = any(column in header for column in columns)
    return ChosenColumns(frozenset(header.index(c) if c in header else int(c) - 1 for c in columns), has_header)


# ── rows of several lines ─────────────────────────────────────────────────────────────────────────────────────────────


def table_style(format: str, lines: Iterable[bytes]) -> TableStyle:
    """Returns the style of a table of the format "csv" or "tsv" from its lines."""
    return csv_style(decode(b"".join(islice(lines, SAMPLE_ROWS))).text) if format == "csv" else TSV


def joined_rows(lines: Iterable[bytes], style: TableStyle) -> Iterator[bytes]:
    """Joins the lines of a table into rows: in CSV a cell in quotation marks may continue in the next line.

    >>> list(joined_rows([b'1,"a\\n', b'b"\\n', b"2,c\\n"], TableStyle(",", quoting=True)))
    [b'1,"a\\nb"\\n', b'2,c\\n']
    """
    held: list[bytes] = []
    size, number = 0, 1
    for line in lines:
        held.append(line)
        size += len(line)
        # inside quotation marks, a line reads like a cell that begins with one
        inside = '"' if len(held) > 1 else ""
        if style.quoting and (inside or b'"' in line) and _is_open(inside + line.decode("latin-1"), style):
            if size > MAX_ROW_BYTES:
                raise never_closed(number)
            continue
        yield b"".join(held)
        held, size, number = [], 0, number + 1
    if held:
        raise never_closed(number)


def _is_open(line: str, style: TableStyle) -> bool:
    """Whether a line ends inside quotation marks."""
    try:
        for _ in cells(line, style):
            pass
    except InputError:
        return True
    return False


def never_closed(row: int) -> InputError:
    return InputError(f"row {row} has a cell that begins with a quotation mark and never ends; close or double it")
