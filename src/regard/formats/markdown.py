"""Markdown: paragraphs, headings, items and cells; texts of links and images. The rest stays unchanged.

Code, formulas, targets of links and front matter stay unchanged; HTML blocks are read as HTML. A changed segment is
written as Markdown and parsed again: if its elements differ from the source, every special character is escaped, and if
that does not help, the segment stays unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pyromark import reference_definitions
from turbohtml import TokenType

from regard.formats.builder import LETTER, LineNumbers, SegmentBuilder
from regard.formats.document import FormatOptions, PlacedSegment, Segment, SourceEdits
from regard.formats.encoding import character_places, decode
from regard.formats.html import OPAQUE, VOID, HtmlPiece, HtmlReader, is_kept, pieces_of, readable_attributes
from regard.formats.inline import source_pieces
from regard.formats.markdown_events import INLINE, OPTIONS, MarkdownEvent, events_of, shape_of
from regard.formats.markup import BuiltSegment, Escapes, InnerText, MarkupDocument, MarkupSource, Run

WHOLE = frozenset(("Code", "InlineMath", "DisplayMath"))  # atoms that are part of the sentence
CLOSED = frozenset(("CodeBlock", "MetadataBlock", "HtmlBlock"))  # blocks whose text is not Markdown
DELIMITERS = {"Emphasis": 1, "Strong": 2, "Superscript": 1, "Subscript": 1, "Link": 1, "Image": 2}
MAX_LINE_START = 1000  # maximum characters in which the start of a line is searched for
SPECIAL = "\\`*_[]<>|~$&#"


def escapes_for(text: str, strict: bool) -> Escapes:
    """Special characters that the text itself contains are written literally, others with a backslash; `strict`: all
    with a backslash. A line is broken only before a letter, which can only continue the paragraph."""

    def written(character: str, spelling: str, following: str) -> str:
        if character == " ":
            return spelling if "\n" not in spelling or following.isalpha() else " "
        if spelling != character or character == "\n":
            return spelling
        return f"\\{character}" if strict or character not in text else character

    return Escapes(SPECIAL, written)


UNUSED = Escapes("", lambda character, spelling, _: spelling)  # placeholder: every segment has its own escapes


@dataclass
class MarkdownSource(MarkupSource):
    labels: frozenset[str] = frozenset()  # labels of links that the document defines, in lower case
    warnings: list[str] = field(default_factory=list)

    def write_running(self, text: BuiltSegment, placed: PlacedSegment, written: SourceEdits[str]) -> str:
        if text.escapes is not UNUSED:  # HTML
            return text.write(placed, written)
        if placed.unchanged:
            return written(*text.span)
        before = self.shape(text, PlacedSegment(source_pieces(text.segment)), written, strict=False)
        for strict in (False, True):
            if self.shape(text, placed, written, strict) == before:
                return text.made(placed, written, escapes_for(text.segment.text, strict), self.closing)
        self.warnings.append(
            f"{text.segment.place}: in Markdown it would not have the same elements, so it stays as it was"
        )
        return written(*text.span)

    def shape(self, text: BuiltSegment, placed: PlacedSegment, written: SourceEdits[str], strict: bool) -> object:
        """The shape of a segment as a paragraph of its own, without the line prefixes of quotations and lists."""
        escapes = escapes_for(text.segment.text, strict)

        def in_a_paragraph(character: str, spelling: str, following: str) -> str:
            head, line_end, _ = escapes.written(character, spelling, following).partition("\n")
            return head + line_end

        alone = text.made(placed, written, Escapes(SPECIAL, in_a_paragraph), self.closing)
        return shape_of(f"x {alone}" if self.is_inside_a_line(text.span[0]) else alone, self.labels)

    def is_inside_a_line(self, start: int) -> bool:
        """Whether a text is in a heading or a cell, where only inline elements are possible."""
        line = self.source.rfind("\n", max(0, start - MAX_LINE_START), start) + 1
        return self.source[max(line, start - MAX_LINE_START) : start].lstrip(" >").startswith(("#", "|"))

    def closing(self, opens: Run, closes: Run) -> str | None:
        """`[text]` and `[text][]` refer to their target by their text: once translated, they need an explicit label."""
        if opens.text == "Link" and self.source[closes.start : closes.end] in ("]", "][]"):
            return f"][{self.source[opens.end : closes.start]}]"
        return None


class MarkdownReader:
    """Reads a document in one pass over its events."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = LineNumbers(source)
        self.definitions = reference_definitions(source, options=OPTIONS)
        self.made = MarkdownSource(source, labels=frozenset(label.lower() for label in self.definitions))
        self.builder = SegmentBuilder(source, UNUSED)
        self.images: list[SegmentBuilder] = []  # the builders around the image whose text is being read
        self.opaque: tuple[str, int] | None = None  # an inline HTML element that is not translated, and its start
        self.cursor: int | None = None  # end of what was read of the segment
        self.line_break: tuple[int, str] | None = None  # one whose end is not known yet, and its character
        self.links: list[Any] = []  # data of the open links and images
        self.automatic = False
        self.closed: list[MarkdownEvent] = []  # events of a block that is not Markdown

    def read(self) -> MarkdownSource:
        for event in events_of(self.source):
            self.take(event)
        self.cut()
        self.made.warnings += [
            f"{place}: its tags overlap, so it stays as it was" for place in self.builder.overlapping
        ]
        places = character_places(self.source)
        for definition in self.definitions.values():
            self.add_title(
                definition["title"] or "", places[definition["span"]["start"]], places[definition["span"]["end"]]
            )
        return self.made

    def take(self, event: MarkdownEvent) -> None:
        if event.kind == "leaf" or event.name in INLINE:
            if self.closed:
                self.closed.append(event)
            else:
                self.take_inline(event)
            return
        self.cut()
        if event.name in CLOSED:
            if event.kind == "start":
                self.closed = [event]
            else:
                if event.name == "HtmlBlock":
                    self.add_html(event, self.closed[1:])
                self.closed = []

    def cut(self) -> None:
        if self.opaque:
            self.builder.atom(self.opaque[1], self.cursor or self.opaque[1], word=True)
        self.made.running += self.builder.cut()
        self.cursor = self.opaque = self.line_break = None

    def take_inline(self, event: MarkdownEvent) -> None:
        if self.automatic:  # inside `<https://…>`
            self.automatic = event.kind != "end"
            return
        if self.opaque:
            self.in_opaque(event)
            return
        closing = event.kind == "end"
        self.fill_gap(event.start if not closing else (self.cursor or event.start), event.name == "Text")
        if closing:
            self.close(event)
            self.cursor = max(self.cursor or 0, event.end)
        elif event.kind == "start":
            self.open(event)
        elif event.name == "Text":
            self.add_text(event)
        elif event.name in ("SoftBreak", "HardBreak"):
            self.line_break = (event.start, "\n" if event.name == "HardBreak" else " ")
        elif event.name == "InlineHtml":
            self.add_inline_html(event)
        else:
            self.builder.atom(event.start, event.end, word=event.name in WHOLE)
        if event.kind == "leaf":
            self.cursor = event.end

    def fill_gap(self, start: int, is_text: bool) -> None:
        """Adds what is between two events: the backslash of an escaped character, the start of a line, spaces."""
        if is_text and start > (self.cursor or 0) and self.source[start - 1 : start] == "\\":
            start -= 1
        if self.line_break:
            begins, meaning = self.line_break
            self.builder.character(begins, start, meaning)
            self.line_break = None
        elif self.cursor is not None and self.cursor < start:
            if self.source[self.cursor : start].isspace():
                self.builder.text(self.cursor, start)
            else:
                self.builder.atom(self.cursor, start)
        self.cursor = start

    def add_text(self, event: MarkdownEvent) -> None:
        assert self.cursor is not None
        start = event.start
        if self.cursor < start:  # an escaped character
            self.builder.character(self.cursor, start + 1, self.source[start])
            start += 1
        if self.source[event.start : event.end] == event.value:
            self.builder.text(start, event.end)
        else:
            self.builder.character(start, event.end, event.value)

    def open(self, event: MarkdownEvent) -> None:
        if event.name in ("Link", "Image"):
            if event.value["link_type"] in ("Autolink", "Email"):
                self.builder.atom(event.start, event.end, word=True)
                self.automatic, self.cursor = True, event.end
                return
            self.links.append(event.value)
        length = DELIMITERS.get(event.name) or (2 if self.source.startswith("~~", event.start) else 1)
        if event.name == "Image":
            self.images.append(self.builder)
            self.builder = SegmentBuilder(self.source, UNUSED)
            self.builder.lines = self.lines
        else:
            is_link = event.name == "Link"
            bound = is_link and event.value["link_type"] in ("Collapsed", "Shortcut")
            self.builder.open(event.name, event.start, event.start + length, is_link, bound)
        self.cursor = event.start + length

    def close(self, event: MarkdownEvent) -> None:
        assert self.cursor is not None
        start, end = self.cursor, event.end
        if event.name not in ("Link", "Image"):
            self.builder.close(event.name, start, end)
            return
        link = self.links.pop()
        if link["link_type"] == "Collapsed" and self.source.startswith("[]", end):
            end += 2
        self.add_title(link["title"], start, end)
        if event.name == "Link":
            self.builder.close("Link", start, end)
        else:
            line = self.lines.at(event.start)
            self.made.inner += [self.inner(text) for text in self.builder.cut(f"text of an image in line {line}")]
            self.builder = self.images.pop()
            self.builder.atom(event.start, end)
        self.cursor = end

    def inner(self, text: BuiltSegment) -> InnerText:
        return InnerText(
            text.segment, text.span, lambda placed: self.made.write_running(text, placed, SourceEdits(self.source))
        )

    def in_opaque(self, event: MarkdownEvent) -> None:
        assert self.opaque is not None
        self.cursor = event.end
        if event.name == "InlineHtml" and event.value.lower().startswith(f"</{self.opaque[0]}"):
            self.builder.atom(self.opaque[1], event.end, word=True)
            self.opaque = None

    def add_inline_html(self, event: MarkdownEvent) -> None:
        token, *_ = next(pieces_of(event.value))
        name, attributes = token.tag or "", dict(token.attrs or ())
        kept = is_kept(attributes)
        if token.type == TokenType.START_TAG and not kept:
            piece = HtmlPiece(token, event.start, event.end)
            self.made.inner += readable_attributes(piece, name, attributes, self.lines.at(event.start))
        if token.type == TokenType.END_TAG:
            self.builder.close(f"<{name}>", event.start, event.end)
        elif token.type != TokenType.START_TAG or (name in VOID and name != "br"):
            self.builder.atom(event.start, event.end)
        elif name == "br":
            self.builder.character(event.start, event.end, "\n")
        elif kept or name in OPAQUE:
            self.opaque = (name, event.start)
        else:
            self.builder.open(f"<{name}>", event.start, event.end)

    def add_html(self, block: MarkdownEvent, lines: Sequence[MarkdownEvent]) -> None:
        together = all(one.end == other.start for one, other in pairwise(lines))
        if not lines or not LETTER.search(self.source, block.start, block.end):
            return
        if not together or "\r" in self.source[block.start : block.end]:
            self.made.warnings.append(
                f"line {self.lines.at(block.start)}: HTML inside a quotation or a list stays as it was"
            )
            return
        reader = HtmlReader(self.source, start=lines[0].start, end=lines[-1].end)
        reader.builder.lines = self.lines
        found = reader.read()
        self.made.running += found.running
        self.made.inner += found.inner

    def add_title(self, title: str, start: int, end: int) -> None:
        """Adds the title of a link: the last part of its source, if it is written literally."""
        at = self.source.rfind(title, start, end) if LETTER.search(title) else -1
        if at < 0:
            return
        quote = {"(": ")"}.get(self.source[at - 1], self.source[at - 1])

        def make(placed: PlacedSegment) -> str:
            words = " ".join(placed.text.split())
            return words if words == title else words.replace("\\", "\\\\").replace(quote, f"\\{quote}")

        segment = Segment(title, place=f"title of a link in line {self.lines.at(at)}")
        self.made.inner.append(InnerText(segment, (at, at + len(title)), make))


def read(data: bytes, options: FormatOptions) -> MarkupDocument:
    encoded = decode(data)
    text = encoded.text
    one_kind = text.count("\r\n") == text.count("\n") == text.count("\r") > 0  # all line ends are the same
    made = MarkdownReader(text.replace("\r\n", "\n") if one_kind else text).read()

    def encode(written: str) -> bytes:
        return encoded.encode(written.replace("\n", "\r\n") if one_kind else written)

    return MarkupDocument(made, made.warnings, encode)
