"""The readable paragraphs of an office document's XML part, found by a grammar that gives each element a role.

A grammar (one for DOCX, one for ODT) gives every element a role:

| role | meaning |
|---|---|
| paragraph | a text of its own; may be inside an atom of another paragraph (a text box, a footnote) |
| wrapper | around leaves: a run, a span, a link |
| part | a wrapper whose content is a separate text |
| properties | belongs to the start of the wrapper that contains it |
| text | its character data is readable text (in ODT, character data of paragraphs and wrappers is) |
| glyph | stands for characters: several spaces, a hyphen |
| atom, note, break, point, start | a leaf of that kind (`flow.py`) |
| skipped | nothing inside is read: a tracked deletion |
| block | everything else |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape

from regard.errors import InputError
from regard.formats.archive import Archive
from regard.formats.document import PlacedSegment, Segment, SourceEdits, Span
from regard.formats.flow import Bytes, Flow, Kind, Leaf, Wrapper, has_letter
from regard.formats.table import format_rules
from regard.formats.xml_tokens import CLOSE, OPEN, TEXT, Token, attribute_ranges, declared_encoding, xml_tokens

MAX_NESTING = 50  # maximum depth of nested wrappers


class Role(NamedTuple):
    name: str
    text: str = ""  # for a glyph
    # for a wrapper: what adjacent wrappers of one format have in common
    key: Literal["opening", "properties", "none"] = "opening"
    holds_text: bool = True  # for a wrapper


def element_roles(format: str) -> dict[str, Role]:
    """The roles of a format's elements, by their names without the namespace."""
    return {name: Role(**row["role"]) for row in format_rules()[format] for name in row["elements"].split()}


class Grammar(ABC):
    """The roles of the elements of a kind of document."""

    bare_text = False  # whether character data of paragraphs and wrappers is text
    prefix: bytes  # namespace prefix of paragraphs, as written

    def __init__(self, data: bytes, code_styles: frozenset[str]) -> None:
        self.data, self.code_styles = data, code_styles

    def paragraph(self, token: Token) -> Role:
        """The role of a paragraph; also stores its prefix, with which its text is written."""
        tag = self.data[token.start + 1 : token.end].split(b">")[0].split()[0]
        self.prefix = tag.removesuffix(b"/")[:-1]
        return Role("paragraph")

    @abstractmethod
    def role(self, token: Token, inside: bool) -> Role:
        """The role of the element that this token opens; `inside`: it is a direct child of a paragraph or wrapper."""

    def attributes(self, token: Token) -> Sequence[str]:
        """The names, as written, of the readable attributes."""
        return ()

    @abstractmethod
    def is_code(self, token: Token) -> bool:
        """Whether text in this element, or in the element with this property, is not translated."""

    @abstractmethod
    def text(self, text: str, flow: Flow) -> str:
        """Converts character data to readable text."""

    @abstractmethod
    def written(self, text: str) -> bytes:
        """Encodes text as the content of a paragraph or wrapper."""

    def finish(self, flow: Flow) -> None:  # noqa: B027  # most need none
        """Corrects the leaves of a parsed paragraph, before it is split into segments."""


@dataclass
class AttributeText:
    """A readable attribute: the bytes of its value."""

    start: int
    end: int
    segments: list[Segment]

    def render(self, placed: Sequence[PlacedSegment], inner: Bytes, _: object) -> bytes:
        if placed[0].unchanged:
            return inner(self.start, self.end)
        return escape(placed[0].text, {'"': "&quot;", "'": "&apos;"}).encode()


@dataclass
class Frame:
    """An open element."""

    role: Role
    start: int
    flow: Flow | None = None  # the paragraph of its content; None if it has none
    path: tuple[int, ...] = ()
    leaves: int = 0  # number of leaves that the paragraph had before it
    texts: list[str] = field(default_factory=list)


