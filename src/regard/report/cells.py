"""Text in terminal cells: cut, padded and wrapped by displayed width, with wide scripts.

    shorten("internationalisation", 8)                     'interna…'
    shorten_middle("newstest2017.online-A.0.en-de", 15)    'newstes…0.en-de'
    pad("猫", 4)                                           '猫  '
    wrap_cells("aa bb cc", 5)                              ['aa bb', 'cc']

Untrusted text is made `visible` here, so that it cannot move the cursor or join cells. `text.py` does the same in em,
for pictures.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size

from regard.report.text import ELLIPSIS

if TYPE_CHECKING:
    from rich.console import RenderableType

# Maximum characters per cell: letters with their accents, emoji of several characters.
MAX_CHARS_PER_CELL = 4

__all__ = ["cell_len", "one_line", "pad", "plain_text", "shorten", "shorten_middle", "visible", "wrap_cells"]


def visible(text: str) -> str:
    """Replaces characters that move the cursor, change the text direction or join cells by "�".

    >>> visible("a\\x1b[2J")
    'a�[2J'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def one_line(text: str) -> str:
    """Makes a text `visible`, with every run of white space as one space.

    >>> one_line("a\\n b\\x1b[2J")
    'a b�[2J'
    """
    return visible(" ".join(text.split()))


def shorten(text: str, cells: int) -> str:
    """Makes a text `visible` and at most `cells` wide, with "…" at the end if it was longer.

    >>> shorten("internationalisation", 8)
    'interna…'
    """
    shown = visible(text)
    return shown if cell_len(shown) <= cells else set_cell_size(shown, cells - 1).rstrip() + ELLIPSIS


def shorten_middle(text: str, cells: int) -> str:
    """Makes a text one line of at most `cells`, with "…" in the middle if it was longer: names often differ at the end.

    >>> shorten_middle("newstest2017.online-A.0.en-de", 15)
    'newstes…0.en-de'
    """
    text = one_line(text)
    if cell_len(text) <= cells:
        return text
    half = (cells - 1) // 2
    begin = (chop_cells(text, half)[0] if half else "") + ELLIPSIS
    ends = (text[at:] for at in range(max(0, len(text) - MAX_CHARS_PER_CELL * cells), len(text) + 1))
    return begin + next(end for end in ends if cell_len(begin + end) <= cells)


def plain_text(made: RenderableType, width: int) -> str:
    """Renders with rich as plain text, like a terminal of this width without colors."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, no_color=True, force_terminal=False, highlight=False).print(made)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def pad(text: str, cells: int) -> str:
    """Makes a text exactly `cells` wide, by adding spaces or cutting.

    >>> pad("猫", 4)
    '猫  '
    """
    return set_cell_size(text, cells)


def wrap_cells(text: str, cells: int, most: int | None = None) -> list[str]:
    """Wraps a text to lines of whole words where they fit; after `most` lines it ends in "…".

    >>> wrap_cells("aa bb cc", 5)
    ['aa bb', 'cc']
    """
    rows: list[str] = []
    for word in one_line(text).split():
        if rows and cell_len(f"{rows[-1]} {word}") <= cells:
            rows[-1] += f" {word}"
        else:
            rows += chop_cells(word, cells)
    if most is not None and len(rows) > most:
        rows = [*rows[: most - 1], set_cell_size(rows[most - 1], cells - 1).rstrip() + ELLIPSIS]
    return rows or [""]
