"""Plain text: one segment, which the translator cuts into sentences. Everything between them stays as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, decode


@dataclass
class TextDocument:
    source: Encoded
    wrapped: bool

    def __post_init__(self) -> None:
        self.warnings: tuple[str, ...] = ()
        self.segments = [Segment(self.source.text, wrapped=self.wrapped, place="the text")]

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        return self.source.encode(translated[0].text)


def read(data: bytes, options: FormatOptions) -> TextDocument:
    return TextDocument(decode(data), options.wrapped)
