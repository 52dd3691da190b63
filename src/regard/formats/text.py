"""Plain text, and documents in which some spans are texts: these are replaced, all other bytes stay unchanged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regard.formats.document import FormatOptions, PlacedSegment, Segment, SourceEdits, Span
from regard.formats.encoding import Encoded, decode

# Returns the text to write for the translations of a span's segments.
Writer = Callable[[Sequence[PlacedSegment]], str]


@dataclass
class TextSpan:
    """Characters `start` to `end` of the document, with the segments in them."""

    start: int
    end: int
    segments: Sequence[Segment]
    write: Writer


@dataclass
class SpanDocument:
    """A document with its spans of text in order, not nested."""

    source: Encoded
    spans: list[TextSpan]
    warnings: Sequence[str] = ()
    segments: list[Segment] = field(init=False)

    def __post_init__(self) -> None:
        self.segments = [segment for span in self.spans for segment in span.segments]

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        edits, done = list[tuple[Span, str]](), 0
        for span in self.spans:
            placed = translated[done : done + len(span.segments)]
            done += len(span.segments)
            if not all(translation.unchanged for translation in placed):
                edits.append(((span.start, span.end), span.write(placed)))
        return self.source.encode(SourceEdits(self.source.text, edits)())


def kept_warning(count: int, what: str) -> tuple[str, ...]:
    """
    >>> kept_warning(1, "value"), kept_warning(3, "value")
    (('1 value is not prose and was left unchanged',), ('3 values are not prose and were left unchanged',))
    """
    one, several = f"1 {what} is not prose and was left unchanged", f"{what}s are not prose and were left unchanged"
    return (one if count == 1 else f"{count} {several}",) if count else ()


def text_document(source: Encoded, wrapped: bool) -> SpanDocument:
    """Makes a document of plain text with one segment."""
    segment = Segment(source.text, wrapped=wrapped, place="the text")
    return SpanDocument(source, [TextSpan(0, len(source.text), [segment], lambda placed: placed[0].text)])


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    return text_document(decode(data), options.wrapped)
