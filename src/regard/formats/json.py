"""Messages of a program as JSON: keys stay, values that are prose are translated.

Keys that begin with "@" (the metadata of ARB files) and the descriptions and placeholders of browser extensions'
messages are not translated.
"""

from __future__ import annotations

from dataclasses import replace

from regard.formats.document import FormatOptions
from regard.formats.encoding import decode
from regard.formats.json_tokens import JsonString, JsonText, json_string, read_json
from regard.formats.messages import is_prose, parse_message
from regard.formats.spans import SpanDocument, TextSpan, kept_warning


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
