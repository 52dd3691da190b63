"""A marked-up source text (HTML, XML, Markdown) whose segments are written in place; all other bytes stay unchanged.

The source may write a character in another form than itself: as an entity, an escape, or a line end with indentation.
The same characters are written in the same forms again, in order. `builder.py` makes the segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import regex

from regard.formats.document import Atom, OpenMark, PlacedSegment, Segment, SourceEdits, Span

Kind = Literal["text", "atom", "open", "close"]


class Run(NamedTuple):
    """A part of a segment and its span in the source."""

    kind: Kind
    start: int
    end: int
    text: str = ""  # the text, or the name of a mark
    word: bool = False  # for an atom: part of the sentence, even at its edge
    separate: bool = False  # for a mark: of several adjacent ones, each is a separate text
    bound: bool = False  # for a mark: its end depends on its text, so it is always part of the segment

    @property
    def is_blank(self) -> bool:
        return self.kind == "text" and not self.text.strip()


class Escapes(NamedTuple):
    """How characters are written. `written(character, spelling, next)` is called for each of `characters` and for those
    that the source writes in another form; `spelling` is the form that the source would use."""

    characters: str
    written: Callable[[str, str, str], str]


@dataclass(frozen=True)
class BuiltSegment:
    """A segment with the runs it was made of."""

    segment: Segment
    span: Span
    runs: tuple[Run, ...]
    pairs: tuple[tuple[int, int], ...]  # for each mark, the runs that open and close it
    escapes: Escapes

    def spellings(self, source: str) -> dict[str, list[str]]:
        """For each character that was written in another form at least once: the forms of its occurrences."""
        special = {run.text for run in self.runs if run.kind == "text" and run.text != source[run.start : run.end]}
        found: dict[str, list[str]] = {character: [] for character in special}
        for run in self.runs:
            if run.kind != "text" or not special:
                continue
            if run.text in special and run.text != source[run.start : run.end]:
                found[run.text].append(source[run.start : run.end])
            else:
                for character in run.text:
                    if character in special:
                        found[character].append(character)
        return found

    def write(self, placed: PlacedSegment, written: SourceEdits[str]) -> str:
        """The source of the translated segment; the original source if nothing has changed."""
        if placed.unchanged:
            return written(*self.span)
        return self.made(placed, written, self.escapes)

    def made(
        self,
        placed: PlacedSegment,
        written: SourceEdits[str],
        escapes: Escapes,
        closing: Callable[[Run, Run], str | None] = lambda _, __: None,
    ) -> str:
        """Writes the segment piece by piece. `closing` may replace the end of a mark."""
        writer = _CharacterWriter(self.spellings(written.source), escapes)
        atoms = [run for run in self.runs if run.kind == "atom"]
        parts: list[str] = []
        for piece in placed.pieces:
            if isinstance(piece, str):
                parts.append(writer.write(piece))
            elif isinstance(piece, Atom):
                parts.append(written(*atoms[piece.atom][1:3]))
            else:
                opens, closes = (self.runs[number] for number in self.pairs[piece.mark])
                if isinstance(piece, OpenMark):
                    parts.append(written(opens.start, opens.end))
                else:
                    other = closing(opens, closes)
                    parts.append(written(closes.start, closes.end) if other is None else other)
        return "".join(parts)


class _CharacterWriter:
    """Writes the n-th occurrence of a character as the n-th one in the source; further ones like the source's last."""

    def __init__(self, spellings: dict[str, list[str]], escapes: Escapes) -> None:
        self.spellings, self.escapes = spellings, escapes
        self.used: Counter[str] = Counter()
        seen = "".join(regex.escape(character) for character in sorted({*spellings, *escapes.characters}))
        self.seen = regex.compile(f"[{seen}]" if seen else "(?!)")

    def write(self, text: str) -> str:
        return str(self.seen.sub(self.written, text))

    def written(self, found: regex.Match[str]) -> str:
        character = found[0]
        known, used = self.spellings.get(character, ()), self.used[character]
        self.used[character] += 1
        spelling = character
        if used < len(known):
            spelling = known[used]
        elif known and character not in " \n":
            spelling = known[-1]
        return self.escapes.written(character, spelling, found.string[found.end() : found.end() + 1])


@dataclass
class InnerText:
    """A text inside a tag or an atom: an attribute, a title. `make` returns its source, or None to leave it."""

    segment: Segment
    span: Span
    make: Callable[[PlacedSegment], str | None]


@dataclass
class MarkupSource:
    """The segments of a source text: running text, and inner texts, which may be inside running text."""

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

    def write_running(self, text: BuiltSegment, placed: PlacedSegment, written: SourceEdits[str]) -> str:
        return text.write(placed, written)


@dataclass(frozen=True)
class TagRules:
    """Rules for tags. By default XML elements beside text are inline, and HTML elements are treated as HTML defines."""

    ignored: frozenset[str] = frozenset()  # tags whose content is not translated
    splitting: frozenset[str] = frozenset()  # tags that always end a text
    inline: frozenset[str] = frozenset()
    # XML: whether unnamed elements are classified by their context; otherwise they are inline
    outline: bool = True
    preserve: bool = False  # XML: whether line breaks and repeated spaces are significant
    identifiers: bool = True  # XML: whether text that looks like an identifier stays unchanged


NO_RULES = TagRules()


@dataclass
class MarkupDocument:
    """A document in markup; `encode` returns the bytes of a translated source."""

    made: MarkupSource
    warnings: list[str]
    encode: Callable[[str], bytes]
    segments: list[Segment] = field(init=False)

    def __post_init__(self) -> None:
        self.segments = self.made.segments()

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        return self.encode(self.made.write(translated))
