"""Renders a drawing as a PDF file of one page with fpdf2: lines and areas as they are drawn, text as text.

A pixel of the drawing is ¾ point. The file contains the outlines of the letters that it uses, shaped by HarfBuzz, so it
looks the same everywhere and its text can be searched and copied. `font` names a font file to prefer; other letters
come from the usual fonts, then from any font that is installed. The same drawing and fonts give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.errors import InputError
from regard.report.colour import on_scale, rgb
from regard.report.drawing import Box, Curve, Dot, Drawing, Item, Label, Line, Tiles
from regard.report.render import BASELINE, PLAIN, level_runs, no_font_has
from regard.report.text import printable

if TYPE_CHECKING:
    from fpdf import FPDF

POINTS = 0.75  # of a pixel
FPDF_BASELINE = 0.3  # em from the middle of a cell down to its baseline
BOLD = 0.04  # em by which outlines are thickened, as fonts here are regular ones
USUAL = ("DejaVuSans", "NotoSans-Regular", "LiberationSans-Regular", "Arial", "arial", "segoeui", "Roboto-Regular")
FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts", "/Library/Fonts",
           "/System/Library/Fonts", "C:/Windows/Fonts")  # fmt: skip


def pdf(drawing: Drawing, font: Path | None = None) -> bytes:
    try:
        from fpdf import FPDF
        from fpdf.fonts import TTFFont
    except ImportError:
        raise InputError('a .pdf needs the package fpdf2; install it: pip install "regard[pdf]"') from None
    page = FPDF(unit=POINTS, format=(drawing.width, drawing.height))
    page.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))  # the same bytes whenever it is made
    page.set_title(drawing.title)
    page.set_producer("regard")
    page.set_margin(0)
    page.set_auto_page_break(False)
    page.c_margin = 0
    page.add_page()
    fonts = fonts_for("".join(printable(label.text) for label in drawing.labels), font)
    try:
        for number, file in enumerate(fonts):
            page.add_font(f"f{number}", fname=file)
        page.set_fallback_fonts([f"f{number}" for number in range(1, len(fonts))], exact_match=False)
        page.set_text_shaping(True)
        for item in drawing.still:
            WRITERS[type(item)](page, item)
        return bytes(page.output())
    finally:
        for each in page.fonts.values():
            if isinstance(each, TTFFont):
                each.ttfont.close()  # fpdf2 closes only the fonts of a file that it has written


# ── one writer for each item ──────────────────────────────────────────────────────────────────────────────────────────


def _box(page: FPDF, box: Box) -> None:
    with page.local_context(fill_color=rgb(box.fill), fill_opacity=min(box.opacity, 1.0)):
        radius = min(box.round, 0.499 * min(box.width, box.height))  # fpdf2 takes half or more for a share
        page.rect(box.x, box.y, box.width, box.height, "F", round_corners=radius > 0, corner_radius=radius)


def _dot(page: FPDF, dot: Dot) -> None:
    with page.local_context(fill_color=rgb(dot.fill)):
        page.circle(dot.x, dot.y, dot.radius, "F")


def _tiles(page: FPDF, tiles: Tiles) -> None:
    """Each level covers the cells of higher levels too, so that no paper shines through between two colours."""
    wide, high = tiles.cell_width, tiles.cell_height
    for level in sorted({level for row in tiles.levels for level in row}):
        with page.local_context(fill_color=rgb(on_scale(level / 10).hex)):
            for y, row in enumerate(tiles.levels):
                for x, stop in level_runs(tuple(int(other >= level) for other in row), 1):
                    page.rect(tiles.x + x * wide, tiles.y + y * high, (stop - x) * wide, high, "F")


def _curve(page: FPDF, curve: Curve) -> None:
    with _pen(page, curve):
        page.bezier(curve.points)


def _line(page: FPDF, line: Line) -> None:
    with _pen(page, line):
        if line.dashed:
            page.set_dash_pattern(6, 4)
        page.polyline(line.points)


def _pen(page: FPDF, item: Curve | Line) -> AbstractContextManager[Any]:
    return page.local_context(draw_color=rgb(item.stroke), line_width=item.width, stroke_opacity=min(item.opacity, 1.0))


def _label(page: FPDF, label: Label) -> None:
    from fpdf.enums import TextMode

    page.set_font("f0", size=label.size * POINTS)
    page.set_text_color(*rgb(label.fill))
    text = drawable(printable(label.text), [*page.fonts.values()])
    wide = page.get_string_width(text)
    left = {"left": 0.0, "middle": -wide / 2, "right": -wide}[label.anchor]
    bold = {"text_mode": TextMode.FILL_STROKE, "line_width": BOLD * label.size, "draw_color": rgb(label.fill)}
    with page.rotation(-label.turn, label.x, label.y), page.local_context(**(bold if label.bold else {})):
        page.set_xy(label.x + left, label.y + (BASELINE - FPDF_BASELINE) * label.size)
        page.cell(wide, 0, text)


WRITERS: dict[type[Item], Callable[[FPDF, Any], None]] = {
    Box: _box, Label: _label, Tiles: _tiles, Curve: _curve, Line: _line, Dot: _dot,
}  # fmt: skip


# ── fonts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def fonts_for(text: str, preferred: Path | None) -> list[Path]:
    """The files of the fonts that together have the letters of a text, the preferred one first."""
    files = [*([preferred] if preferred else []), *installed_fonts()]
    if not files:
        raise InputError("no font was found here; name a .ttf or .otf file, or write an .svg", parameter="font")
    found: list[Path] = []
    missing = {ord(character) for character in text if not character.isspace()}
    for file in files:
        rest = missing - letters(file)
        if rest != missing or file == files[0]:
            found.append(file)
            missing = rest
        if not missing:
            break
    return found


def drawable(text: str, fonts: Sequence[Any]) -> str:
    """Returns the text with plain characters for symbols of ours that no font has."""
    known = [font.cmap for font in fonts]
    shown = "".join(c if any(ord(c) in one for one in known) else PLAIN.get(c, c) for c in text)
    missing = next((c for c in shown if not c.isspace() and not any(ord(c) in one for one in known)), None)
    if missing is not None:
        raise no_font_has(missing)
    return shown


@cache
def installed_fonts() -> tuple[Path, ...]:
    """The usual fonts, then all others."""
    folders = (Path(folder).expanduser() for folder in FOLDERS)
    files = sorted(file for folder in folders for file in folder.rglob("*.[to]tf"))
    return tuple(sorted(files, key=lambda file: USUAL.index(file.stem) if file.stem in USUAL else len(USUAL)))


@cache
def letters(file: Path) -> frozenset[int]:
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with file.open("rb") as opened, TTFont(opened, lazy=True) as font:
            return frozenset(font.getBestCmap() or ())
    except (OSError, TTLibError):
        raise InputError(f"{file} cannot be read as a font; name a .ttf or .otf file", parameter="font") from None
