"""Text in terminal cells: cut, padded and broken into lines, wide scripts counted as they are shown.

    shorten("internationalisation", 8)                     'interna…'
    shorten_middle("newstest2017.online-A.0.en-de", 15)    'newstes…0.en-de'
    pad("猫", 4)                                           '猫  '
    wrap_cells("aa bb cc", 5)                              ['aa bb', 'cc']

Text that comes from outside is made `visible` here: nothing that is shown moves the cursor or joins cells. `text.py`
does the same in em, for pictures.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size

from regard.report.text import ELLIPSIS

if TYPE_CHECKING:
    from rich.console import RenderableType

# Characters of a cell, at most, of what is kept: letters with their accents, signs of several characters.
MAX_CHARS_PER_CELL = 4

__all__ = ["cell_len", "one_line", "pad", "plain_text", "shorten", "shorten_middle", "visible", "wrap_cells"]


def visible(text: str) -> str:
    """What moves the cursor, turns text around or joins cells is shown as a sign.

    >>> visible("a\\x1b[2J")
    'a�[2J'
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def one_line(text: str) -> str:
    """Visible, with every run of white space as one space.

    >>> one_line("a\\n b\\x1b[2J")
    'a b�[2J'
    """
    return visible(" ".join(text.split()))


def shorten(text: str, cells: int) -> str:
    """Visible and at most `cells` wide, with "…" at the end where it was longer.

    >>> shorten("internationalisation", 8)
    'interna…'
    """
    shown = visible(text)
    return shown if cell_len(shown) <= cells else set_cell_size(shown, cells - 1).rstrip() + ELLIPSIS


def shorten_middle(text: str, cells: int) -> str:
    """On one line and at most `cells` wide, with "…" in the middle: names often differ at the end.

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
    """What rich prints, as a terminal of this width without colors would show it."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, no_color=True, force_terminal=False, highlight=False).print(made)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def pad(text: str, cells: int) -> str:
    """Exactly `cells` wide: filled with spaces, or cut.

    >>> pad("猫", 4)
    '猫  '
    """
    return set_cell_size(text, cells)


def wrap_cells(text: str, cells: int, most: int | None = None) -> list[str]:
    """Lines of whole words where they fit; after `most` lines "…".

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
