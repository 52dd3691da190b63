"""The PNG: what the drawing says, at its place; a letter that no font has is an error, not a box."""

from __future__ import annotations

import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from maps import sample
from regard.errors import InputError
from regard.explain.render.map_drawing import heat
from regard.report.colour import on_scale
from regard.report.drawing import Box, Curve, Dot, Drawing, Label, Line, Tiles
from regard.report.render import ZOOM, _lacks, png
from support import need_font

WHITE = (255, 255, 255)


@pytest.fixture(autouse=True)
def font() -> None:
    need_font()


def decoded(data: bytes) -> NDArray[np.uint8]:
    """A PNG of 8-bit RGB or RGBA as (rows, columns, 3)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    depth, kind = data[24:26]
    assert (depth, kind) in ((8, 2), (8, 6))
    at, packed = 8, b""
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 8] == b"IDAT":
            packed += data[at + 8 : at + 8 + length]
        at += 12 + length
    size = 3 if kind == 2 else 4
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * size)
    rows = np.zeros((height + 1, width + 1, size), np.int64)  # with a row above and a column at the left
    for y, line in enumerate(lines, start=1):
        found = line[1:].reshape(width, size).astype(np.int64)
        if line[0] == 2:
            rows[y, 1:] = found + rows[y - 1, 1:] & 255
            continue
        for x in range(1, width + 1):
            left, above, corner = rows[y, x - 1], rows[y - 1, x], rows[y - 1, x - 1]
            near = left + above - corner
            distances = np.abs(near - left), np.abs(near - above), np.abs(near - corner)
            paeth = np.select(
                [(distances[0] <= distances[1]) & (distances[0] <= distances[2]), distances[1] <= distances[2]],
                [left, above],
                corner,
            )
            guess = (0 * left, left, above, (left + above) // 2, paeth)[line[0]]
            rows[y, x] = found[x - 1] + guess & 255
    return rows[1:, 1:, :3].astype(np.uint8)


def pixels(drawing: Drawing) -> NDArray[np.uint8]:
    return decoded(png(drawing))


def at(image: NDArray[np.uint8], x: float, y: float) -> tuple[int, ...]:
    return tuple(image[round(y * ZOOM), round(x * ZOOM)].tolist())


def inked(image: NDArray[np.uint8], left: int, top: int, right: int, bottom: int) -> bool:
    return bool((image[top * ZOOM : bottom * ZOOM, left * ZOOM : right * ZOOM] != 255).any())


def test_cells_have_their_colours() -> None:
    drawing = heat(sample(["The", "cat"], ["Le", "chat"]))
    image = pixels(drawing)
    assert all(
        abs(size - side * ZOOM) <= 1
        for size, side in zip(image.shape[:2], (drawing.height, drawing.width), strict=True)
    )
    for box in drawing.items:
        if isinstance(box, Box) and box.note:
            found = at(image, box.x + box.width / 2, box.y + box.height / 2)
            assert found == on_scale(float(box.note.split()[-1]))


def test_every_kind_of_item_leaves_ink_in_its_place() -> None:
    items = (
        Label(50, 20, "word", "middle"),
        Label(20, 80, "turned", turn=-90),
        Tiles(60, 60, 5, 5, ((10,),)),
        Curve(((80, 80), (80, 90), (80, 90), (80, 98)), "#0072b2", 2),
        Line(((40, 70), (50, 80), (40, 90)), "#0072b2", 2),
        Dot(70, 30, 3, "#d55e00"),
    )
    image = pixels(Drawing(100, 100, items, "t"))
    assert inked(image, 40, 12, 60, 28)
    assert inked(image, 12, 40, 28, 80)
    assert inked(image, 60, 60, 65, 65)
    assert inked(image, 78, 82, 82, 96)
    assert inked(image, 46, 78, 52, 82)
    assert at(image, 70, 30) == (0xD5, 0x5E, 0)
    assert not inked(image, 2, 2, 20, 30)


def test_round_corners_are_left_out() -> None:
    image = pixels(Drawing(60, 30, (Box(5, 5, 20, 20, "#0072b2", round=6), Box(35, 5, 20, 20, "#0072b2")), "t"))
    assert [at(image, x, 5) for x in (5, 35)] == [WHITE, (0, 0x72, 0xB2)]
    assert at(image, 15, 15) == (0, 0x72, 0xB2)


def test_the_same_bytes() -> None:
    drawing = heat(sample(["The", "cat"], ["Le", "chat"]))
    assert png(drawing) == png(drawing)


def test_a_letter_that_no_font_has() -> None:
    if not _lacks("\U00013000", "DejaVu Sans", None):
        pytest.skip("a font with hieroglyphs is here")
    with pytest.raises(InputError, match=r"no font here has the letter “.” \(EGYPTIAN.*or write an .svg"):
        png(Drawing(99, 99, (Label(5, 50, "a \U00013000"),), "t"))


def test_a_font_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "font.ttf").write_text("no font")
    with pytest.raises(InputError, match="cannot be read as a font"):
        png(heat(sample(["a"], ["b"])), tmp_path / "font.ttf")


def test_too_large_a_picture() -> None:
    with pytest.raises(InputError, match="pixels, more than"):
        png(Drawing(1e5, 10, (), "t"))


def test_right_to_left_ends_at_its_anchor() -> None:
    if _lacks("ق", "DejaVu Sans", None):
        pytest.skip("no font with Arabic letters is here")
    image = pixels(Drawing(99, 40, (Label(90, 20, "قطة", "right"),), "t"))
    assert inked(image, 60, 8, 90, 32)
    assert not inked(image, 91, 0, 99, 40)


def test_a_named_font_is_used_by_the_name_in_its_file() -> None:
    """Of the fonts that this machine has, any other than the usual one."""
    drawing = Drawing(99, 40, (Label(5, 20, "Regard"),), "t")
    plain = png(drawing)
    others = [path for path in Path("/usr/share/fonts").rglob("*.ttf") if "Serif" in path.name]
    if not others:
        pytest.skip("no font is here to name")
    assert png(drawing, others[0]) != plain
