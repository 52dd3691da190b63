"""Records as JSON lines: the values of the chosen keys are translated."""

from __future__ import annotations

from regard.errors import InputError
from regard.formats.document import FormatOptions
from regard.formats.encoding import decode
from regard.formats.flow import has_letter
from regard.formats.json import value_span
from regard.formats.json_tokens import read_json
from regard.formats.spans import SpanDocument, TextSpan, kept_warning


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    ascii_only = source.text.isascii() and "\\u" in source.text
    spans: list[TextSpan] = []
    seen: dict[str, None] = {}  # the keys with text, in order
    kept = 0
    start = 0
    for line in source.text.split("\n"):
        end = start + len(line)
        if line.strip():
            found = read_json(source.text, start, end)
            top = [s for s in found.strings if s.holder == 1 and found.holders[1].is_object]
            seen.update(dict.fromkeys(str(string.key) for string in top))
            chosen = [string for string in top if string.key in options.columns]
            readable = [string for string in chosen if has_letter(string.value)]
            kept += len(chosen) - len(readable)
            spans += [value_span(source.text, string, ascii_only) for string in readable]
        start = end + 1
    missing = [column for column in options.columns or ("",) if column not in seen]
    if missing:
        given = f"none has text under the key {missing[0]!r}" if missing[0] else "no key was chosen"
        keys = ", ".join(list(seen)[:20]) or "none"
        raise InputError(f"columns must name keys of the records whose values are text, but {given}; there are: {keys}")
    return SpanDocument(source, spans, kept_warning(kept, "value"))
