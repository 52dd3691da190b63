"""An XML document as a flat list of tokens with their byte offsets, so that it can be edited in place.

The parser is expat. Everything between two tokens belongs to the first of them, so the tokens' ranges cover the
document without gaps. The list is flat: documents of any depth are handled without recursion. Refused with a one-line
error: documents that are not well-formed or declare entities, a few lines of which can expand to gigabytes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple
from xml.parsers import expat

from regard.errors import InputError

OPEN, CLOSE, TEXT, CDATA, OTHER = "open", "close", "text", "cdata", "other"


class Token(NamedTuple):
    """A tag, text, the start or end of a CDATA section, or something else (comment, processing instruction); an empty
    tag is an open and a close token, the second of length zero."""

    kind: str
    start: int
    end: int
    name: str = ""  # of a tag, "namespace local" if namespaces are parsed; for text: the text with entities resolved
    attributes: dict[str, str] = {}  # noqa: RUF012  (never changed)


def xml_tokens(data: bytes, what: str, namespaces: bool = True) -> list[Token]:
    """The tokens of a document in UTF-8; `what` names it in messages.

    >>> [(t.kind, t.start, t.end, t.name) for t in xml_tokens(b"<a>x &amp; y<b/></a>", "it")][3:6]
    [('text', 10, 12, ' y'), ('open', 12, 16, 'b'), ('close', 16, 16, 'b')]
    """
    parser = expat.ParserCreate("utf-8", " " if namespaces else None)
    found: list[Token] = []

    def add(kind: str, name: str = "", attributes: dict[str, str] | None = None) -> None:
        found.append(Token(kind, parser.CurrentByteIndex, 0, name, attributes or {}))

    def refuse_entity(name: str, *_: object) -> None:
        raise InputError(f"{what} declares the entity {name!r}; entities are not expanded, so write them out first")

    parser.buffer_text = False
    parser.StartElementHandler = lambda name, attributes: add(OPEN, name, attributes)
    parser.EndElementHandler = lambda name: add(CLOSE, name)
    parser.CharacterDataHandler = lambda text: add(TEXT, text)
    parser.StartCdataSectionHandler = lambda: add(CDATA, "start")
    parser.EndCdataSectionHandler = lambda: add(CDATA, "end")
    parser.DefaultHandler = lambda _: add(OTHER)
    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as problem:
        why = expat.errors.messages.get(problem.code, "error")
        raise InputError(f"line {problem.lineno} of {what} is not well-formed XML: {why}") from None
    found.append(Token(OTHER, len(data), 0))
    return [token._replace(end=following.start) for token, following in pairwise(found)]


def declared_encoding(data: bytes, what: str = "the document") -> str | None:
    """The encoding that the XML declaration names, in lower case."""
    found: list[str | None] = []
    parser = expat.ParserCreate()
    parser.XmlDeclHandler = lambda _, encoding, __: found.append(encoding)
    head, ends, _ = data[:400].partition(b"?>")
    if head.startswith(b"<?xml") and ends:
        try:
            parser.Parse(head + ends, False)
        except (LookupError, ValueError):
            raise InputError(f"{what} names an encoding that is unknown; convert it to UTF-8 first") from None
        except expat.ExpatError:
            raise InputError(f"the first line of {what} is not a well-formed XML declaration") from None
    return found[0].lower() if found and found[0] else None


def attribute_ranges(tag: bytes) -> dict[bytes, tuple[int, int]]:
    """The spans of the attribute values of a well-formed start tag, by their names as written.

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
