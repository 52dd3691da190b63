"""The PDF, read by pdfium: its text, its fonts, and the same picture as the PNG."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maps import hard
from regard.errors import InputError
from regard.explain.render.map_drawing import heat
from regard.report.colour import on_scale
from regard.report.drawing import Box, Curve, Dot, Drawing, Label, Line, Tiles
from regard.report.pdf import POINTS, pdf
from support import need_font

pdfium = pytest.importorskip("pypdfium2")
TEXT = "“Žluť” → Ελλάδα: 0.5 ≤ ▁ç"


@pytest.fixture(autouse=True)
def font() -> None:
    need_font()


def pixels(data: bytes) -> Any:
    """The page as (rows, columns, 3), a pixel for each of the drawing."""
    return pdfium.PdfDocument(data)[0].render(scale=1 / POINTS, rev_byteorder=True).to_numpy()[..., :3]


def test_text_is_text_in_embedded_fonts() -> None:
    labels = (Label(10, 20, TEXT), Label(10, 50, "bold", bold=True), Label(60, 90, "turned", turn=-90))
    document = pdfium.PdfDocument(pdf(Drawing(300, 120, labels, "A title: é")))
    page = document[0]
    assert document.get_metadata_dict()["Title"] == "A title: é"
    assert page.get_size() == pytest.approx((300 * POINTS, 120 * POINTS))
    assert page.get_textpage().get_text_range().replace("\r\n", "") == f"{TEXT}boldturned"
    raw = pdfium.raw
    texts = [each for each in page.get_objects() if each.type == raw.FPDF_PAGEOBJ_TEXT]
    assert texts
    assert all(raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(each.raw)) == 1 for each in texts)


def test_everything_is_at_its_place_in_its_colour() -> None:
    blue, red = "#0000ff", "#ff0000"
    items = (
        Box(10, 10, 20, 20, blue),
        Box(40, 10, 20, 20, red, opacity=0.5),
        Box(70, 10, 20, 20, blue, round=10),
        Dot(110, 20, 8, red),
        Line(((10, 50), (50, 50)), blue, 4),
        Curve(((60, 50), (70, 50), (80, 50), (90, 50)), red, 4),
        Tiles(100, 40, 10, 10, ((0, 10), (10, 0))),
    )
    seen = pixels(pdf(Drawing(140, 80, items, "t")))
    assert seen.shape == (80, 140, 3)
    expected = {
        (20, 20): (0, 0, 255), (50, 20): (255, 127, 127), (80, 20): (0, 0, 255), (71, 11): (255, 255, 255),
        (110, 20): (255, 0, 0), (30, 50): (0, 0, 255), (75, 50): (255, 0, 0), (75, 60): (255, 255, 255),
        (105, 45): on_scale(0), (115, 45): on_scale(1), (105, 55): on_scale(1), (130, 70): (255, 255, 255),
    }  # fmt: skip
    found = {at: seen[at[1], at[0]].tolist() for at in expected}
    assert found == {at: pytest.approx(colour, abs=1) for at, colour in expected.items()}


def test_labels_stand_where_the_layout_says() -> None:
    """The ink of each label lies in the area that the label may cover."""
    for label in (
        Label(100, 100, "left"), Label(100, 100, "middle", "middle"), Label(100, 100, "right", "right"),
        Label(100, 100, "slanted", turn=-45), Label(100, 100, "bold", "middle", bold=True),
    ):  # fmt: skip
        rows, columns = np.nonzero(pixels(pdf(Drawing(200, 200, (label,), "t"))).min(axis=2) < 128)
        xs, ys = zip(*label.corners(), strict=True)
        slack = 0.1 * (max(xs) - min(xs)) if label.bold else 1
        assert len(rows) > 20
        assert min(xs) - slack <= columns.min()
        assert columns.max() <= max(xs) + slack
        assert min(ys) - 1 <= rows.min()
        assert rows.max() <= max(ys) + 1


def test_letters_join_and_run_from_right_to_left() -> None:
    page = pdfium.PdfDocument(pdf(Drawing(200, 60, (Label(190, 30, "قطة cat", "right"),), "t")))[0].get_textpage()
    places = {page.get_text_range(at, 1): page.get_charbox(at)[0] for at in range(page.count_chars())}
    assert places["ق"] > places["ط"] > places["t"] > places["c"]


def test_the_same_drawing_gives_the_same_small_file() -> None:
    made = pdf(heat(hard("words")))
    assert made == pdf(heat(hard("words")))
    assert len(made) < 60_000


def test_what_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(text: str, font: Path | None = None) -> bytes:
        return pdf(Drawing(99, 40, (Label(5, 20, text),), "t"), font)

    with pytest.raises(InputError, match="no font here has the letter “𓃠”"):
        drawn("𓃠")
    wrong = tmp_path / "wrong.ttf"
    wrong.write_bytes(b"not a font")
    with pytest.raises(InputError, match=r"wrong\.ttf cannot be read as a font; name a \.ttf or \.otf file"):
        drawn("a", wrong)
    monkeypatch.setitem(sys.modules, "fpdf", None)
    with pytest.raises(InputError, match=r"a \.pdf needs the package fpdf2; install it: pip install \"regard\[pdf\]\""):
        drawn("a")
