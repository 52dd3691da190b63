"""JSON messages of a program, and records as JSON lines: keys stay, strings are translated in place.

In a JSON document the values that are prose are translated. Keys that begin with "@" (the metadata of ARB files) and
the descriptions and placeholders of browser extensions' messages are not. In JSON lines the values of the chosen keys
are translated. The standard library's decoder reads them, with a scanner that records the position of each string.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import replace
from json import JSONDecodeError, JSONDecoder, dumps, loads, scanner
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from regard.errors import InputError
from regard.formats.document import FormatOptions
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.messages import is_prose, parse_message
from regard.formats.text import SpanDocument, TextSpan, kept_warning


class JsonString(str):
    """A string value; `start` and `end` are its span in the document, quotation marks included."""

    start: int
    end: int


class Members(list[tuple[str, Any]]):
    """The keys and values of an object, in order."""


def _scan_string(text: str, at: int, strict: bool) -> tuple[JsonString, int]:
    value, end = scanstring(text, at, strict)
    found = JsonString(value)
    found.start, found.end = at - 1, end
    return found, end


DECODER = JSONDecoder(object_pairs_hook=Members, parse_int=str, parse_float=str, parse_constant=str)
DECODER.parse_string = _scan_string  # type: ignore[attr-defined]
DECODER.scan_once = scanner.py_make_scanner(DECODER)  # type: ignore[attr-defined]


def read_json(text: str, first_line: int = 1) -> Any:
    """Parses a document whose lines count from `first_line`: objects are `Members`, strings `JsonString`.

    >>> read_json('{"a": "x", "b": [1, "y"]}')
    [('a', 'x'), ('b', ['1', 'y'])]
    """
    try:
        return DECODER.decode(text)
    except JSONDecodeError as problem:
        place = f"in line {problem.lineno + first_line - 1}, column {problem.colno}"
        raise InputError(f"the document is no JSON: {problem.msg} {place}") from None
    except RecursionError:
        raise InputError("the document is nested too deeply to be read") from None


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    ascii_only = source.text.isascii() and "\\u" in source.text
    found = [(key, string) for key, string in messages(read_json(source.text)) if string]
    spans = [value_span(source.text, key, string, ascii_only) for key, string in found if is_prose(string)]
    return SpanDocument(source, spans, kept_warning(len(found) - len(spans), "value"))


def messages(value: Any, key: str | int = "") -> Iterator[tuple[str | int, JsonString]]:
    """Yields the strings with their keys, or their indices in an array, without metadata."""
    if isinstance(value, JsonString):
        yield key, value
    elif isinstance(value, Members):
        about_message = "message" in dict(value)
        for name, inner in value:
            about = "description" if isinstance(inner, JsonString) else "placeholders"
            if not name.startswith("@") and not (about_message and name == about):
                yield from messages(inner, name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from messages(inner, number)


def value_span(text: str, key: str | int, string: JsonString, ascii_only: bool, shift: int = 0) -> TextSpan:
    """A string value as segments, and how to write it; `shift` is the offset of its document in the text."""
    message = parse_message(str(string))
    start, end = shift + string.start, shift + string.end
    segments = [replace(segment, place=f"key {key}") for segment in message.segments]
    return TextSpan(
        start, end, segments, lambda placed: json_string(message.write(placed), text[start:end], ascii_only)
    )


def json_string(text: str, raw: str, ascii_only: bool) -> str:
    """Encodes a string as JSON in the style of the one it replaces (`raw`, with its quotation marks).

    >>> print(json_string("é/", '"a\\\\/"', ascii_only=False))
    "é\\/"
    """
    written = dumps(text, ensure_ascii=ascii_only)
    return written.replace("/", "\\/") if "\\/" in raw else written


# ── JSON lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_json_lines(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    check_keys(source.text.split("\n"), options.columns)
    spans, kept = read_records(source, options.columns, is_escaped([data]))
    return SpanDocument(source, spans, kept_warning(kept, "value"))


def is_escaped(blocks: Iterable[bytes]) -> bool:
    """Whether a document is pure ASCII, because it writes other characters as escapes."""
    escapes = False
    for block in blocks:
        if not block.removeprefix(BOM_UTF8).isascii():
            return False
        escapes = escapes or b"\\u" in block
    return escapes


def check_keys(lines: Iterable[str], columns: tuple[str, ...]) -> None:
    """Raises unless each column is a key of some record, with text as its value, and each line is JSON."""
    seen: dict[str, None] = {}  # the keys of text values, in order
    missing = set(columns) or {""}
    for number, line in enumerate(lines, 1):
        try:
            record = loads(line) if line.strip() else {}
        except (ValueError, RecursionError):
            record = dict(read_json(line, number))  # raises with the position of the mistake
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
    """Reads the texts of whole lines of a document; also returns how many values of the chosen keys have no letter."""
    spans: list[TextSpan] = []
    start, kept = 0, 0
    for number, line in enumerate(source.text.split("\n"), first_line):
        record = read_json(line, number) if line.strip() else None
        for key, value in record if isinstance(record, Members) else ():
            if key in columns and isinstance(value, JsonString):
                if has_letter(value):
                    spans.append(value_span(source.text, key, value, ascii_only, start))
                else:
                    kept += 1
        start += len(line) + 1
    return spans, kept