@dataclass
class OfficePart:
    """One XML file of a document with its texts."""

    data: bytes
    grammar: Grammar
    texts: list[Flow | AttributeText] = field(default_factory=list)  # nested texts come before their parents
    kept: int = 0  # number of code paragraphs, which are not translated

    @property
    def segments(self) -> list[Segment]:
        return [segment for text in self.texts for segment in text.segments]

    def write(self, placed: Sequence[PlacedSegment]) -> bytes:
        edits: list[tuple[Span, bytes]] = []
        done = 0
        for text in self.texts:
            translated = placed[done : done + len(text.segments)]
            done += len(text.segments)
            inside: list[tuple[Span, bytes]] = []
            while edits and edits[-1][0][0] >= text.start:
                inside.append(edits.pop())
            inner = SourceEdits(self.data, inside)
            edits.append(((text.start, text.end), text.render(translated, inner, self.grammar.written)))
        return SourceEdits(self.data, edits)()


@dataclass
class OfficeDocument:
    """An archive and its parts with text."""

    archive: Archive
    parts: dict[str, OfficePart]

    @property
    def segments(self) -> list[Segment]:
        return [segment for part in self.parts.values() for segment in part.segments]

    @property
    def warnings(self) -> list[str]:
        kept = sum(part.kept for part in self.parts.values())
        return [f"paragraphs of code left as they are: {kept}"] if kept else []

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        changed: dict[str, bytes] = {}
        done = 0
        for name, part in self.parts.items():
            count = len(part.segments)
            new = part.write(translated[done : done + count])
            done += count
            if new != part.data:
                changed[name] = new
        return self.archive.replaced(changed)


def merged_text(tokens: Iterable[Token]) -> Iterator[Token]:
    """Merges adjacent text tokens: expat reports every line and every entity separately."""
    for kind, run in groupby(tokens, key=lambda token: token.kind):
        if kind == TEXT:
            texts = list(run)
            yield Token(TEXT, texts[0].start, texts[-1].end, "".join(text.name for text in texts))
        else:
            yield from run


def read_part(data: bytes, what: str, grammar: Grammar) -> OfficePart:
    """Reads the texts of an XML file; `what` names it in messages."""
    named = declared_encoding(data, what)
    if named not in (None, "utf-8", "utf8", "us-ascii", "ascii") or data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise InputError(f"{what} is not in UTF-8, the only encoding that is read")
    reader = PartReader(OfficePart(data, grammar), what)
    for token in merged_text(xml_tokens(data, what)):
        if token.kind == OPEN:
            reader.open(token)
        elif token.kind == CLOSE:
            reader.close(token)
        else:
            reader.other(token)
    return reader.part


