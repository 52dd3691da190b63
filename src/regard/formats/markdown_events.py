"""The events of a Markdown text with their positions, and its shape: the elements without the words.

The parser is pyromark (pulldown-cmark): CommonMark with tables, footnotes, task lists, strikethrough, formulas,
GitHub's alerts and front matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from pyromark import Options, events_with_range

from regard.formats.encoding import character_places

OPTIONS = (
    Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_HEADING_ATTRIBUTES
    | Options.ENABLE_YAML_STYLE_METADATA_BLOCKS
    | Options.ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
    | Options.ENABLE_MATH
    | Options.ENABLE_GFM
)


class MarkdownEvent(NamedTuple):
    """An event of the parser. `kind`: start, end or leaf; `name`: Paragraph, Link, Text …; `value`: pyromark's data."""

    kind: str
    name: str
    value: Any
    start: int
    end: int


def events_of(text: str, known: frozenset[str] = frozenset()) -> Iterator[MarkdownEvent]:
    """Yields the events with their positions in characters. `known`: labels of links that are defined elsewhere, in
    lower case."""

    def resolve(link: Any) -> tuple[str, str] | None:
        label = str(link["reference"]).lower()
        return (f"#{label}", "") if label in known else None

    places = character_places(text)
    found = events_with_range(text, options=OPTIONS, broken_link_callback=resolve if known else None)
    for event, range in found:
        start, end = places[range["start"]], places[range["end"]]
        key, value = _named(event)
        if key in ("Start", "End"):
            yield MarkdownEvent(key.lower(), *_named(value), start, end)
        else:
            yield MarkdownEvent("leaf", key, value, start, end)


def _named(event: Any) -> tuple[str, Any]:
    """Splits an event, which is a name or a name with a value, into name and value."""
    return (event, None) if isinstance(event, str) else next(iter(event.items()))


Shape = tuple[tuple[str, ...], Counter[tuple[str, str]]]
INLINE = frozenset(("Emphasis", "Strong", "Strikethrough", "Superscript", "Subscript", "Link", "Image"))


def shape_of(text: str, known: frozenset[str] = frozenset()) -> Shape:
    """The blocks in order, and the inline elements, in any order, with the data that must not change.

    >>> shape_of("# A *b*") == shape_of("# *C* d"), shape_of("a *b*") == shape_of("a b*")
    (True, False)
    """
    blocks: list[str] = []
    inline: Counter[tuple[str, str]] = Counter()
    for event in events_of(text, known):
        if event.name in ("Text", "SoftBreak"):
            continue
        if event.kind == "leaf":  # for a tag only its name, since attributes may be translated
            inline[event.name, str(event.value).split()[0] if event.name == "InlineHtml" else str(event.value)] += 1
        elif event.name not in INLINE:
            blocks.append(f"{event.kind} {event.name}")
        elif event.kind == "start":
            inline[event.name, event.value["dest_url"] if isinstance(event.value, dict) else ""] += 1
    return tuple(blocks), inline
