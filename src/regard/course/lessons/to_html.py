"""Markdown of a lesson as HTML, with a fixed set of elements and attributes.

Raw HTML and images of the source are not written, and text is escaped, so a page can insert the result as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from pyromark import Options, events

OPTIONS = Options.ENABLE_TABLES
PLAIN = {
    "Paragraph": "p", "Emphasis": "em", "Strong": "strong", "Item": "li", "TableRow": "tr", "BlockQuote": "blockquote",
}  # fmt: skip
NESTED = {
    "Table": ('<div class="wide"><table>', "</table></div>"),
    "TableHead": ("<thead><tr>", "</tr></thead>"),
    "CodeBlock": ("<pre><code>", "</code></pre>"),
}
LESSON_FILE = re.compile(r"(\d\d)-[a-z-]+\.md(?:#.*)?")


def to_html(markdown: str) -> str:
    """Blocks of Markdown.

    >>> to_html("A *b* & [c](04-attention.md), [d](../explain.md)")
    '<p>A <em>b</em> &amp; <a href="#/lesson?lesson=4">c</a>, d</p>'
    """
    return "".join(_elements(markdown))


def inline_html(markdown: str) -> str:
    """One paragraph of Markdown, without its element.

    >>> inline_html("`a < b`")
    '<code>a &lt; b</code>'
    """
    return re.sub(r"^<p>(((?!<p>).)*)</p>$", r"\1", to_html(markdown), flags=re.DOTALL)


def _elements(markdown: str) -> Iterator[str]:
    open_elements: list[str] = []  # closing tags
    cell = "td"
    for event in events(markdown, options=OPTIONS):
        name, value = _named(event)
        if name == "Start":
            kind, data = _named(value)
            cell = {"TableHead": "th", "TableRow": "td"}.get(kind, cell)
            opening, closing = _tags(kind, data, cell)
            open_elements.append(closing)
            yield opening
        elif name == "End":
            yield open_elements.pop()
        elif name in ("Text", "InlineHtml", "Html"):  # raw HTML is shown as text
            yield escape(value, quote=False)
        elif name == "Code":
            yield f"<code>{escape(value, quote=False)}</code>"
        elif name in ("SoftBreak", "HardBreak"):
            yield "\n" if name == "SoftBreak" else "<br>"


def _named(event: Any) -> tuple[str, Any]:
    """An event, which is a name or a name with a value, as name and value."""
    return (event, None) if isinstance(event, str) else next(iter(event.items()))


def _tags(kind: str, data: Any, cell: str) -> tuple[str, str]:
    if kind in NESTED:
        return NESTED[kind]
    if kind == "Link":
        return _link(data["dest_url"])
    tag = PLAIN.get(kind, "")
    if kind == "Heading":
        tag = data["level"].lower()
    elif kind == "List":
        tag = "ul" if data is None else "ol"
    elif kind == "TableCell":
        tag = cell
    return (f"<{tag}>", f"</{tag}>") if tag else ("", "")


def _link(target: str) -> tuple[str, str]:
    """A link to a lesson, or out of the page; the text alone where it leads to another document of the repository."""
    if other := LESSON_FILE.fullmatch(target):
        return f'<a href="#/lesson?lesson={int(other[1])}">', "</a>"
    if target.startswith(("https://", "http://")):
        return f'<a href="{escape(target)}" rel="noopener noreferrer">', "</a>"
    return "", ""
