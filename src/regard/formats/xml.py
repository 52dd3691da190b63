"""XML of any kind: the text of its elements. Attributes, comments, instructions and CDATA sections stay unchanged.

The parser is expat, which reports the byte offset of each event. An element beside text (mixed content) is inline, and
so is all of its content; every other element is a separate text. Text that looks like an identifier stays unchanged.
Documents that declare entities are refused: a few lines of them can expand to gigabytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.formats.builder import LETTER, SegmentBuilder
from regard.formats.document import FormatOptions
from regard.formats.encoding import character_places, decode
from regard.formats.markup import NO_RULES, Escapes, MarkupDocument, MarkupSource, TagRules
from regard.formats.xml_tokens import CDATA, CLOSE, OPEN, OTHER, TEXT, Token, declared_encoding, xml_tokens

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
ESCAPES = Escapes("&<>", lambda character, given, _: ENTITIES.get(character, given) if given == character else given)
NO = ("no", "false")


def is_identifier(text: str) -> bool:
    """Whether a text is one word with a digit or a sign inside it: a name for a program, a file, an address.

    >>> [is_identifier(text) for text in ("org.example.App", "en_US", "Save.", "well-known")]
    [True, True, False, False]
    """
    inner = text.rstrip(".!?…:;,")
    return len(text.split()) == 1 and any(sign.isdigit() or sign in "._/:@\\" for sign in inner)


class Element(NamedTuple):
    """An open element, with the rules for its content."""

    inline: bool
    keep: bool
    preserve: bool


@dataclass
class XmlReader:
    source: str
    rules: TagRules = NO_RULES

    def __post_init__(self) -> None:
        self.tokens = xml_tokens(self.source.encode(), "the document", namespaces=False)
        self.made = MarkupSource(self.source)
        self.builder = SegmentBuilder(self.source, ESCAPES)
        self.warnings: list[str] = []
        places = character_places(self.source)
        self.tokens = [token._replace(start=places[token.start], end=places[token.end]) for token in self.tokens]
        self.cdata_lines: list[int] = []
        self.plain: tuple[int, int] | None = None

    def read(self) -> MarkupSource:
        inline = self.inline_elements()
        stack = [Element(False, False, self.rules.preserve)]
        cdata = -1  # start of the open CDATA section
        for number, token in enumerate(self.tokens):
            if token.kind != TEXT or stack[-1].keep or cdata >= 0:
                self.add_plain()
            if token.kind == CDATA:
                if token.name == "start":
                    cdata = token.start
                else:
                    self.add_cdata(cdata, token.end, stack[-1])
                    cdata = -1
            elif cdata >= 0:
                continue
            elif token.kind == OPEN:
                stack.append(self.start(token, stack[-1], number in inline))
            elif token.kind == CLOSE:
                self.end(stack.pop(), token)
            elif stack[-1].keep or token.kind == OTHER:
                self.builder.atom(token.start, token.end, word=token.kind != OTHER)
            else:
                self.add_text(token)
        self.made.running += self.builder.cut()
        if self.rules.identifiers:
            self.made.running = [text for text in self.made.running if not is_identifier(text.segment.text)]
        if self.cdata_lines:
            lines = ", ".join(map(str, self.cdata_lines[:5])) + (" …" if len(self.cdata_lines) > 5 else "")
            self.warnings.append(f"CDATA sections stay as they were: line {lines}")
        return self.made

    def inline_elements(self) -> set[int]:
        """The indices of the tokens that open inline elements."""
        rules = self.rules
        starts = [number for number, token in enumerate(self.tokens) if token.kind == OPEN]
        mixed = mixed_elements(self.tokens) if rules.outline else set(starts)
        named = {number for number in starts if self.tokens[number].name in rules.inline}
        return (mixed | named) - set(starts[:1])  # the root contains the texts

    def start(self, token: Token, parent: Element, inline: bool) -> Element:
        inline = (inline or parent.inline) and token.name not in self.rules.splitting
        given = token.attributes.get
        translate = given("translate") or given("its:translate") or given("translatable")
        keep = parent.keep if translate is None else translate.lower() in NO
        keep = keep or token.name in self.rules.ignored
        preserve = {"preserve": True, "default": False}.get(given("xml:space", ""), parent.preserve)
        if not inline:
            self.made.running += self.builder.cut()
            self.builder.collapse = not preserve
        elif keep:
            self.builder.atom(token.start, token.end, word=True)
        else:
            self.builder.open(token.name, token.start, token.end)
        return Element(inline, keep, preserve)

    def end(self, element: Element, token: Token) -> None:
        if not element.inline:
            self.made.running += self.builder.cut()
        elif element.keep:
            self.builder.atom(token.start, token.end, word=True)
        else:
            self.builder.close(token.name, token.start, token.end)

    def add_text(self, token: Token) -> None:
        written = self.source[token.start : token.end]
        if token.name in (written, written.replace("\r\n", "\n").replace("\r", "\n")):
            self.plain = (self.plain[0] if self.plain else token.start, token.end)
        else:
            self.add_plain()
            self.builder.character(token.start, token.end, token.name)

    def add_plain(self) -> None:
        """Adds the literal text so far as one run: expat reports every line and its end separately."""
        if self.plain:
            self.builder.text(*self.plain)
            self.plain = None

    def add_cdata(self, start: int, end: int, parent: Element) -> None:
        if LETTER.search(self.source, start + len("<![CDATA["), end) and not parent.keep:
            self.cdata_lines.append(self.builder.lines.at(start))
        self.builder.atom(start, end, word=True)


def mixed_elements(tokens: Sequence[Token]) -> set[int]:
    """The indices of the tokens that open elements beside text."""
    stack: list[tuple[bool, list[int]]] = [(False, [])]  # for each open element: whether it has text, and its children
    mixed: set[int] = set()
    for number, token in enumerate(tokens):
        if token.kind == OPEN:
            stack[-1][1].append(number)
            stack.append((False, []))
        elif token.kind == CLOSE:
            has_text, children = stack.pop()
            if has_text:
                mixed.update(children)
        elif token.kind == TEXT and not stack[-1][0] and token.name.strip():
            stack[-1] = (True, stack[-1][1])
    return mixed


def read(data: bytes, options: FormatOptions) -> MarkupDocument:
    encoded = decode(data, declared_encoding(data))
    reader = XmlReader(encoded.text)
    return MarkupDocument(reader.read(), reader.warnings, lambda new: encoded.encode(new, "xmlcharrefreplace"))


def read_fragment(text: str, rules: TagRules = NO_RULES) -> MarkupDocument:
    """Reads text and elements, with or without a single root element."""
    whole = text.lstrip().startswith(("<?xml", "<!DOCTYPE"))
    before, after = ("", "") if whole else ("<t>", "</t>")
    reader = XmlReader(f"{before}{text}{after}", rules)
    return MarkupDocument(reader.read(), reader.warnings, lambda new: new[len(before) : len(new) - len(after)].encode())
