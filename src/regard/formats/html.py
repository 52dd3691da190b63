"""HTML: running text between block tags, and readable attributes; the rest stays unchanged.

The tokens and their positions come from turbohtml, which follows the WHATWG tokenizer and keeps the source of each
token. No tree is built, because a tree does not have the source of repaired or implied tags: a block tag ends a
segment, whether it opens, closes, or closes an element that was never opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from turbohtml import Token, TokenType, parse_fragment, tokenize

from regard.errors import InputError
from regard.formats.builder import LETTER, SegmentBuilder
from regard.formats.document import FormatOptions, PlacedSegment, Span
from regard.formats.encoding import Encoded, decode
from regard.formats.markup import NO_RULES, Escapes, InnerText, MarkupDocument, MarkupSource, TagRules
from regard.formats.table import format_rules

# Tags: VOID have no content; BLOCK end a text; OPAQUE are not translated, and WORDLESS are not part of a sentence; RAW
# contain no tags; FOREIGN may close themselves; SEPARATE are separate texts if several are adjacent.
# READ are readable attributes; META are names of readable <meta>, BUTTONS types of <input> with readable values.
RULES = ["void", "block", "opaque", "wordless", "raw", "foreign", "separate", "read", "meta", "buttons"]
VOID, BLOCK, OPAQUE, WORDLESS, RAW, FOREIGN, SEPARATE, READ, META, BUTTONS = (
    frozenset(format_rules()["html"][name].split()) for name in RULES
)


def is_read(name: str, attribute: str, attributes: Mapping[str, str]) -> bool:
    """Whether this attribute of this tag is readable text."""
    if name == "meta":
        return attribute == "content" and (attributes.get("name") or attributes.get("property") or "").lower() in META
    if attribute == "value":
        return name == "input" and attributes.get("type", "").lower() in BUTTONS
    return attribute in READ


def is_kept(attributes: Mapping[str, str]) -> bool:
    """Whether the attributes mark the content of the tag as not to be translated."""
    return attributes.get("translate", "").lower() == "no" or "notranslate" in attributes.get("class", "").split()


MAX_RESTARTS = 1000  # maximum restarts of the tokenizer, after `<script/>` in XHTML
# Latin-1 and ASCII mean windows-1252 in HTML (WHATWG Encoding).
ENCODINGS = dict.fromkeys(("ascii", "us-ascii", "iso-8859-1", "iso8859-1", "latin1", "latin-1", "l1"), "windows-1252")

ENTITIES = {"&": "&amp;", "<": "&lt;", '"': "&quot;", "'": "&#39;"}


def entity(character: str, spelling: str, _: str) -> str:
    return ENTITIES.get(character, spelling) if spelling == character else spelling


TEXT_ESCAPES = Escapes("&<", entity)
# By the quotation mark around an attribute's value; unquoted values get double ones.
VALUE_ESCAPES = {quote: TEXT_ESCAPES._replace(characters="&<" + (quote or '"')) for quote in ('"', "'", "")}


class HtmlPiece(NamedTuple):
    """A token and its position."""

    token: Token
    start: int
    end: int
    markup: bool = False  # markup, although its token is text


@dataclass
class HtmlReader:
    """Reads a document in one pass over its tokens."""

    source: str
    xml: bool = False  # whether `<x/>` is an empty element
    start: int = 0  # start of the part of the source that is HTML
    end: int | None = None
    rules: TagRules = NO_RULES

    def __post_init__(self) -> None:
        self.warnings: list[str] = []
        self.made = MarkupSource(self.source)
        self.builder = SegmentBuilder(self.source, TEXT_ESCAPES)
        self.open: Counter[str] = Counter()
        self.opaque: Opaque | None = None

    def read(self) -> MarkupSource:
        end = 0
        for piece in pieces_of(self.source, self.start, self.end, xml=self.xml):
            self.take(piece)
            end = piece.end
        if self.opaque:
            self.warnings.append(f"<{self.opaque.name}> is never closed; what follows it stays as it was")
            self.leave_opaque(end)
        self.cut()
        self.warnings += [f"{place}: its tags overlap, so it stays as it was" for place in self.builder.overlapping]
        return self.made

    def cut(self) -> None:
        self.made.running += self.builder.cut()

    def take(self, piece: HtmlPiece) -> None:
        token, start, end, markup = piece
        if self.opaque:
            if not self.opaque.ends(token, self.open):
                return
            at_own_end = token.tag == self.opaque.name and token.type == TokenType.END_TAG
            self.leave_opaque(end if at_own_end else start)
            if at_own_end:
                return
        if token.type == TokenType.START_TAG:
            self.start_tag(piece, token.tag or "", dict(token.attrs or ()))
        elif token.type == TokenType.END_TAG:
            self.end_tag(token.tag or "", start, end)
        elif token.type == TokenType.TEXT and not markup:
            self.builder.text(start, end)
        elif token.type == TokenType.CHARACTER_REFERENCE:
            self.builder.character(start, end, token.data or "")
        else:
            self.builder.atom(start, end)

    def is_block(self, name: str) -> bool:
        return (name in BLOCK and name not in self.rules.inline) or name in self.rules.splitting

    def start_tag(self, piece: HtmlPiece, name: str, attributes: Mapping[str, str]) -> None:
        token, start, end, _ = piece
        empty = name in VOID or (token.self_closing and (self.xml or name in FOREIGN))
        if self.is_block(name):
            self.cut()
        kept = is_kept(attributes) or name in self.rules.ignored
        if not kept:
            self.made.inner += readable_attributes(piece, name, attributes, self.builder.lines.at(start))
        if not empty and (kept or name in OPAQUE):
            self.opaque = Opaque(name, start)
            return
        if not empty:
            self.open[name] += 1
        if self.is_block(name):
            return
        if name == "br":
            self.builder.character(start, end, "\n")
        elif empty:
            self.builder.atom(start, end)
        else:
            self.builder.open(name, start, end, separate=name in SEPARATE)

    def end_tag(self, name: str, start: int, end: int) -> None:
        self.open[name] -= self.open[name] > 0
        if self.is_block(name):
            self.cut()
        else:
            self.builder.close(name, start, end)

    def leave_opaque(self, end: int) -> None:
        assert self.opaque is not None
        if not self.is_block(self.opaque.name):
            self.builder.atom(self.opaque.start, end, word=self.opaque.name not in WORDLESS)
        self.opaque = None


@dataclass
class Opaque:
    """An element whose content is not read. It ends at its end tag or, if that is missing, at the end tag of an element
    that was open before it, or at the next element of the same kind if the two cannot be nested."""

    name: str
    start: int
    inside: Counter[str] = field(default_factory=Counter)

    def ends(self, token: Token, outside: Counter[str]) -> bool:
        tag = token.tag or ""
        if token.type == TokenType.START_TAG:
            if tag == self.name in ("p", "li", "dd", "dt", "option", "td", "th", "tr") and not self.inside:
                return True
            if tag not in VOID and not token.self_closing:
                self.inside[tag] += 1
        elif token.type == TokenType.END_TAG:
            if self.inside[tag]:
                self.inside[tag] -= 1
                if not self.inside[tag]:
                    del self.inside[tag]
                return False
            return tag == self.name or outside[tag] > 0
        return False


def pieces_of(
    source: str, at: int = 0, end: int | None = None, scripts: bool = True, xml: bool = False
) -> Iterator[HtmlPiece]:
    """Yields the tokens of the source with their positions. An incomplete tag at the end is not a token.

    The content of <noscript> is one text for browsers that run scripts; here it is read as HTML, once. `xml`: after
    `<script/>` there is no script, so the tokenizer has to be restarted."""
    inside, restarts = None, 0
    tokens = tokens_of(source[at:end])
    while (token := next(tokens, None)) is not None:
        length = len((token.data if token.source is None else token.source) or "")
        if inside != "noscript" or token.type != TokenType.TEXT:
            yield HtmlPiece(token, at, at + length)
        elif scripts:
            yield from pieces_of(source, at, at + length, scripts=False, xml=xml)
        else:
            yield HtmlPiece(token, at, at + length, markup=True)
        at += length
        inside = token.tag if token.type == TokenType.START_TAG else None
        if xml and inside and token.self_closing and inside in RAW and restarts < MAX_RESTARTS:
            inside, restarts, tokens = None, restarts + 1, tokens_of(source[at:end])


def tokens_of(source: str) -> Iterator[Token]:
    return tokenize(source, resolve_references=False, capture_source=True, capture_attributes=True)


def readable_attributes(piece: HtmlPiece, name: str, attributes: Mapping[str, str], line: int) -> Iterator[InnerText]:
    for attribute, value in attributes.items():
        if not LETTER.search(value) or not is_read(name, attribute, attributes):
            continue
        found = value_span(piece, name, attribute)
        if found is not None:
            (start, end), quote = found
            raw = (piece.token.source or "")[start:end]
            text = inner_text(raw, piece.start + start, f"attribute {attribute} in line {line}", quote)
            if text is not None:
                yield text


def value_span(piece: HtmlPiece, name: str, attribute: str) -> tuple[Span, str] | None:
    """The span of an attribute's value in the tag's source, and its quotation mark ("" for none)."""
    source = piece.token.source or ""
    # As a div: a parser drops a table cell outside a table.
    element = parse_fragment(f"<div{source[1 + len(name) :]}", source_locations=True).children[0]
    location = element.source_location
    if location is None or attribute not in location.attrs:
        return None
    shift = len(name) - len("div")
    start = location.attrs[attribute].start_offset + shift + len(attribute)
    end = location.attrs[attribute].end_offset + shift
    rest = source[start:end].lstrip()
    if not rest.startswith("="):
        return None
    value = rest[1:].lstrip()
    quote = value[0] if value[:1] in ('"', "'") else ""
    return (end - len(value) + len(quote), end - len(quote)), quote


def inner_text(raw: str, at: int, place: str, quote: str) -> InnerText | None:
    """Parses an attribute's value, written as `raw` from character `at` of the source. Entities are written as entities
    again; an unquoted value gets quotation marks."""
    made = MarkupSource(raw)
    builder = SegmentBuilder(raw, VALUE_ESCAPES[quote])
    for token, start, end, _ in pieces_of(raw):
        if token.type == TokenType.TEXT:
            builder.text(start, end)
        elif token.type == TokenType.CHARACTER_REFERENCE:
            builder.character(start, end, token.data or "")
        else:
            builder.atom(start, end, word=True)
    made.running = builder.cut(place)
    if not made.running:
        return None

    def make(placed: PlacedSegment) -> str:
        written = made.write([placed])
        return written if quote or written == raw else f'"{written}"'

    return InnerText(made.running[0].segment, (at, at + len(raw)), make)


def read(data: bytes, options: FormatOptions) -> MarkupDocument:
    named = named_encoding(data)
    encoded = decode(data, named)
    if named is None and not encoded.mark and encoded.text.isascii():
        # Browsers would not decode it as UTF-8, so non-ASCII characters are written as character references.
        encoded = encoded._replace(encoding="ascii")
    return _document(encoded, "xmlcharrefreplace")


def read_fragment(text: str, rules: TagRules = NO_RULES) -> MarkupDocument:
    """Reads a part of a page that is already decoded; an encoding that it names is ignored.

    >>> [segment.text for segment in read_fragment("<p>One <b>cat</b></p>&lt;two&gt;").segments]
    ['One cat', '<two>']
    """
    return _document(Encoded(text, "utf-8", b""), "strict", rules)


def _document(encoded: Encoded, errors: str, rules: TagRules = NO_RULES) -> MarkupDocument:
    """Reads a page. `errors`: how characters are written that the encoding does not have."""
    text = without_carriage_returns(encoded.text)
    reader = HtmlReader(text, is_xhtml(text), rules=rules)

    def encode(written: str) -> bytes:
        return encoded.encode(written.replace("\f", "\r") if "\r" in encoded.text else written, errors)

    return MarkupDocument(reader.read(), reader.warnings, encode)


def without_carriage_returns(text: str) -> str:
    """Replaces carriage returns by form feeds, which are white space in HTML too: the tokenizer would drop carriage
    returns and so change all positions."""
    if "\r" in text and "\f" in text:
        raise InputError("the document has carriage returns and form feeds; remove one of them")
    return text.replace("\r", "\f")


def is_xhtml(text: str) -> bool:
    """Whether a page is XHTML: with an XML declaration, or with a namespace on <html>."""
    for token, *_ in islice(pieces_of(text), 20):
        if token.type == TokenType.START_TAG:
            return token.tag == "html" and token.attr("xmlns") is not None
        if (token.source or "").startswith("<?xml"):
            return True
    return False


def named_encoding(data: bytes) -> str | None:
    """The encoding in <meta charset> or the XML declaration, within the first 4 KB."""
    for token, *_ in pieces_of(data[:4096].decode("latin-1")):
        found = None
        if token.type == TokenType.START_TAG and token.tag == "meta":
            found = token.attr("charset")
            if found is None and (token.attr("http-equiv") or "").lower() == "content-type":
                found = (token.attr("content") or "").lower().partition("charset=")[2].strip() or None
        elif (token.source or "").startswith("<?xml"):
            # Parsed as an attribute of a tag.
            declared = tokenize(f"<xml {(token.source or '').removeprefix('<?xml').rstrip('?>')}>")
            found = next((tag.attr("encoding") for tag in declared), None)
        if found is not None:
            name = found.strip().lower()
            return ENCODINGS.get(name, name)
    return None
