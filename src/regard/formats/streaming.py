"""Documents of any size whose lines stand for themselves, read in stretches of whole lines: text, tables, rows.

What must be known of the whole document (which columns were chosen, whether it is pure ASCII) is found out first, by
`stretch_reader`. Then each stretch is a document of its own, and their translations one after another are the
translation of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from regard.formats import json, tsv
from regard.formats.document import Document, FormatOptions
from regard.formats.encoding import decode
from regard.formats.text import SpanDocument, TextDocument

Stretch = tuple[Document, int]  # what was read, and how many of the chosen texts have no letter and stay as they are


class StretchReader(Protocol):
    kept_name: ClassVar[str]  # what a text without a letter is called in messages

    def read(self, data: Any, first_line: int) -> Stretch: ...


@dataclass(frozen=True)
class TextStretches:
    kept_name: ClassVar[str] = "line"
    wrapped: bool

    def read(self, data: bytes, first_line: int) -> Stretch:
        return TextDocument(decode(data, first_line=first_line), self.wrapped), 0


@dataclass(frozen=True)
class TableStretches:
    kept_name: ClassVar[str] = "cell"
    columns: tsv.ChosenColumns

    def read(self, data: bytes, first_line: int) -> Stretch:
        source = decode(data, first_line=first_line)
        spans, kept = tsv.read_rows(source, self.columns, first_line)
        return SpanDocument(source, spans), kept


@dataclass(frozen=True)
class RecordStretches:
    kept_name: ClassVar[str] = "value"
    columns: tuple[str, ...]
    ascii_only: bool

    def read(self, data: bytes, first_line: int) -> Stretch:
        source = decode(data, first_line=first_line)
        spans, kept = json.read_records(source, self.columns, self.ascii_only, first_line)
        return SpanDocument(source, spans), kept


@dataclass(frozen=True)
class RowStretches:
    """Tables of rows, not lines."""

    kept_name: ClassVar[str] = "value"
    columns: tuple[str, ...]

    def read(self, data: Any, first_line: int) -> Stretch:
        from regard.formats.parquet import RowsDocument

        document = RowsDocument(data, self.columns, first_line)
        return document, document.kept


def stretch_reader(format: str, lines: Callable[[], Iterator[bytes]], options: FormatOptions) -> StretchReader:
    """The reader of a document's stretches. `lines` gives the lines of the document from the first one on."""
    if format == "text":
        return TextStretches(options.wrapped)
    if format == "tsv":
        first = decode(next(lines())).text.removesuffix("\n")
        return TableStretches(tsv.chosen_columns(options.columns, first))
    if format == "parquet":
        return RowStretches(options.columns)
    json.check_keys((line.decode("utf-8-sig", "replace") for line in lines()), options.columns)
    return RecordStretches(options.columns, json.is_escaped(lines()))


STREAMED = ("text", "tsv", "jsonl", "parquet")  # formats that are read in stretches
