"""Records as JSON lines: the values of the chosen keys are translated."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from collections.abc import Iterable

from regard.errors import InputError
from regard.formats.document import FormatOptions
from regard.formats.encoding import Encoded, decode
from regard.formats.flow import has_letter
from regard.formats.json import value_span
from regard.formats.json_tokens import read_json
from regard.formats.spans import SpanDocument, TextSpan, kept_warning


def read(data: bytes, options: FormatOptions) -> SpanDocument:
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
            record = json.loads(line) if line.strip() else {}
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
