"""XML of any kind: the text of its elements. Attributes, comments, instructions and CDATA sections stay as they are.

expat reads it and says at which byte each event begins. An element that stands beside text (mixed content) is inline,
and so is all that it holds; every other element is a text of its own. What looks like an identifier stays. Documents
that declare entities are refused: a few lines of them can expand to gigabytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from regard.errors import InputError
from regard.formats.builder import LETTER, SegmentBuilder
from regard.formats.document import FormatOptions, PlacedSegment, Segment
from regard.formats.encoding import Encoded, character_places, decode
from regard.formats.markup import NO_RULES, Escapes, MarkupSource, TagRules

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ESCAPES = Escapes("&<>", lambda character, given, _: ENTITIES.get(character, given) if given == character else given)
NO = ("no", "false")


def is_identifier(text: str) -> bool:
    """Whether it is one word with a digit or a sign inside it: a name for a program, a file, an address.

    >>> [is_identifier(text) for text in ("org.example.App", "en_US", "Save.", "well-known")]
    [True, True, False, False]
    """
    inner = text.rstrip(".!?…:;,")
    return len(text.split()) == 1 and any(sign.isdigit() or sign in "._/:@\\" for sign in inner)


class XmlEvent(NamedTuple):
    """`kind`: start, end, text, cdata or other; `text`: an element's name or the characters."""

    kind: str
    at: int  # byte of the UTF-8 source; it lasts until the next event
    text: str = ""
    keep: bool | None = None  # of a start: whether its content stays as it is, if it says so
    spaces: str = ""  # of a start: its xml:space


@dataclass
class EventList:
    """What expat says, in order."""

    utf8: bytes
    events: list[XmlEvent] = field(default_factory=list)

    def __post_init__(self) -> None:
        parser = self.parser = expat.ParserCreate("utf-8")
        parser.buffer_text = False
        parser.StartElementHandler = self.start
        parser.EndElementHandler = lambda name: self.add("end", name)
        parser.CharacterDataHandler = lambda text: self.add("text", text)
        parser.StartCdataSectionHandler = lambda: self.add("cdata", "start")
        parser.EndCdataSectionHandler = lambda: self.add("cdata", "end")
        parser.CommentHandler = lambda _: self.add("other")
        parser.ProcessingInstructionHandler = lambda _, __: self.add("other")
        parser.DefaultHandler = lambda _: self.add("other")
        parser.EntityDeclHandler = self.refuse_entity
        try:
            parser.Parse(self.utf8, True)
        except expat.ExpatError as problem:
            what = expat.errors.messages.get(problem.code, "error")
            raise InputError(f"line {problem.lineno} of the document is not well-formed XML: {what}") from None

    def add(self, kind: str, text: str = "") -> None:
        self.events.append(XmlEvent(kind, self.parser.CurrentByteIndex, text))

    def start(self, name: str, attributes: dict[str, str]) -> None:
        said = attributes.get("translate") or attributes.get("its:translate") or attributes.get("translatable")
        keep = None if said is None else said.lower() in NO
        spaces = attributes.get("xml:space", "")
        self.events.append(XmlEvent("start", self.parser.CurrentByteIndex, name, keep, spaces))

    def refuse_entity(self, name: str, *_: object) -> None:
        raise InputError(
            f"the document declares the entity {name!r}; entities are not expanded, so write them out first"
        )


class Element(NamedTuple):
    """An open element: what holds for its content."""

    inline: bool
    keep: bool
    preserve: bool


