"""The interface of every format: a document as a list of segments, each a text with inline marks and atoms.

A format reads bytes into a `Document`. Each `Segment` is one readable text: a paragraph, a heading, a cell, a subtitle,
an attribute. Elements inside it that are not words are of three kinds:

- a *mark*: an element around words (bold, a link). It is a span of the text and follows its words into the translation.
- an *atom*: an element that is copied as a whole (code, an image, a placeholder). It is U+FFFC in the text.
- a *line break* of the format (`<br>`): "\\n" in the text. It ends a sentence and stays where it is.

`write` takes the segments' translations with marks and atoms in their places and returns the bytes of the document.
A character U+FFFC of the document itself is an atom too, which is written as that character.
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
    """One text of a document. `marks` are in the order in which they open, properly nested: if two open at the same
    character, the outer one comes first."""

    text: str
    marks: tuple[Mark, ...] = ()
    wrapped: bool = False  # a single line break counts as a space
    place: str = ""  # for messages: "line 12", "paragraph 3", "attribute alt"


class OpenMark(NamedTuple):
    """The start of the mark with this index."""

    mark: int


class CloseMark(NamedTuple):
    """The end of the mark with this index."""

    mark: int


class Atom(NamedTuple):
    """The position of the atom with this index (counted along the segment's text)."""

    atom: int


Tag = OpenMark | CloseMark | Atom
Piece = str | Tag


@dataclass(frozen=True)
class PlacedSegment:
    """The translation of a segment, ready to be written: text, marks and atoms in order. Every mark is opened and
    closed exactly once, every atom occurs exactly once, and all keep their parents."""

    pieces: tuple[Piece, ...]
    warnings: tuple[str, ...] = ()
    unchanged: bool = False  # identical to the segment, so its source can be kept
    doubtful: bool = False  # whether a sentence is marked or a protected span is missing

    @property
    def text(self) -> str:
        """The text, with U+FFFC for each atom."""
        return "".join(piece if isinstance(piece, str) else ATOM * isinstance(piece, Atom) for piece in self.pieces)


class SourceEdits(Generic[AnyStr]):
    """A source with replacements, which do not overlap."""

    def __init__(self, source: AnyStr, edits: Sequence[tuple[Span, AnyStr]] = ()) -> None:
        self.source: AnyStr = source
        self.edits: list[tuple[Span, AnyStr]] = sorted(edits)
        self.starts: list[int] = [span[0] for span, _ in self.edits]

    def __call__(self, start: int = 0, end: int | None = None) -> AnyStr:
        """Returns positions `start` to `end` of the source, as edited.

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
    """A parsed document."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The texts to translate, in the order of the document. Texts without a letter are left out."""

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings about readable text that was left unchanged, and why: one line each."""

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        """Returns the document with a translation for each segment. The segments' own texts give the same bytes (for an
        archive: the same parts)."""


@dataclass(frozen=True)
class FormatOptions:
    """User options for a document. Formats ignore options that do not apply to them."""

    wrapped: bool = False  # plain text: single line breaks are only wrapping
    columns: tuple[str, ...] = ()  # tables and records: which columns or keys are text; empty: the format decides
    target: str = ""  # the code of the target language, for formats that store it


DEFAULTS = FormatOptions()
