"""A document in, the same document in another language out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.formats.document import DEFAULTS, Document, FormatOptions, PlacedSegment, Segment
from regard.formats.inline import place_marks
from regard.formats.table import reader_of
from regard.translation.translation import Translation

# Texts, and whether their line breaks are only wrapping; one translation for each text, in order.
Translate = Callable[[Sequence[str], bool], Sequence[Translation]]


class TranslatedDocument(NamedTuple):
    """The new document, what is to be said about it, and the segments with their translations."""

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
    """The same of a document that was read already."""
    found: dict[int, Translation] = {}
    for wrapped, numbers in by_wrapping(document.segments):
        texts = [document.segments[number].text for number in numbers]
        found.update(zip(numbers, translate(texts, wrapped), strict=True))
    return write_translated(document, [found[number] for number in range(len(found))])


def by_wrapping(segments: Sequence[Segment]) -> list[tuple[bool, list[int]]]:
    """The numbers of the segments whose line breaks are only wrapping, and of the others: each group is translated at
    once, so that batches are full."""
    groups = [
        (wrapped, [n for n, segment in enumerate(segments) if segment.wrapped is wrapped]) for wrapped in (False, True)
    ]
    return [group for group in groups if group[1]]


def write_translated(document: Document, translations: Sequence[Translation]) -> TranslatedDocument:
    """The document with a translation in the place of each segment."""
    segments = tuple(document.segments)
    placed = [
        replace(place_marks(segment, found), doubtful=is_doubtful(found))
        for segment, found in zip(segments, translations, strict=True)
    ]
    written = document.write(placed)  # which may add to the warnings
    remarks = (*document.warnings, *warnings_of(segments, placed))
    return TranslatedDocument(written, remarks, segments, tuple(translations))


def is_doubtful(translation: Translation) -> bool:
    lost = (span.status == "missing" for sentence in translation.sentences for span in sentence.protected)
    return bool(translation.doubtful) or any(lost)


def warnings_of(segments: Sequence[Segment], placed: Sequence[PlacedSegment]) -> list[str]:
    return [
        f"{segment.place or f'segment {number}'}: {warning}"
        for number, (segment, done) in enumerate(zip(segments, placed, strict=True), 1)
        for warning in done.warnings
    ]
