"""Messages of a program as YAML: keys stay, values that are prose are translated and written in the same style.

PyYAML (with libyaml if available) finds the scalars and determines which styles a new text may have; a plain or
single-quoted scalar whose translation cannot be plain or single-quoted becomes double-quoted. Anchors, aliases, tags
and comments stay. An alias is never expanded: the text is translated once, at its anchor.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from regard.errors import InputError
from regard.formats.document import FormatOptions, PlacedSegment
from regard.formats.encoding import decode
from regard.formats.messages import Message, is_prose, parse_message
from regard.formats.text import SpanDocument, TextSpan, kept_warning

MAX_NESTING = 500
FOLD_WIDTH = 80  # of folded lines
NO_WRAP = 1 << 30
STRING = "tag:yaml.org,2002:str"
OTHER_BREAKS = re.compile("[\r\x85\u2028\u2029]")  # YAML would read these as line breaks
# An anchor, a tag or a comment before the text of a scalar, which cannot begin with any of their signs.
PROPERTIES = re.compile(r"(?:[&!]\S*+\s++|#[^\r\n]*+\s++)*+")
HEADER = re.compile(r"([|>])([-+0-9]*+)([^\r\n]*+)(\r\n|\r|\n)?")


class Scalar(NamedTuple):
    """A string value: its span in the document, quotation marks included."""

    start: int
    end: int
    value: str
    style: str  # "" for plain
    key: str
    in_flow: bool  # inside [] or {}


def read(data: bytes, options: FormatOptions) -> SpanDocument:
    source = decode(data)
    found = list(scalars(source.text))
    prose = [scalar for scalar in found if is_prose(scalar.value)]
    ascii_only = source.text.isascii() and "\\u" in source.text
    spans = [value_span(source.text, scalar, ascii_only) for scalar in prose]
    return SpanDocument(source, spans, kept_warning(len(found) - len(prose), "value"))


def value_span(text: str, scalar: Scalar, ascii_only: bool) -> TextSpan:
    message = parse_message(scalar.value)
    raw = text[scalar.start : scalar.end]
    segments = [replace(segment, place=f"key {scalar.key}") for segment in message.segments]

    def write(placed: Sequence[PlacedSegment], message: Message = message) -> str:
        return written(message.write(placed), scalar, raw, ascii_only)

    return TextSpan(scalar.start, scalar.end, segments, write)


@dataclass
class Collection:
    """An open mapping or sequence; the outermost one is the document itself."""

    is_mapping: bool = False
    in_flow: bool = False  # or inside one that is in flow style
    key: str = ""
    expects_key: bool = True  # for a mapping


def scalars(text: str) -> Iterator[Scalar]:
    """Yields the string values of the document that are not empty, in order, without keys."""
    import yaml

    stack = [Collection()]
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            holder = stack[-1]
            if isinstance(event, yaml.ScalarEvent):
                if holder.is_mapping and holder.expects_key:
                    holder.key = event.value
                elif event.value and is_string(event):
                    properties = PROPERTIES.match(text, event.start_mark.index)
                    start = properties.end() if properties else event.start_mark.index
                    end = event.end_mark.index
                    yield Scalar(start, end, event.value, event.style or "", holder.key, holder.in_flow)
            if isinstance(event, yaml.NodeEvent):
                holder.expects_key = not holder.expects_key
            if isinstance(event, yaml.CollectionStartEvent):
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                stack.append(Collection(is_mapping, bool(event.flow_style) or holder.in_flow, holder.key))
                if len(stack) > MAX_NESTING + 1:
                    raise InputError(f"the document is nested more than {MAX_NESTING} deep, the most that is read")
            elif isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = getattr(problem, "problem", None) or str(problem).splitlines()[0]
        raise InputError(f"the document is not valid YAML: {message}{place}") from None


def is_string(event: Any) -> bool:
    if event.tag not in (None, "!", STRING):
        return False
    return bool(event.style) or event.tag is not None or resolves_to_string(event.value)


def resolves_to_string(value: str) -> bool:
    """Whether a plain scalar of this value is a string: not a number, a boolean, a date or null."""
    import yaml
    from yaml.resolver import Resolver

    return bool(Resolver().resolve(yaml.ScalarNode, value, (True, False)) == STRING)


def written(text: str, scalar: Scalar, raw: str, ascii_only: bool) -> str:
    """Writes the new text in the style of the scalar, or double-quoted if that style cannot represent it."""
    from yaml.emitter import Emitter

    analysis = Emitter(None, allow_unicode=not ascii_only).analyze_scalar(text)
    if scalar.style in ("|", ">"):
        block = written_block(text, raw, analysis.allow_block)
        if block is not None:
            return block
        return double_quoted(text, ascii_only) + raw[len(raw.rstrip()) :]
    plain = analysis.allow_flow_plain if scalar.in_flow else analysis.allow_block_plain
    if scalar.style == "" and plain and resolves_to_string(text):
        return text
    if scalar.style in ("", "'") and analysis.allow_single_quoted and not analysis.multiline:
        return "'" + text.replace("'", "''") + "'"
    return double_quoted(text, ascii_only)


def double_quoted(text: str, ascii_only: bool) -> str:
    import yaml

    written = yaml.dump(text, Dumper=yaml.SafeDumper, default_style='"', allow_unicode=not ascii_only, width=NO_WRAP)
    return str(written).rstrip("\n")


def written_block(text: str, raw: str, allowed: bool) -> str | None:
    """Writes the text as a literal (|) or folded (>) scalar with the header, indentation and end of the original."""
    header = HEADER.match(raw)
    body = raw[header.end() :] if header else ""
    lines = [line for line in body.splitlines() if line.strip()]
    if header is None or not lines or not allowed or text.startswith((" ", "\n")) or OTHER_BREAKS.search(text):
        return None
    newline = header[4] or "\n"
    first = lines[0]
    indent = first[: len(first) - len(first.lstrip(" "))]
    content = text.rstrip("\n")
    if header[1] == ">" and not any(line.startswith((" ", "\t")) for line in content.split("\n")):
        paragraphs = [
            textwrap.wrap(line, FOLD_WIDTH, break_long_words=False, break_on_hyphens=False)
            for line in content.split("\n")
        ]
        made = [line for paragraph in paragraphs for line in [*paragraph, ""]][:-1]
        start = header[0]
    else:
        made = content.split("\n")
        start = "|" + header[0][1:]
    tail = body[len(body.rstrip()) :]
    return start + newline.join(indent + line if line else "" for line in made) + tail
