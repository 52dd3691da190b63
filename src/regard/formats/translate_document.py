"""Translates a document into a document of the same format: as a whole, or in chunks of whole lines.

Documents of any size with independent lines (text, tables, records, rows) are read in chunks. Facts about the whole
document (which columns were chosen, whether it is pure ASCII) are determined first, by `chunk_reader`. Then each chunk
is a document of its own, and the concatenated translations of the chunks are the translation of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from regard.formats import delimited, json
from regard.formats.document import DEFAULTS, Document, FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import decode
from regard.formats.inline import place_marks
from regard.formats.table import reader_of
from regard.formats.text import SpanDocument, TextSpan, text_document
from regard.translation.translation import Translation

# Takes texts, and whether their line breaks are only wrapping; returns one translation for each text, in order.
Translate = Callable[[Sequence[str], bool], Sequence[Translation]]


class TranslatedDocument(NamedTuple):
    """The new document, the warnings about it, and the segments with their translations."""

    data: bytes
    warnings: tuple[str, ...]
    segments: tuple[Segment, ...]
    translations: tuple[Translation, ...]


def translate_document(
    data: bytes, format: str, translate: Translate, options: FormatOptions = DEFAULTS
) -> TranslatedDocument:
    """
    >>> from regard.translation.translation import copied
    >>> def copy(texts, wrapped):
    ...     return [copied(text) for text in texts]
    >>> translate_document(b"Two\\n  lines\\n", "text", copy).data
    b'Two\\n  lines\\n'
    """
    return translate_read(reader_of(format)(data, options), translate)


def translate_read(document: Document, translate: Translate) -> TranslatedDocument:
    """Translates a parsed document."""
    found: dict[int, Translation] = {}
    for wrapped, numbers in by_wrapping(document.segments):
        texts = [document.segments[number].text for number in numbers]
        found.update(zip(numbers, translate(texts, wrapped), strict=True))
    return write_translated(document, [found[number] for number in range(len(found))])


def by_wrapping(segments: Sequence[Segment]) -> list[tuple[bool, list[int]]]:
    """Groups the indices of the segments by whether their line breaks are only wrapping: each group is translated at
    once, so that batches are full."""
    groups = [
        (wrapped, [n for n, segment in enumerate(segments) if segment.wrapped is wrapped]) for wrapped in (False, True)
    ]
    return [group for group in groups if group[1]]


def write_translated(document: Document, translations: Sequence[Translation]) -> TranslatedDocument:
    """Writes the document with a translation in place of each segment."""
    segments = tuple(document.segments)
    placed = [
        replace(place_marks(segment, found), doubtful=is_doubtful(found))
        for segment, found in zip(segments, translations, strict=True)
    ]
    written = document.write(placed)  # may add warnings
    remarks = (*document.warnings, *warnings_of(segments, placed))
    return TranslatedDocument(written, remarks, segments, tuple(translations))


def is_doubtful(translation: Translation) -> bool:
    """Whether a sentence of the translation is marked, or a protected span is missing from it."""
    lost = (span.status == "missing" for sentence in translation.sentences for span in sentence.protected)
    return bool(translation.marked) or any(lost)


def warnings_of(segments: Sequence[Segment], placed: Sequence[PlacedSegment]) -> list[str]:
    return [
        f"{segment.place or f'segment {number}'}: {warning}"
        for number, (segment, done) in enumerate(zip(segments, placed, strict=True), 1)
        for warning in done.warnings
    ]


# ── chunks ────────────────────────────────────────────────────────────────────────────────────────────────────────────

STREAMED = ("text", "csv", "tsv", "jsonl", "parquet")  # formats that are read in chunks
Chunk = tuple[Document, int]  # the parsed chunk, and how many of the chosen texts have no letter and stay unchanged
# Takes the bytes or rows of a chunk and the number of its first line. It can be sent to another process.
ChunkReader = Callable[[Any, int], Chunk]


def chunk_reader(format: str, lines: Callable[[], Iterator[bytes]], options: FormatOptions) -> ChunkReader:
    """Returns the reader of a document's chunks. `lines` returns the lines of the document from the start."""
    if format == "text":
        return partial(_read_text, options.wrapped)
    if format == "parquet":
        return partial(_read_rows, options.columns)
    if format in delimited.TABLES:
        style = delimited.table_style(format, lines())
        header = decode(next(delimited.joined_rows(lines(), style))).text
        columns = delimited.chosen_columns(options.columns, header, style)
        return partial(_read_spans, partial(delimited.read_rows, style=style, columns=columns))
    json.check_keys((line.decode("utf-8-sig", "replace") for line in lines()), options.columns)
    ascii_only = json.is_escaped(lines())
    return partial(_read_spans, partial(json.read_records, columns=options.columns, ascii_only=ascii_only))


def _read_text(wrapped: bool, data: bytes, first_line: int) -> Chunk:
    return text_document(decode(data, first_line=first_line), wrapped), 0


def _read_spans(find: Callable[..., tuple[list[TextSpan], int]], data: bytes, first_line: int) -> Chunk:
    source = decode(data, first_line=first_line)
    spans, kept = find(source, first_line=first_line)
    return SpanDocument(source, spans), kept


def _read_rows(columns: tuple[str, ...], rows: Any, first_row: int) -> Chunk:
    from regard.formats.parquet import RowsDocument

    document = RowsDocument(rows, columns, first_row)
    return document, document.kept
