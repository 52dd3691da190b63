"""A drawing as PNG: its SVG, rendered by resvg.

Letters need a font. `font` names a file; without it the first of some usual families that this machine has is taken.
Letters that this font lacks come from any other font of the machine. Where none has a letter this stops and says so,
instead of drawing a box. With the same fonts the same drawing gives the same bytes. SVG and HTML need no font: whoever
views them has fonts.
"""

from __future__ import annotations

import math
import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path

from regard.errors import InputError
from regard.report.drawing import Drawing, Label
from regard.report.svg import NAMESPACE, svg
from regard.report.text import printable

ZOOM = 2  # pixels of the picture for each of the drawing
MOST = 16_000  # pixels of a side
USUAL = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Arial", "Helvetica", "Segoe UI", "Roboto", "FreeSans")
PLAIN = {"←": "<-", "→": "->", "“": '"', "”": '"', "▁": "_", "−": "-"}  # our own signs, where no font has them
IN_NO_FONT = "\U0010ffff"


def png(drawing: Drawing, font: Path | None = None) -> bytes:
    wide, high = (math.ceil(side * ZOOM) for side in (drawing.width, drawing.height))
    if max(wide, high) > MOST:
        raise InputError(
            f"the picture would be {wide} × {high} pixels, more than {MOST}; write an .svg or .html instead"
        )
    family = _family(font)
    items = (
        replace(item, text=_drawable(item.text, family, font)) if isinstance(item, Label) else item
        for item in drawing.items
    )
    return _render(svg(replace(drawing, items=tuple(items)), fonts=f"'{family}'", directions=False), font)


def _render(text: str, font: Path | None) -> bytes:
    import resvg_py

    return bytes(resvg_py.svg_to_bytes(svg_string=text, zoom=ZOOM, font_files=[str(font)] if font else None))


def _drawable(text: str, family: str, font: Path | None) -> str:
    shown = "".join(PLAIN.get(c, c) if _lacks(c, family, font) else c for c in printable(text))
    missing = next((c for c in shown if _lacks(c, family, font)), None)
    if missing is not None:
        name = unicodedata.name(missing, "unnamed")
        raise InputError(
            f"no font here has the letter “{missing}” ({name}); name a .ttf or .otf file that has it, or write an .svg "
            "or .html, which need no font",
            parameter="font",
        )
    return shown


@lru_cache(maxsize=4096)
def _lacks(character: str, family: str, font: Path | None) -> bool:
    """Whether it would be drawn as the sign for what a font does not have."""
    if character.isspace() or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return False
    return _letter(character, family, font) == _letter(IN_NO_FONT, family, font)


def _letter(character: str, family: str, font: Path | None) -> bytes:
    text = f'<text x="9" y="20" font-size="16" font-family="{escape(family)}">{escape(character)}</text>'
    return _render(f'<svg{NAMESPACE} width="40" height="30">{text}</svg>', font)


@lru_cache(maxsize=16)
def _family(font: Path | None) -> str:
    """The name by which the renderer knows a font."""
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
    """The family names in a font file: records 16 and 1 of its table "name", of the first font in a collection."""
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
