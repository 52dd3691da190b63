"""An XML document as a flat list of tokens with their places in the bytes, so that it can be edited in place.

The parser is expat. Everything between two tokens belongs to the first of them, so the tokens' ranges cover the
document without gaps. The list is flat: documents of any depth are handled without recursion.

Refused in one line: what is not well-formed, encodings other than UTF-8, and document types with declarations (the only
source of entities that expand; external ones are never fetched).
"""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from regard.errors import InputError

OPEN, CLOSE, TEXT, OTHER = "open", "close", "text", "other"


class Token(NamedTuple):
    """A tag, text, or something else (comment, processing instruction); an empty tag is an open and a close token,
    the second of length zero."""

    kind: str
    start: int
    end: int
    name: str = ""  # "namespace local"; of text: the text, entities resolved
    attributes: dict[str, str] = {}  # noqa: RUF012  (never changed)


class Tokens:
    """Gathers expat's events as tokens."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = False
        self.parser.XmlDeclHandler = self.declaration
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.StartElementHandler = self.open
        self.parser.EndElementHandler = self.close
        self.parser.CharacterDataHandler = self.text
        self.parser.DefaultHandler = self.other
        self.found: list[tuple[str, int, str, dict[str, str]]] = []

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii", "ascii"):
            raise InputError(f"is in {encoding}, but only UTF-8 is read")
        self.add(OTHER)

    def doctype(self, name: str, system: str | None, public: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            raise InputError(
                "has a document type with declarations, which are not read: they may define entities that expand"
            )
        self.add(OTHER)

    def add(self, kind: str, name: str = "", attributes: dict[str, str] | None = None) -> None:
        self.found.append((kind, self.parser.CurrentByteIndex, name, attributes or {}))

    def open(self, name: str, attributes: dict[str, str]) -> None:
        self.add(OPEN, name, attributes)

    def close(self, name: str) -> None:
        self.add(CLOSE, name)

    def text(self, text: str) -> None:
        # Several events of one piece of text are one token.
        if self.found and self.found[-1][0] == TEXT:
            self.runs.append(text)
        else:
            self.runs = [text]
            self.add(TEXT)
            self.texts[len(self.found) - 1] = self.runs

    def other(self, _: str) -> None:
        self.add(OTHER)

    runs: list[str]
    texts: dict[int, list[str]]


def xml_tokens(data: bytes, what: str) -> list[Token]:
    """The tokens of a document; `what` names it in messages.

    >>> [(t.kind, t.start, t.end, t.name) for t in xml_tokens(b"<a>x &amp; y<b/></a>", "it")][:4]
    [('open', 0, 3, 'a'), ('text', 3, 12, 'x & y'), ('open', 12, 16, 'b'), ('close', 16, 16, 'b')]
    """
    tokens = Tokens()
    tokens.texts = {}
    if data[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<"):
        raise InputError(f"{what} is not in UTF-8, the only encoding that is read")
    try:
        tokens.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(f"{what} is no well-formed XML: {error}") from None
    except InputError as error:
        raise InputError(f"{what} {error}") from None
    found = tokens.found
    ends = [entry[1] for entry in found[1:]] + [len(data)]
    return [
        Token(kind, start, end, "".join(tokens.texts[i]) if kind == TEXT else name, attributes)
        for i, ((kind, start, name, attributes), end) in enumerate(zip(found, ends, strict=True))
    ]


def attribute_ranges(tag: bytes) -> dict[bytes, tuple[int, int]]:
    """Where the values of a well-formed start tag's attributes stand, by their names as written.

    >>> attribute_ranges(b'<a one="1" two = "2>"/>')
    {b'one': (8, 9), b'two': (18, 20)}
    """
    ranges: dict[bytes, tuple[int, int]] = {}
    place = 1
    while (equals := tag.find(b"=", place)) >= 0:
        name = tag[place:equals].split()[-1]
        single, double = tag.find(b"'", equals), tag.find(b'"', equals)
        start = min(quote for quote in (single, double) if quote >= 0)
        end = tag.find(tag[start : start + 1], start + 1)
        ranges[name] = (start + 1, end)
        place = end + 1
    return ranges