class PartReader:
    """Reads the tokens of a file with a stack of open elements."""

    def __init__(self, part: OfficePart, what: str) -> None:
        self.part, self.grammar, self.what = part, part.grammar, what
        self.stack = [Frame(Role("block"), 0)]
        self.skipped = 0  # number of open elements that are skipped
        self.paragraphs = 0

    def open(self, token: Token) -> None:
        above = self.stack[-1]
        inside = above.flow is not None
        role = self.grammar.role(token, inside)
        if role.name == "skipped" or self.skipped:
            self.skipped += 1
        elif not inside and role.name not in ("paragraph", "block"):
            role = Role("block")
        elif len(above.path) >= MAX_NESTING and role.name in ("wrapper", "part"):
            role = Role("atom")  # not written by real programs; its content stays unchanged
        if above.role.name == "properties":
            role = Role("inside properties")
            self.property(token)
        if not self.skipped:
            self.attributes(token)
        frame = Frame(role, token.start, path=above.path, leaves=len(above.flow.leaves) if above.flow else 0)
        if role.name == "paragraph" and not self.skipped:
            self.paragraphs += 1
            place = f"{self.what}, paragraph {self.paragraphs}"
            frame.flow = Flow(token.end, place=place, kept=self.grammar.is_code(token))
            frame.path = ()
        elif role.name in ("wrapper", "part") and above.flow is not None:
            self.wrap(frame, token, above)
        self.stack.append(frame)

    def wrap(self, frame: Frame, token: Token, above: Frame) -> None:
        """Opens a wrapper in the current paragraph."""
        flow = above.flow
        assert flow is not None
        if frame.role.name == "part":
            flow.leaves.append(Leaf("break", token.start, token.start, above.path))
        opening = self.part.data[token.start : token.end]
        key = {"opening": opening, "properties": b"", "none": None}[frame.role.key]
        kept = self.grammar.is_code(token)
        flow.wrappers.append(Wrapper((token.start, token.end), key, frame.role.holds_text, kept))
        frame.flow, frame.path = flow, (*above.path, len(flow.wrappers) - 1)

    def property(self, token: Token) -> None:
        """Handles an element directly inside the properties of a wrapper or paragraph."""
        owner = self.stack[-2]
        if owner.flow is not None and self.grammar.is_code(token):
            if owner.role.name == "paragraph":
                owner.flow.kept = True
            else:
                owner.flow.wrappers[owner.path[-1]].kept = True

    def attributes(self, token: Token) -> None:
        names = self.grammar.attributes(token)
        if names:
            ranges = attribute_ranges(self.part.data[token.start : token.end])
            for name in names:
                value = token.attributes[name]
                if name.encode() in ranges and has_letter(value):
                    start, end = (token.start + place for place in ranges[name.encode()])
                    segment = Segment(value, place=f"{self.what}, attribute {name}")
                    self.part.texts.append(AttributeText(start, end, [segment]))

    def close(self, token: Token) -> None:
        frame = self.stack.pop()
        above = self.stack[-1]
        if self.skipped:
            self.skipped -= 1
        if frame.role.name == "paragraph":
            if frame.flow is not None:
                self.end_paragraph(frame.flow, token)
            return
        flow = above.flow
        if flow is None:
            return
        end = token.end
        role = frame.role
        if role.name in ("wrapper", "part"):
            self.unwrap(frame, token, flow, above)
        elif role.name == "properties":
            self.extend(flow, above, frame, end)
        elif role.name == "text":
            text = self.grammar.text("".join(frame.texts), flow)
            flow.leaves.append(Leaf("text", frame.start, end, above.path, text))
        elif role.name == "glyph":
            flow.leaves.append(Leaf("text", frame.start, end, above.path, role.text))
        else:
            kinds: dict[str, Kind] = {"atom": "atom", "note": "note", "break": "break", "start": "start"}
            flow.leaves.append(Leaf(kinds.get(role.name, "point"), frame.start, end, above.path))

    def unwrap(self, frame: Frame, token: Token, flow: Flow, above: Frame) -> None:
        """Closes a wrapper; one without leaves becomes a point."""
        first = frame.leaves + (frame.role.name == "part")
        if len(flow.leaves) == first and frame.path[-1] == len(flow.wrappers) - 1:
            flow.wrappers.pop()
            flow.leaves.append(Leaf("point", frame.start, token.end, above.path))
        else:
            flow.wrappers[frame.path[-1]].close = (token.start, token.end)
        if frame.role.name == "part":
            flow.leaves.append(Leaf("break", token.end, token.end, above.path))

    def extend(self, flow: Flow, above: Frame, frame: Frame, end: int) -> None:
        """Adds properties to the start of the wrapper that contains them, or before the paragraph's first leaf."""
        if above.role.name == "paragraph":
            flow.leaves.append(Leaf("break", frame.start, end, above.path))
            return
        wrapper = flow.wrappers[above.path[-1]]
        opened = wrapper.open[1]
        while flow.leaves and flow.leaves[-1].start >= opened:
            flow.leaves.pop()  # white space between the tag and the properties
        wrapper.open = (wrapper.open[0], end)
        if above.role.key == "properties":
            wrapper.key = self.part.data[frame.start : end]

    def other(self, token: Token) -> None:
        frame = self.stack[-1]
        if frame.role.name == "text":
            frame.texts.append(token.name)
        elif frame.flow is not None:
            if token.kind == TEXT and self.grammar.bare_text:
                text = self.grammar.text(token.name, frame.flow)
                frame.flow.leaves.append(Leaf("text", token.start, token.end, frame.path, text))
            else:
                frame.flow.leaves.append(Leaf("point", token.start, token.end, frame.path))

    def end_paragraph(self, flow: Flow, token: Token) -> None:
        flow.end = token.start
        self.grammar.finish(flow)
        flow.cut()
        if flow.segments:
            self.part.texts.append(flow)
        self.part.kept += flow.kept and any(has_letter(leaf.text) for leaf in flow.leaves)