@dataclass
class XmlReader:
    source: str
    rules: TagRules = NO_RULES

    def __post_init__(self) -> None:
        self.events = EventList(self.source.encode()).events
        self.made = MarkupSource(self.source)
        self.builder = SegmentBuilder(self.source, ESCAPES)
        self.warnings: list[str] = []
        places = character_places(self.source)
        self.places = [places[event.at] for event in self.events] + [len(self.source)]
        self.cdata_lines: list[int] = []
        self.plain: tuple[int, int] | None = None

    def read(self) -> MarkupSource:
        inline = self.inline_elements()
        stack = [Element(False, False, self.rules.preserve)]
        cdata = -1  # where the CDATA section that is open begins
        for number, event in enumerate(self.events):
            start, end = self.places[number], self.places[number + 1]
            if event.kind != "text" or stack[-1].keep or cdata >= 0:
                self.add_plain()
            if event.kind == "cdata":
                if event.text == "start":
                    cdata = start
                else:
                    self.add_cdata(cdata, end, stack[-1])
                    cdata = -1
            elif cdata >= 0:
                continue
            elif event.kind == "start":
                stack.append(self.start(event, start, end, stack[-1], number in inline))
            elif event.kind == "end":
                self.end(stack.pop(), event.text, start, end)
            elif stack[-1].keep or event.kind == "other":
                self.builder.atom(start, end, word=event.kind != "other")
            else:
                self.add_text(event.text, start, end)
        self.made.running += self.builder.cut()
        if self.rules.identifiers:
            self.made.running = [text for text in self.made.running if not is_identifier(text.segment.text)]
        if self.cdata_lines:
            lines = ", ".join(map(str, self.cdata_lines[:5])) + (" …" if len(self.cdata_lines) > 5 else "")
            self.warnings.append(f"CDATA sections stay as they were: line {lines}")
        return self.made

    def inline_elements(self) -> set[int]:
        """The start events of elements that stand inside a text."""
        rules = self.rules
        starts = [number for number, event in enumerate(self.events) if event.kind == "start"]
        mixed = mixed_elements(self.events) if rules.outline else set(starts)
        named = {number for number in starts if self.events[number].text in rules.inline}
        return (mixed | named) - set(starts[:1])  # the root holds the texts

    def start(self, event: XmlEvent, start: int, end: int, parent: Element, inline: bool) -> Element:
        inline = (inline or parent.inline) and event.text not in self.rules.splitting
        keep = parent.keep if event.keep is None else event.keep
        keep = keep or event.text in self.rules.ignored
        preserve = {"preserve": True, "default": False}.get(event.spaces, parent.preserve)
        if not inline:
            self.made.running += self.builder.cut()
            self.builder.collapse = not preserve
        elif keep:
            self.builder.atom(start, end, word=True)
        else:
            self.builder.open(event.text, start, end)
        return Element(inline, keep, preserve)

    def end(self, element: Element, name: str, start: int, end: int) -> None:
        if not element.inline:
            self.made.running += self.builder.cut()
        elif element.keep:
            self.builder.atom(start, end, word=True)
        else:
            self.builder.close(name, start, end)

    def add_text(self, text: str, start: int, end: int) -> None:
        written = self.source[start:end]
        if written == text or written.replace("\r\n", "\n").replace("\r", "\n") == text:
            self.plain = (self.plain[0] if self.plain else start, end)
        else:
            self.add_plain()
            self.builder.character(start, end, text)

    def add_plain(self) -> None:
        """The text that was written as itself so far, in one run: expat gives every line and its end by themselves."""
        if self.plain:
            self.builder.text(*self.plain)
            self.plain = None

    def add_cdata(self, start: int, end: int, parent: Element) -> None:
        if LETTER.search(self.source, start + len("<![CDATA["), end) and not parent.keep:
            self.cdata_lines.append(self.builder.lines.at(start))
        self.builder.atom(start, end, word=True)


def mixed_elements(events: Sequence[XmlEvent]) -> set[int]:
    """The start events of elements that stand beside text."""
    stack: list[tuple[bool, list[int]]] = [(False, [])]  # of each open element: whether it has text, and its children
    mixed: set[int] = set()
    for number, event in enumerate(events):
        if event.kind == "start":
            stack[-1][1].append(number)
            stack.append((False, []))
        elif event.kind == "end":
            has_text, children = stack.pop()
            if has_text:
                mixed.update(children)
        elif event.kind == "text" and not stack[-1][0] and event.text.strip():
            stack[-1] = (True, stack[-1][1])
    return mixed


@dataclass
class XmlDocument:
    encoded: Encoded
    rules: TagRules = NO_RULES

    def __post_init__(self) -> None:
        reader = XmlReader(self.encoded.text, self.rules)
        self.made = reader.read()
        self.segments: list[Segment] = self.made.segments()
        self.warnings = reader.warnings

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        return self.encoded.encode(self.made.write(translated), "xmlcharrefreplace")


def read(data: bytes, options: FormatOptions) -> XmlDocument:
    return XmlDocument(decode(data, declared_encoding(data)))


@dataclass
class XmlFragment:
    """Text and elements without one element around them."""

    text: str
    rules: TagRules = NO_RULES

    def __post_init__(self) -> None:
        whole = self.text.lstrip().startswith(("<?xml", "<!DOCTYPE"))
        self.before, self.after = ("", "") if whole else ("<t>", "</t>")
        self.document = XmlDocument(Encoded(f"{self.before}{self.text}{self.after}", "utf-8", b""), self.rules)
        self.segments, self.warnings = self.document.segments, self.document.warnings

    def write(self, translated: Sequence[PlacedSegment]) -> bytes:
        written = self.document.write(translated)
        return written[len(self.before) : len(written) - len(self.after)]


def declared_encoding(data: bytes) -> str | None:
    """What the XML declaration says, read by expat."""
    found: list[str | None] = []
    parser = expat.ParserCreate()
    parser.XmlDeclHandler = lambda _, encoding, __: found.append(encoding)
    head, ends, _ = data[:400].partition(b"?>")
    if head.startswith(b"<?xml") and ends:
        try:
            parser.Parse(head + ends, False)
        except (LookupError, ValueError):
            raise InputError("the document names an encoding that is unknown; convert it to UTF-8 first") from None
        except expat.ExpatError:
            raise InputError("the first line of the document is not a well-formed XML declaration") from None
    return found[0].lower() if found and found[0] else None
