"""Renders a drawing as a PDF file of one page: lines and areas as they are drawn, text as text in embedded fonts.

A pixel of the drawing is ¾ point. The file contains the outlines of the letters that it uses, so it looks the same
everywhere, and its text can be searched and copied. The same drawing and fonts give the same bytes.

    objects: 1 catalog ─ 2 pages ─ 3 page ─ 4 contents      5 information      6 … five for each font
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from regard.errors import InputError
from regard.report.colour import on_scale, rgb
from regard.report.drawing import Box, Curve, Dot, Drawing, Item, Label, Line, Tiles
from regard.report.render import BASELINE, PLAIN, level_runs
from regard.report.text import printable
from regard.report.truetype import TrueType, font_for, needs_shaping

POINTS = 0.75  # of a pixel
ROUND = 0.5523  # of the radius: where the control points of a quarter of a circle are
BOLD = 0.04  # em by which outlines are thickened, as fonts here are regular ones


def pdf(drawing: Drawing, font: Path | None = None) -> bytes:
    page = Page(font)
    wide, high = drawing.width * POINTS, drawing.height * POINTS
    page.add(f"{POINTS} 0 0 -{POINTS} 0 {_number(high)} cm")  # y counts downward
    for item in drawing.items:
        WRITERS[type(item)](page, item)
    return page.file(wide, high, drawing.title)


class Page:
    """The contents of a page, with the fonts and opacities that they use."""

    def __init__(self, font: Path | None) -> None:
        self.font = font
        self.lines: list[str] = []
        self.fonts: dict[TrueType, dict[int, str]] = {}  # the glyphs that are used, with their characters
        self.opacities: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    def faded(self, opacity: float) -> str:
        """The operator that sets an opacity."""
        shown = _number(min(opacity, 1.0))
        if shown not in self.opacities:
            self.opacities.append(shown)
        return f"/O{self.opacities.index(shown)} gs"

    def glyphs(self, text: str) -> tuple[str, TrueType, list[int]]:
        """The name and the font for a text, and its glyphs."""
        found = font_for(text, self.font)
        used = self.fonts.setdefault(found, {})
        numbers = [found.glyph(c) for c in text]
        used.update(zip(numbers, text, strict=True))
        return f"/F{[*self.fonts].index(found)}", found, numbers

    def file(self, wide: float, high: float, title: str) -> bytes:
        first, names = 6, range(len(self.fonts))
        fonts = " ".join(f"/F{n} {first + 5 * n} 0 R" for n in names)
        states = " ".join(f"/O{n} << /ca {value} /CA {value} >>" for n, value in enumerate(self.opacities))
        used = f"<< /Font << {fonts} >> /ExtGState << {states} >> >>"
        objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {_number(wide)} {_number(high)}] "
            f"/Resources {used} /Contents 4 0 R >>".encode(),
            _stream("\n".join(self.lines).encode()),
            f"<< /Title <feff{_utf16(title)}> /Producer (regard) >>".encode(),
        ]
        for number, (font, characters) in enumerate(self.fonts.items()):
            objects += _font_objects(font, characters, first + 5 * number)
        return _file(objects)


# ── one writer for each item ──────────────────────────────────────────────────────────────────────────────────────────


def _box(page: Page, box: Box) -> None:
    shape = _rounded(box.x, box.y, box.width, box.height, box.round) if box.round else _rectangle(box)
    page.add(f"q {page.faded(box.opacity)} {_colour(box.fill)} rg {shape} f Q")


def _rectangle(box: Box) -> str:
    return " ".join(map(_number, (box.x, box.y, box.width, box.height))) + " re"


def _rounded(x: float, y: float, wide: float, high: float, radius: float) -> str:
    r = min(radius, wide / 2, high / 2)
    k, right, foot = r * (1 - ROUND), x + wide, y + high
    corners = [
        ((right - r, y), (right - k, y), (right, y + k), (right, y + r)),
        ((right, foot - r), (right, foot - k), (right - k, foot), (right - r, foot)),
        ((x + r, foot), (x + k, foot), (x, foot - k), (x, foot - r)),
        ((x, y + r), (x, y + k), (x + k, y), (x + r, y)),
    ]
    steps = [f"{_points(line)} l {_points(*curve)} c" for line, *curve in corners]
    return f"{_points((x + r, y))} m {' '.join(steps)} h"


def _dot(page: Page, dot: Dot) -> None:
    shape = _rounded(dot.x - dot.radius, dot.y - dot.radius, 2 * dot.radius, 2 * dot.radius, dot.radius)
    page.add(f"{_colour(dot.fill)} rg {shape} f")


def _tiles(page: Page, tiles: Tiles) -> None:
    """Each level covers the cells of higher levels too, so that no paper shines through between two colours."""
    page.add(f"q {_number(tiles.cell_width)} 0 0 {_number(tiles.cell_height)} {_points((tiles.x, tiles.y))} cm")
    for level in sorted({level for row in tiles.levels for level in row}):
        rows = [tuple(int(other >= level) for other in row) for row in tiles.levels]
        runs = [f"{x} {y} {stop - x} 1 re" for y, row in enumerate(rows) for x, stop in level_runs(row, 1)]
        page.add(f"{_colour(on_scale(level / 10).hex)} rg {' '.join(runs)} f")
    page.add("Q")


def _curve(page: Page, curve: Curve) -> None:
    first, *others = curve.points
    page.add(f"q {_pen(page, curve)} {_points(first)} m {_points(*others)} c S Q")


def _line(page: Page, line: Line) -> None:
    first, *others = line.points
    dashes = "[6 4] 0 d " if line.dashed else ""
    page.add(f"q {dashes}{_pen(page, line)} {_points(first)} m {' '.join(f'{_points(p)} l' for p in others)} S Q")


def _pen(page: Page, item: Curve | Line) -> str:
    return f"{page.faded(item.opacity)} {_colour(item.stroke)} RG {_number(item.width)} w"


def _label(page: Page, label: Label) -> None:
    text = printable(label.text)
    if needs_shaping(text):
        raise InputError(f"“{text}” cannot be written to a .pdf, which does not join letters; write an .svg or .png")
    try:
        name, font, glyphs = page.glyphs(text)
    except InputError:
        name, font, glyphs = page.glyphs("".join(PLAIN.get(c, c) for c in text))
    wide = sum(map(font.advance, glyphs)) * label.size
    left = {"left": 0.0, "middle": -wide / 2, "right": -wide}[label.anchor]
    cos, sin = math.cos(math.radians(label.turn)), math.sin(math.radians(label.turn))
    down = label.size * BASELINE
    x, y = label.x + left * cos - down * sin, label.y + left * sin + down * cos
    colour, shown = _colour(label.fill), "".join(f"{glyph:04x}" for glyph in glyphs)
    bold = f"2 Tr {_number(BOLD * label.size)} w {colour} RG" if label.bold else "0 Tr"
    turned = " ".join(f"{part:.5f}" for part in (cos, sin, sin, -cos))  # y is turned back: letters stand upright
    page.add(f"BT {name} {_number(label.size)} Tf {colour} rg {bold} {turned} {_points((x, y))} Tm <{shown}> Tj ET")


WRITERS: dict[type[Item], Callable[[Page, Any], None]] = {
    Box: _box, Label: _label, Tiles: _tiles, Curve: _curve, Line: _line, Dot: _dot,
}  # fmt: skip


def _points(*points: tuple[float, float]) -> str:
    return " ".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _colour(hex: str) -> str:
    return " ".join(_number(part / 255) for part in rgb(hex))


def _number(value: float) -> str:
    """
    >>> _number(12.0), _number(0.34567), _number(-0.00001)
    ('12', '0.346', '0')
    """
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


# ── objects of the file ───────────────────────────────────────────────────────────────────────────────────────────────


def _font_objects(font: TrueType, characters: dict[int, str], first: int) -> Iterator[bytes]:
    """A composite font whose codes are glyph numbers, with its outlines and the characters of its glyphs."""
    name = f"R{first:05}+Embedded".translate(str.maketrans("0123456789", "ABCDEFGHIJ"))
    thousandths = [round(1000 * value / font.units) for value in (*font.box, font.ascent, font.descent)]
    box, (ascent, descent) = " ".join(map(str, thousandths[:4])), thousandths[4:]
    widths = " ".join(f"{glyph} [{round(1000 * font.advance(glyph))}]" for glyph in sorted(characters))
    yield (
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H /DescendantFonts [{first + 1} 0 R] "
        f"/ToUnicode {first + 4} 0 R >>"
    ).encode()
    yield (
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity /W [{widths}] "
        f"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor {first + 2} 0 R >>"
    ).encode()
    yield (
        f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /FontBBox [{box}] /ItalicAngle 0 /Ascent {ascent} "
        f"/Descent {descent} /CapHeight {ascent} /StemV 80 /FontFile2 {first + 3} 0 R >>"
    ).encode()
    outlines = font.subset(characters)
    yield _stream(outlines, f"/Length1 {len(outlines)} ")
    rows = [f"<{glyph:04x}> <{_utf16(character)}>" for glyph, character in sorted(characters.items())]
    parts = [rows[at : at + 100] for at in range(0, len(rows), 100)]  # as many as the format allows at a time
    blocks = "\n".join(f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar" for part in parts)
    yield _stream(
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Characters def /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{blocks}\nendcmap end end".encode()
    )


def _utf16(text: str) -> str:
    return text.encode("utf-16-be", "replace").hex()


def _stream(data: bytes, more: str = "") -> bytes:
    packed = zlib.compress(data, 9)
    return f"<< {more}/Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    made = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{len(made)}\n%%EOF\n"
    return bytes(made) + end.encode()
