"""A self-contained HTML page: a content security policy in it forbids network, libraries and fonts.

    page("Models compared", "\n".join([table.html(), picture(line_chart(…))]))

The title is text and is escaped; the body is HTML, and the caller must escape untrusted text in it (`Table.html`,
`picture` and `said` do). Colours are CSS variables with values for light and for dark pages; a body uses these classes:

    .quiet   less important text        td.n     a number             mark     a highlighted word
    .text    text of a corpus           .wide    may be wider than the page, and then scrolls
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from regard.report.animation import animation_rules
from regard.report.colour import dark_rules
from regard.report.drawing import Drawing
from regard.report.palette import declarations
from regard.report.render import svg
from regard.report.text import printable

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
SCRIPT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

_STYLE = f":root {{\n{declarations()}\n}}\n{Path(__file__).with_name('page.css').read_text(encoding='utf-8')}"


def page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Returns a whole document; `style` is added to the style of every page, and `script` is its only script."""
    name = escaped(title)
    rules = dark_rules(body)
    drawings = f"@media screen and (prefers-color-scheme: dark) {{ {rules} }}\n" if rules else ""
    scripts = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{SCRIPT_POLICY if script else POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>\n{_STYLE}{drawings}{style}</style>\n</head>\n<body>\n"
        f'<main>\n<h1 dir="auto">{name}</h1>\n{body}\n</main>\n{scripts}</body>\n</html>\n'
    )


def drawing_page(drawing: Drawing) -> str:
    """Returns a page of one drawing, which builds up if it is an animation."""
    return page(drawing.title, picture(drawing), animation_rules(drawing.frames))


def picture(drawing: Drawing) -> str:
    """Returns a drawing or chart as HTML for a body."""
    return f'<div class="wide">{svg(drawing, inline=True)}</div>'


def escaped(text: str) -> str:
    """Converts untrusted text to HTML: escaped, with control characters made visible.

    >>> escaped("<b>\\x1b")
    '&lt;b&gt;�'
    """
    return escape(printable(text))
