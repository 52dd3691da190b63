"""JSON messages of a program, and records as JSON lines: keys stay, strings are translated in place.

Of a JSON document the values that are prose are translated. Keys that begin with "@" (the metadata of ARB files) and
the descriptions and placeholders of browser extensions' messages are not. Of JSON lines the values of the chosen keys
are translated. Strings are read by the standard library's scanner; the grammar around them is followed with a stack,
not by recursion, so that documents of any depth are read.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from dataclasses import dataclass, replace
from json import dumps, loads
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]

from regard.errors import InputError
from regard.formats.document import FormatOptions
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.messages import is_prose, parse_message
from regard.formats.text import SpanDocument, TextSpan, kept_warning

SPACE = re.compile(r"[ \t\r\n]*+")
SCALAR = re.compile(r"-?+(?:0|[1-9]\d*+)(?:\.\d++)?+(?:[eE][-+]?+\d++)?+|true|false|null|NaN|-?Infinity")


@dataclass(frozen=True)
class JsonString:
    """A string value: `start` and `end` include the quotation marks; `holder` numbers the object or array it stands in,
    `key` is its key there, or its place in an array."""

    start: int
    end: int
    value: str
    holder: int
    key: str | int


@dataclass
class Holder:
    """An object or array; `key` is its own key in its parent."""

    parent: int
    key: str | int
    is_object: bool
    keys: set[str]
    count: int = 0


@dataclass
class JsonText:
    strings: list[JsonString]
    holders: list[Holder]  # a parent stands before its children; number 0 holds the document's value


def read_json(text: str, at: int = 0, end: int | None = None, first_line: int = 1) -> JsonText:
    """The string values of the document in characters `at` to `end` of the text, whose lines count from `first_line`.

    >>> [(s.value, s.key) for s in read_json('{"a": "x", "b": [1, "y"]}').strings]
    [('x', 'a'), ('y', 1)]
    """
    return JsonReader(text, at, len(text) if end is None else end, first_line).read()


class JsonReader:
    """Reads values from left to right."""

    def __init__(self, text: str, at: int, end: int, first_line: int) -> None:
        self.text, self.at, self.end, self.first_line = text, at, end, first_line
        self.found = JsonText([], [Holder(0, "", False, set())])
        self.stack = [0]

    def read(self) -> JsonText:
        self.value("")
        while len(self.stack) > 1:
            holder = self.found.holders[self.stack[-1]]
            closing = "}" if holder.is_object else "]"
            self.space()
            if self.text.startswith(closing, self.at):
                self.at += 1
                self.stack.pop()
                continue
            if holder.count:
                self.expect(",")
            key: str | int = holder.count
            if holder.is_object:
                key = self.string()
                holder.keys.add(key)
                self.expect(":")
            holder.count += 1
            self.value(key)
        self.space()
        if self.at < self.end:
            raise self.error("something follows the document's value")
        return self.found

    def space(self) -> None:
        found = SPACE.match(self.text, self.at, self.end)
        assert found is not None
        self.at = found.end()

    def expect(self, character: str) -> None:
        self.space()
        if self.at >= self.end or self.text[self.at] != character:
            raise self.error(f"a {character!r} is missing")
        self.at += 1

    def string(self) -> str:
        self.expect('"')
        try:
            value, self.at = scanstring(self.text, self.at, True)
        except JSONDecodeError as problem:
            self.at = problem.pos
            raise self.error(problem.msg) from None
        if self.at > self.end:
            raise self.error("a string is not closed")
        return str(value)

    def value(self, key: str | int) -> None:
        self.space()
        opening = self.text[self.at : self.at + 1] if self.at < self.end else ""
        if opening == '"':
            start = self.at
            value = self.string()
            self.found.strings.append(JsonString(start, self.at, value, self.stack[-1], key))
        elif opening and opening in "{[":
            self.found.holders.append(Holder(self.stack[-1], key, opening == "{", set()))
            self.stack.append(len(self.found.holders) - 1)
            self.at += 1
        else:
            found = SCALAR.match(self.text, self.at, self.end)
            if found is None:
                raise self.error("a value is missing")
            self.at = found.end()

    def error(self, problem: str) -> InputError:
        line = self.text.count("\n", 0, self.at) + self.first_line
        column = self.at - self.text.rfind("\n", 0, self.at)
        return InputError(f"the document is no JSON: {problem} in line {line}, column {column}")


def json_string(text: str, raw: str, ascii_only: bool) -> str:
    """A string as JSON in the habits of the one it replaces (`raw`, with its quotation marks).

    >>> print(json_string("é/", '"a\\\\/"', ascii_only=False))
    "é\\/"
    """
    written = dumps(text, ensure_ascii=ascii_only)
    return written.replace("/", "\\/") if "\\/" in raw else written


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    found = read_json(source.text)
    ascii_only = source.text.isascii() and "\\u" in source.text
    candidates = [string for string, read in zip(found.strings, readable(found), strict=True) if read]
    prose = [string for string in candidates if is_prose(string.value)]
    spans = [value_span(source.text, string, ascii_only) for string in prose]
    return SpanDocument(source, spans, kept_warning(sum(bool(s.value) for s in candidates) - len(prose), "value"))


def readable(found: JsonText) -> list[bool]:
    """For each string, whether it is a message: not metadata."""
    skipped: list[bool] = []  # of each holder; parents come first
    for holder in found.holders:
        parent = found.holders[holder.parent]
        metadata = str(holder.key).startswith("@") or (holder.key == "placeholders" and "message" in parent.keys)
        skipped.append(metadata or (bool(skipped) and skipped[holder.parent]))
    return [
        not skipped[string.holder]
        and not str(string.key).startswith("@")
        and not (string.key == "description" and "message" in found.holders[string.holder].keys)
        for string in found.strings
    ]


def value_span(text: str, string: JsonString, ascii_only: bool) -> TextSpan:
    """A string value as segments, and how to write it."""
    message = parse_message(string.value)
    raw = text[string.start : string.end]
    return TextSpan(
        string.start,
        string.end,
        [replace(segment, place=f"key {string.key}") for segment in message.segments],
        lambda placed: json_string(message.write(placed), raw, ascii_only),
    )


def read_json_lines(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    check_keys(source.text.split("\n"), options.columns)
    spans, kept = read_records(source, options.columns, is_escaped([data]))
    return SpanDocument(source, spans, kept_warning(kept, "value"))


def is_escaped(blocks: Iterable[bytes]) -> bool:
    """Whether a document holds nothing but ASCII, because it writes other characters as escapes."""
    escapes = False
    for block in blocks:
        if not block.removeprefix(BOM_UTF8).isascii():
            return False
        escapes = escapes or b"\\u" in block
    return escapes


def check_keys(lines: Iterable[str], columns: tuple[str, ...]) -> None:
    """Raise unless each column is a key of some record, with text under it, and each line is JSON."""
    seen: dict[str, None] = {}  # the keys with text, in order
    missing = set(columns) or {""}
    for number, line in enumerate(lines, 1):
        try:
            record = loads(line) if line.strip() else {}
        except (ValueError, RecursionError):  # our reader says where the mistake is, or goes deeper
            record = {string.key: string.value for string in read_json(line, 0, None, number).strings}
        keys = [key for key, value in record.items() if isinstance(value, str)] if isinstance(record, dict) else []
        seen.update(dict.fromkeys(keys))
        missing.difference_update(keys)
    if not missing:
        return
    first = next(column for column in columns or ("",) if column in missing)
    given = f"none has text under the key {first!r}" if columns else "no key was chosen"
    keys_shown = ", ".join(list(seen)[:20]) or "none"
    raise InputError(
        f"columns must name keys of the records whose values are text, but {given}; there are: {keys_shown}"
    )


def read_records(
    source: Encoded, columns: tuple[str, ...], ascii_only: bool, first_line: int = 1
) -> tuple[list[TextSpan], int]:
    """The texts of whole lines of a document, and how many values of the chosen keys have no letter."""
    spans: list[TextSpan] = []
    start, kept = 0, 0
    for line in source.text.split("\n"):
        end = start + len(line)
        if line.strip():
            found = read_json(source.text, start, end, first_line)
            top = [s for s in found.strings if s.holder == 1 and found.holders[1].is_object]
            chosen = [string for string in top if string.key in columns]
            readable = [string for string in chosen if has_letter(string.value)]
            kept += len(chosen) - len(readable)
            spans += [value_span(source.text, string, ascii_only) for string in readable]
        start = end + 1
    return spans, kept
