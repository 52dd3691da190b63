"""Renders a drawing as an SVG or PNG file.

In SVG, text stays text, shaped by the viewer, in any script. The same drawing gives the same bytes: decimals are fixed,
and there is no time, no id and no script. Untrusted text is escaped. Right-to-left text has `direction` and
`unicode-bidi`. In dark mode only the colors of the background and of text change.

A PNG is the SVG rendered by resvg. `font` names a font file; without it the first of some common families that is
installed is used. Characters that this font lacks come from any other installed font; a character that no font has
is an error. With the same fonts the same drawing gives the same bytes.
"""

from __future__ import annotations

import math
import struct
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from regard.errors import InputError
from regard.report.animation import animation_rules, grouped
from regard.report.colour import INK, SURFACE, dark_rules, on_scale
from regard.report.drawing import Box, Curve, Dot, Drawing, Item, Label, Line, Tiles
from regard.report.palette import TYPE
from regard.report.text import printable, runs_left

FONTS = TYPE["sans"]
NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'
BASELINE = 0.35  # em from the vertical center of a letter down to its baseline


def svg(drawing: Drawing, inline: bool = False, fonts: str = FONTS, directions: bool = True) -> str:
    """Returns an SVG file, or an element for HTML, where CSS may colour the background (.paper) and text (.ink).

    Browsers measure `text-anchor` from where a text begins, so with `directions` it is swapped for right-to-left text.
    For renderers without `direction` the anchor stays, and Unicode isolates mark the direction.
    """
    wide, high = _number(drawing.width), _number(drawing.height)
    named = _escaped(drawing.title) or "attention"
    about = f"<desc>{_escaped(drawing.caption)}</desc>" if drawing.caption else ""
    head = (
        f'<svg{"" if inline else NAMESPACE} width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
        f'role="img" font-family="{fonts}">'
    )
    paper = f'<rect class="paper" width="{wide}" height="{high}" fill="{SURFACE}"/>'
    written = [WRITERS[type(item)](item, directions) for item in drawing.items]
    drawn = "\n".join([paper, *(grouped(written, drawing.frames) if drawing.frames else written)])
    motion = animation_rules(drawing.frames)
    dark = "" if inline else f"<style>@media (prefers-color-scheme:dark){{{dark_rules(drawn)}}}{motion}</style>"
    return f"{head}\n<title>{named}</title>{about}{dark}\n{drawn}\n</svg>\n"


def _box(box: Box, _: bool) -> str:
    place = f'x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}"'
    corners = f' rx="{_number(box.round)}"' if box.round else ""
    return _noted("rect", f'{place}{corners} fill="{box.fill}"{_opacity(box.opacity)}', box.note)


def _label(label: Label, directions: bool) -> str:
    left = runs_left(label.text)
    text = _escaped(label.text) if directions or not left else f"\u2067{_escaped(label.text)}\u2069"
    left = left and directions
    begins = {"left": "end" if left else "start", "middle": "middle", "right": "start" if left else "end"}
    style = f'text-anchor="{begins[label.anchor]}" font-size="{_number(label.size)}"'
    style += f' class="ink" fill="{label.fill}"' if label.fill == INK else f' fill="{label.fill}"'
    style += ' font-weight="bold"' if label.bold else ""
    style += ' direction="rtl" unicode-bidi="embed"' if left else ""
    foot = label.size * BASELINE
    if label.turn:
        turn = f"translate({_number(label.x)} {_number(label.y)}) rotate({_number(label.turn)})"
        place = f'y="{_number(foot)}" transform="{turn}"'
    else:
        place = f'x="{_number(label.x)}" y="{_number(label.y + foot)}"'
    title = f"<title>{_escaped(label.note)}</title>" if label.note else ""
    spaces = "" if label.text == " ".join(label.text.split()) else ' xml:space="preserve"'
    return f"<text {place} {style}{spaces}>{title}{text}</text>"


def _tiles(tiles: Tiles, _: bool) -> str:
    """Draws one path for each colour, in units of cells, so that a sheet of many maps stays small."""
    paths = []
    for level in sorted({level for row in tiles.levels for level in row}):
        steps = [
            f"M{x} {y}h{stop - x}v1h{x - stop}z"
            for y, row in enumerate(tiles.levels)
            for x, stop in level_runs(row, level)
        ]
        paths.append(f'<path fill="{on_scale(level / 10).hex}" d="{"".join(steps)}"/>')
    place = f"translate({_number(tiles.x)} {_number(tiles.y)})"
    zoom = f"scale({tiles.cell_width:.4f} {tiles.cell_height:.4f})"
    title = f"<title>{_escaped(tiles.note)}</title>" if tiles.note else ""
    return f'<g transform="{place} {zoom}" shape-rendering="crispEdges">{title}{"".join(paths)}</g>'


def level_runs(row: tuple[int, ...], level: int) -> list[tuple[int, int]]:
    """
    >>> level_runs((1, 0, 0, 1, 0), 0)
    [(1, 3), (4, 5)]
    """
    runs: list[tuple[int, int]] = []
    for x, found in enumerate(row):
        if found == level:
            joined = runs and runs[-1][1] == x
            runs[-1:] = [(runs[-1][0], x + 1)] if joined else [*runs[-1:], (x, x + 1)]
    return runs


