"""A document whose segments are written in place: bytes that no segment needs stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from regard.formats.built_segment import BuiltSegment, SourceEdits
from regard.formats.document import PlacedSegment, Segment

Span = tuple[int, int]


@dataclass
class InnerText:
    """A text inside a tag or an atom: an attribute, a title. `make` gives the source for it, or None to leave it."""

    segment: Segment
    span: Span
    make: Callable[[PlacedSegment], str | None]


@dataclass
class MarkupSource:
    """The segments of a source text: running text, and inner texts, which may stand inside running text."""

    source: str
    running: list[BuiltSegment] = field(default_factory=list)
    inner: list[InnerText] = field(default_factory=list)

    def ordered(self) -> list[BuiltSegment | InnerText]:
        return sorted([*self.running, *self.inner], key=lambda text: text.span)

    def segments(self) -> list[Segment]:
        return [text.segment for text in self.ordered()]

    def write(self, translated: Sequence[PlacedSegment]) -> str:
        texts = list(zip(self.ordered(), translated, strict=True))
        edits = [
            (text.span, made)
            for text, placed in texts
            if isinstance(text, InnerText) and (made := text.make(placed)) is not None
        ]
        written = SourceEdits(self.source, edits)
        parts, cursor = list[str](), 0
        for text, placed in texts:
            if isinstance(text, BuiltSegment):
                parts += [written(cursor, text.span[0]), self.write_running(text, placed, written)]
                cursor = text.span[1]
        return "".join([*parts, written(cursor, len(self.source))])

    def write_running(self, text: BuiltSegment, placed: PlacedSegment, written: SourceEdits) -> str:
        return text.write(placed, written)
