"""What every format gives and takes: a document as a list of segments, each a text with inline marks and atoms.

A format reads bytes into a `Document`. Each `Segment` is what people read as one text: a paragraph, a heading, a cell,
a subtitle, an attribute. What stands inside it without being words is one of

- a *mark*: an element around words (bold, a link). It is a span of the text and follows its words into the translation.
- an *atom*: an element that survives as a whole (code, an image, a placeholder). It stands in the text as U+FFFC.
- a *line break* of the format (`<br>`): "\\n" in the text. It ends a sentence and stays where it is.

`write` gets the segments' translations with marks and atoms in their places and gives the bytes of the same document.
A character U+FFFC that stood in the document itself is an atom too: what is written for it is that character.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import AnyStr, Generic, NamedTuple, Protocol

ATOM = "\ufffc"
Span = tuple[int, int]


class Mark(NamedTuple):
    """An inline element around words: characters `start` to `end` of a segment's text, at least one."""

    start: int
    end: int


@dataclass(frozen=True)
class Segment:
    """One text of a document. `marks` stand in the order in which they open, properly nested: of two that open at the
    same character, the outer one first."""

    text: str
    marks: tuple[Mark, ...] = ()
    wrapped: bool = False  # a single line break is only a space
    place: str = ""  # for people: "line 12", "paragraph 3", "attribute alt"


class OpenMark(NamedTuple):
    """Where the mark of this number begins."""

    mark: int


class CloseMark(NamedTuple):
    """Where it ends."""

    mark: int


class Atom(NamedTuple):
    """Where the atom of this number (counted along the segment's text) stands."""

    atom: int


Tag = OpenMark | CloseMark | Atom
Piece = str | Tag


@dataclass(frozen=True)
class PlacedSegment:
    """The translation of a segment, ready to be written: text, marks and atoms in order. Every mark is opened once and
    closed once, every atom stands once, and all keep their parents."""

    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...] = ()
    unchanged: bool = False  # the segment as it was, so that its source can stay
    doubtful: bool = False  # a sentence of it is, or a protected span is missing

    @property
    def text(self) -> str:
        """The words alone, with U+FFFC for each atom."""
        return "".join(piece if isinstance(piece, str) else ATOM * isinstance(piece, Atom) for piece in self.pieces)


class SourceEdits(Generic[AnyStr]):
    """A source with replacements inside it, which do not overlap."""

    def __init__(self, source: AnyStr, edits: Sequence[tuple[Span, AnyStr]] = ()) -> None:
        self.source: AnyStr = source
        self.edits: list[tuple[Span, AnyStr]] = sorted(edits)
        self.starts: list[int] = [span[0] for span, _ in self.edits]

    def __call__(self, start: int = 0, end: int | None = None) -> AnyStr:
        """Positions `start` to `end` of the source, as edited.

        >>> SourceEdits("one two three", [((4, 7), "2")])(2, 9)
        'e 2 t'
        """
        end = len(self.source) if end is None else end
        parts: list[AnyStr] = []
        at = bisect_left(self.starts, start)
        while at < len(self.edits) and self.edits[at][0][1] <= end:
            (first, last), written = self.edits[at]
            parts += [self.source[start:first], written]
            start, at = last, at + 1
        parts.append(self.source[start:end])
        return self.source[:0].join(parts)


class Document(Protocol):
    """A document that was read."""

    @property
    def segments(self) -> Sequence[Segment]:
        """What is to be translated, in the order of the document. Texts without a letter are left out."""

    @property
    def warnings(self) -> Sequence[str]:
        """What stays as it was although people read it, and why: one line each."""

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        """The document with a translation for each segment. With the segments' own texts it gives the same bytes (of an
        archive: the same parts)."""


@dataclass(frozen=True)
class FormatOptions:
    """What a user may say about a document. Formats ignore what does not concern them."""

    wrapped: bool = False  # plain text: single line breaks are only wrapping
    columns: tuple[str, ...] = ()  # tables and records: which columns or keys are text; none: as the format decides
    target: str = ""  # the code of the language that is translated to, for formats that name it


DEFAULTS = FormatOptions()