def _curve(curve: Curve, _: bool) -> str:
    first, *others = (f"{_number(x)} {_number(y)}" for x, y in curve.points)
    shape = f'd="M{first}C{" ".join(others)}" fill="none" stroke="{curve.stroke}" stroke-width="{_number(curve.width)}"'
    return _noted("path", f"{shape}{_opacity(curve.opacity)}", curve.note)


def _line(line: Line, _: bool) -> str:
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in line.points)
    shape = f'points="{points}" fill="none" stroke="{line.stroke}" stroke-width="{_number(line.width)}"'
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    return _noted("polyline", f"{shape}{dashes}{_opacity(line.opacity)}", line.note)


def _dot(dot: Dot, _: bool) -> str:
    shape = f'cx="{_number(dot.x)}" cy="{_number(dot.y)}" r="{_number(dot.radius)}" fill="{dot.fill}"'
    return _noted("circle", shape, dot.note)


# The SVG writer of each item type; with True, right-to-left text has a direction.
WRITERS: dict[type[Item], Callable[[Any, bool], str]] = {
    Box: _box, Label: _label, Tiles: _tiles, Curve: _curve, Line: _line, Dot: _dot,
}  # fmt: skip


def _noted(tag: str, attributes: str, note: str) -> str:
    return f"<{tag} {attributes}><title>{_escaped(note)}</title></{tag}>" if note else f"<{tag} {attributes}/>"


def _opacity(value: float) -> str:
    return "" if value >= 1 else f' opacity="{value:.2f}"'


def _escaped(text: str) -> str:
    return escape(printable(text))


def _number(value: float) -> str:
    """
    >>> _number(12.0), _number(0.349), _number(-0.001)
    ('12', '0.35', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


ZOOM = 2  # pixels of the PNG per pixel of the drawing
MAX_PIXELS = 16_000  # maximum length of a side
USUAL = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica", "Segoe UI", "Roboto", "FreeSans")
PLAIN = {"←": "<-", "→": "->", "“": '"', "”": '"', "▁": "_", "−": "-"}  # fallbacks for our own symbols
IN_NO_FONT = "\U0010ffff"


def png(drawing: Drawing, font: Path | None = None) -> bytes:
    wide, high = (math.ceil(side * ZOOM) for side in (drawing.width, drawing.height))
    if max(wide, high) > MAX_PIXELS:
        raise InputError(
            f"the picture would be {wide} × {high} pixels, more than {MAX_PIXELS}; write an .svg or .html instead"
        )
    family = _family(font)
    items = (
        replace(item, text=_drawable(item.text, family, font)) if isinstance(item, Label) else item
        for item in drawing.still
    )
    return _render(svg(replace(drawing, items=tuple(items), frames=()), fonts=f"'{family}'", directions=False), font)


def _render(text: str, font: Path | None) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=text, zoom=ZOOM, font_files=[str(font)] if font else None))


def _drawable(text: str, family: str, font: Path | None) -> str:
    shown = "".join(PLAIN.get(c, c) if _lacks(c, family, font) else c for c in printable(text))
    missing = next((c for c in shown if _lacks(c, family, font)), None)
    if missing is not None:
        raise no_font_has(missing)
    return shown


def no_font_has(character: str) -> InputError:
    name = unicodedata.name(character, "unnamed")
    return InputError(
        f"no font here has the letter “{character}” ({name}); name a .ttf or .otf file that has it, or write an .svg "
        "or .html, which need no font",
        parameter="font",
    )


@lru_cache(maxsize=4096)
def _lacks(character: str, family: str, font: Path | None) -> bool:
    """Whether the character would be drawn as the font's missing-glyph sign."""
    if character.isspace() or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return False
    return _letter(character, family, font) == _letter(IN_NO_FONT, family, font)


def _letter(character: str, family: str, font: Path | None) -> bytes:
    text = f'<text x="9" y="20" font-size="16" font-family="{escape(family)}">{escape(character)}</text>'
    return _render(f'<svg{NAMESPACE} width="40" height="30">{text}</svg>', font)


@lru_cache(maxsize=16)
def _family(font: Path | None) -> str:
    """Returns the family name under which the renderer finds a font."""
    for family in _names(font) if font is not None else USUAL:
        if _letter("a", family, font) != _letter(" ", family, font):
            return family
    if font is not None:
        raise InputError(f"{font} cannot be read as a font; name a .ttf or .otf file", parameter="font")
    raise InputError(
        "no usual font was found here; name a .ttf or .otf file, or write an .svg or .html, which need no font",
        parameter="font",
    )


def _names(font: Path) -> Iterator[str]:
    """Yields the family names in a font file: records 16 and 1 of its "name" table (the first font of a collection)."""
    try:
        data = font.read_bytes()
        start = struct.unpack_from(">I", data, 12)[0] if data[:4] == b"ttcf" else 0
        (count,) = struct.unpack_from(">H", data, start + 4)
        tables = (struct.unpack_from(">4sIII", data, start + 12 + 16 * n) for n in range(count))
        at = next(offset for tag, _, offset, _ in tables if tag == b"name")
        _, records, texts = struct.unpack_from(">HHH", data, at)
        for wanted in (16, 1):
            for n in range(records):
                platform, _, _, kind, length, offset = struct.unpack_from(">6H", data, at + 6 + 12 * n)
                raw = data[at + texts + offset :][:length]
                if kind == wanted:
                    yield raw.decode("mac-roman" if platform == 1 else "utf-16-be", "replace")
    except (OSError, struct.error, StopIteration):
        return
