"""Documents of any size whose lines stand for themselves, read in chunks of whole lines: text, tables, records, rows.

What must be known of the whole document (which columns were chosen, whether it is pure ASCII) is found out first, by
`chunk_reader`. Then each chunk is a document of its own, and their translations one after another are the translation
of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from regard.formats import json, tsv
from regard.formats.document import Document, FormatOptions
from regard.formats.encoding import Encoded, decode
from regard.formats.text import SpanDocument, TextDocument, TextSpan

STREAMED = ("text", "tsv", "jsonl", "parquet")  # formats that are read in chunks
Chunk = tuple[Document, int]  # what was read, and how many of the chosen texts have no letter and stay as they are
# Of the bytes or rows of a chunk and the number of its first line. It can be sent to another process.
ChunkReader = Callable[[Any, int], Chunk]


def chunk_reader(format: str, lines: Callable[[], Iterator[bytes]], options: FormatOptions) -> ChunkReader:
    """The reader of a document's chunks. `lines` gives the lines of the document from the first one on."""
    if format == "text":
        return partial(_read_text, options.wrapped)
    if format == "parquet":
        return partial(_read_rows, options.columns)
    if format == "tsv":
        columns = tsv.chosen_columns(options.columns, decode(next(lines())).text.removesuffix("\n"))
        return partial(_read_spans, partial(tsv.read_rows, columns=columns))
    json.check_keys((line.decode("utf-8-sig", "replace") for line in lines()), options.columns)
    ascii_only = json.is_escaped(lines())
    return partial(_read_spans, partial(json.read_records, columns=options.columns, ascii_only=ascii_only))


def _read_text(wrapped: bool, data: bytes, first_line: int) -> Chunk:
    return TextDocument(decode(data, first_line=first_line), wrapped), 0


def _read_spans(find: Callable[..., tuple[list[TextSpan], int]], data: bytes, first_line: int) -> Chunk:
    source: Encoded = decode(data, first_line=first_line)
    spans, kept = find(source, first_line=first_line)
    return SpanDocument(source, spans), kept


def _read_rows(columns: tuple[str, ...], rows: Any, first_row: int) -> Chunk:
    from regard.formats.parquet import RowsDocument

    document = RowsDocument(rows, columns, first_row)
    return document, document.kept
