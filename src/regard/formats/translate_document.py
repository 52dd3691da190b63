"""A document in, the same document in another language out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from regard.decode.translation import Translation
from regard.formats.document import DEFAULTS, Document, FormatOptions, PlacedSegment, Segment
from regard.formats.inline import place_marks
from regard.formats.table import reader_of

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
    >>> from regard.decode.translation import copied
    >>> def copy(texts, wrapped):
    ...     return [copied(text) for text in texts]
    >>> translate_document(b"Two\\n  lines\\n", "text", copy).data
    b'Two\\n  lines\\n'
    """
    return translate_read(reader_of(format)(data, options), translate)


def translate_read(document: Document, translate: Translate) -> TranslatedDocument:
    """The same of a document that was read already."""
    segments = tuple(document.segments)
    translations = translate_segments(segments, translate)
    placed = [
        replace(place_marks(segment, found), doubtful=is_doubtful(found))
        for segment, found in zip(segments, translations, strict=True)
    ]
    written = document.write(placed)
    return TranslatedDocument(written, (*document.warnings, *warnings_of(segments, placed)), segments, translations)


def is_doubtful(translation: Translation) -> bool:
    lost = (span.status == "missing" for sentence in translation.sentences for span in sentence.protected)
    return bool(translation.doubtful) or any(lost)


def translate_segments(segments: Sequence[Segment], translate: Translate) -> tuple[Translation, ...]:
    """Wrapped and unwrapped segments are translated in one call each, so that batches are full."""
    found: dict[int, Translation] = {}
    for wrapped in (False, True):
        numbers = [number for number, segment in enumerate(segments) if segment.wrapped is wrapped]
        if numbers:
            texts = [segments[number].text for number in numbers]
            found.update(zip(numbers, translate(texts, wrapped), strict=True))
    return tuple(found[number] for number in range(len(segments)))


def warnings_of(segments: Sequence[Segment], placed: Sequence[PlacedSegment]) -> list[str]:
    return [
        f"{segment.place or f'segment {number}'}: {warning}"
        for number, (segment, done) in enumerate(zip(segments, placed, strict=True), 1)
        for warning in done.warnings
    ]
