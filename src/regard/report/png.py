"""A drawing as PNG, with Pillow: it comes with TensorBoard, which regard needs anyway; matplotlib would be new.

Letters need a font. The first of some usual ones that the machine has is taken, else the one that Pillow carries, which
has no accents; `font` names another. Where a letter is missing this stops and says so, instead of drawing boxes. With
one font and one Pillow the same drawing gives the same bytes. SVG and HTML need no font: who views them has fonts.
"""

from __future__ import annotations

import contextlib
import io
import math
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from regard.errors import InputError
from regard.report.colour import PAPER, on_scale
from regard.report.drawing import Box, Curve, Drawing, Label, Tiles
from regard.report.text import printable, runs_left

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

ZOOM = 2  # pixels of the picture for each of the drawing
MOST = 16_000  # pixels of a side
FINE = 3  # times larger a curve is drawn before it is made smaller
STEPS = 24  # straight lines that a curve is made of
USUAL = (
    "DejaVuSans.ttf",
    "NotoSans-Regular.ttf",
    "LiberationSans-Regular.ttf",
    "Arial.ttf",
    "arial.ttf",
    "Helvetica.ttc",
)
PLAIN = {"←": "<-", "→": "->", "“": '"', "”": '"', "▁": "_", "−": "-"}  # our own signs, where a font lacks them


def png(drawing: Drawing, font: Path | None = None) -> bytes:
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise InputError(
            "a PNG needs Pillow; type: pip install pillow, or write an .svg, which needs nothing"
        ) from None
    wide, high = (math.ceil(side * ZOOM) for side in (drawing.width, drawing.height))
    if max(wide, high) > MOST:
        raise InputError(
            f"the picture would be {wide} × {high} pixels, more than {MOST}; write an .svg or .html instead"
        )
    image = Image.new("RGB", (wide, high), PAPER)
    pen = ImageDraw.Draw(image, "RGBA")
    for item in drawing.items:
        if isinstance(item, Box):
            _rectangle(pen, item.x, item.y, item.width, item.height, item.fill, item.opacity, item.round)
        elif isinstance(item, Tiles):
            for y, row in enumerate(item.levels):
                for x, level in enumerate(row):
                    left, top = item.x + x * item.cell_width, item.y + y * item.cell_height
                    _rectangle(pen, left, top, item.cell_width, item.cell_height, on_scale(level / 10).hex)
        elif isinstance(item, Curve):
            _bend(image, item)
        elif isinstance(item, Label):
            _write(image, item, font)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def _rectangle(
    pen: ImageDraw,
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    opacity: float = 1,
    corner: float = 0,
) -> None:
    left, top, right, bottom = (round(side * ZOOM) for side in (x, y, x + width, y + height))
    if right > left and bottom > top:
        pen.rounded_rectangle((left, top, right - 1, bottom - 1), corner * ZOOM, _rgba(fill, opacity))


def _rgba(colour: str, opacity: float) -> tuple[int, int, int, int]:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue, round(255 * min(opacity, 1.0))


def _bend(image: Image, curve: Curve) -> None:
    """A curve on a sheet of its own, drawn large and made smaller: smooth, and nowhere laid over itself."""
    from PIL import Image, ImageDraw

    line = [(x * ZOOM, y * ZOOM) for x, y in _points(curve)]
    edge = math.ceil(curve.width * ZOOM) + 1
    left, top = (math.floor(min(point[axis] for point in line)) - edge for axis in (0, 1))
    right, bottom = (math.ceil(max(point[axis] for point in line)) + edge for axis in (0, 1))
    size = (right - left, bottom - top)
    sheet = Image.new("L", (size[0] * FINE, size[1] * FINE), 0)
    large = [((x - left) * FINE, (y - top) * FINE) for x, y in line]
    shade = round(255 * min(curve.opacity, 1.0))
    ImageDraw.Draw(sheet).line(large, shade, max(1, round(curve.width * ZOOM * FINE)), joint="curve")
    image.paste(Image.new("RGB", size, curve.stroke), (left, top), sheet.resize(size, Image.Resampling.BOX))


def _points(curve: Curve) -> list[tuple[float, float]]:
    """
    >>> _points(Curve(((0, 0), (0, 0), (1, 1), (1, 1)), "#000000"))[12]
    (0.5, 0.5)
    """
    found = []
    for step in range(STEPS + 1):
        t = step / STEPS
        shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
        x, y = (sum(s * point[axis] for s, point in zip(shares, curve.points, strict=True)) for axis in (0, 1))
        found.append((x, y))
    return found


def _write(image: Image, words: Label, path: Path | None) -> None:
    """Text on a sheet of its own, which is turned and laid on the picture."""
    from PIL import Image, ImageDraw

    font = _font(path, round(words.size * ZOOM))
    text = _drawable(printable(words.text), font)
    if not text:
        return
    way: Literal["rtl"] | None = "rtl" if runs_left(text) else None
    bold = 1 if words.bold else 0
    wide = math.ceil(font.getlength(text, direction=way)) + 2 * bold
    high = math.ceil(words.size * ZOOM * 1.6)
    sheet = Image.new("L", (max(wide, 1), high), 0)
    ImageDraw.Draw(sheet).text((bold, high / 2), text, 255, font, anchor="lm", direction=way, stroke_width=bold * 0.5)
    middle = {"left": wide / 2, "middle": 0.0, "right": -wide / 2}[words.anchor]
    angle = math.radians(words.turn)
    x, y = words.x * ZOOM + middle * math.cos(angle), words.y * ZOOM + middle * math.sin(angle)
    if words.turn:
        sheet = sheet.rotate(-words.turn, Image.Resampling.BICUBIC, expand=True)
    place = (round(x - sheet.width / 2), round(y - sheet.height / 2))
    image.paste(Image.new("RGB", sheet.size, words.fill), place, sheet)


@lru_cache(maxsize=16)
def _font(path: Path | None, size: int) -> FreeTypeFont:
    from PIL import ImageFont

    for name in USUAL if path is None else (str(path),):
        with contextlib.suppress(OSError):
            return ImageFont.truetype(name, size)
    if path is not None:
        raise InputError(f"--font {path} cannot be read as a font; name a .ttf or .otf file")
    own = ImageFont.load_default(size)
    if not isinstance(own, ImageFont.FreeTypeFont):
        raise InputError("this copy of Pillow cannot draw letters (it lacks FreeType); write an .svg instead")
    return own


def _drawable(text: str, font: FreeTypeFont) -> str:
    from PIL import features

    text = "".join(PLAIN.get(c, c) if _lacks(font, c) else c for c in text)
    missing = next((c for c in text if _lacks(font, c)), None)
    if missing is not None:
        name, letter = " ".join(filter(None, font.getname())), unicodedata.name(missing, "unnamed")
        raise InputError(
            f"the font {name} has no letter “{missing}” ({letter}); "
            "name one that has it: --font FILE.ttf, or write an .svg or .html, which need no font"
        )
    if runs_left(text) and not features.check("raqm"):
        raise InputError("this copy of Pillow cannot write from right to left (it lacks raqm); write an .svg instead")
    return text


def _lacks(font: FreeTypeFont, character: str) -> bool:
    """Whether it would be drawn as the font's sign for what it does not have."""
    if character.isspace() or unicodedata.category(character) in ("Mn", "Cf"):
        return False
    unknown = font.getmask("\U0010ffff")  # in no font
    found = font.getmask(character)
    return found.size == unknown.size and bytes(found) == bytes(unknown)
