"""The PNG: what the drawing says, at its place; a letter that no font has is an error, not a box."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image, features

from maps import sample
from regard.errors import InputError
from regard.explain.render.heat import heat
from regard.report.colour import on_scale
from regard.report.drawing import Box, Curve, Drawing, Label, Tiles
from regard.report.png import ZOOM, _font, png


def pixels(drawing: Drawing) -> Image.Image:
    return Image.open(io.BytesIO(png(drawing))).convert("RGB")


def test_cells_have_their_colours() -> None:
    drawing = heat(sample(["The", "cat"], ["Le", "chat"]))
    image = pixels(drawing)
    assert image.size == tuple(-(-int(side * ZOOM * 1000) // 1000) for side in (drawing.width, drawing.height))
    for box in drawing.items:
        if isinstance(box, Box) and box.note:
            at = (round((box.x + box.width / 2) * ZOOM), round((box.y + box.height / 2) * ZOOM))
            assert image.getpixel(at) == on_scale(float(box.note.split()[-1]))


def test_words_tiles_and_curves_leave_ink_in_their_place() -> None:
    items = (
        Label(50, 20, "word", "middle"),
        Label(20, 80, "turned", turn=-90),
        Tiles(60, 60, 5, 5, ((10,),)),
        Curve(((80, 80), (80, 90), (80, 90), (80, 98)), "#0072b2", 2),
    )
    image = pixels(Drawing(100, 100, items, "t"))

    def inked(left: int, top: int, right: int, bottom: int) -> bool:
        part = image.crop((left * ZOOM, top * ZOOM, right * ZOOM, bottom * ZOOM))
        return part.getcolors() != [(part.width * part.height, (255, 255, 255))]

    assert inked(40, 12, 60, 28)
    assert inked(12, 40, 28, 80)
    assert inked(60, 60, 65, 65)
    assert inked(78, 82, 82, 96)
    assert not inked(2, 2, 20, 30)


def test_round_corners_are_left_out() -> None:
    image = pixels(Drawing(60, 30, (Box(5, 5, 20, 20, "#0072b2", round=6), Box(35, 5, 20, 20, "#0072b2")), "t"))
    corners = [image.getpixel((x * ZOOM, 5 * ZOOM)) for x in (5, 35)]
    assert corners == [(255, 255, 255), (0, 0x72, 0xB2)]
    assert image.getpixel((15 * ZOOM, 15 * ZOOM)) == (0, 0x72, 0xB2)


def test_the_same_bytes() -> None:
    drawing = heat(sample(["The", "cat"], ["Le", "chat"]))
    assert png(drawing) == png(drawing)


def test_a_letter_that_the_font_lacks() -> None:
    hieroglyph = Drawing(99, 99, (Label(5, 50, "a \U00013000"),), "t")
    with pytest.raises(InputError, match=r"no letter “.” \(EGYPTIAN.*--font FILE.ttf, or write an .svg"):
        png(hieroglyph)


def test_a_font_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "font.ttf").write_text("no font")
    with pytest.raises(InputError, match="cannot be read as a font"):
        png(heat(sample(["a"], ["b"])), tmp_path / "font.ttf")


def test_too_large_a_picture() -> None:
    with pytest.raises(InputError, match="pixels, more than"):
        png(Drawing(1e5, 10, (), "t"))


@pytest.mark.skipif(not features.check("raqm"), reason="this Pillow cannot write from right to left")
def test_right_to_left_is_written_where_the_font_has_it() -> None:
    if "DejaVu" not in str(_font(None, 24).getname()):
        pytest.skip("no usual font with Arabic letters is here")
    image = pixels(Drawing(99, 40, (Label(90, 20, "قطة", "right"),), "t"))
    assert image.crop((50 * ZOOM, 0, 95 * ZOOM, 40 * ZOOM)).getextrema() != ((255, 255),) * 3
