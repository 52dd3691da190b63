"""Drawings as data: colours by name."""

from __future__ import annotations

from regard.report.colour import ACCENT, INK
from regard.report.drawing import Box, Curve, Dot, Drawing, Label, Line
from regard.report.drawing_data import colour_name, drawing_data
from regard.report.palette import PALETTE


def test_every_kind_of_item_has_its_colour_by_name() -> None:
    ends = ((0.0, 0.0), (1.0, 0.0), (2.0, 1.0), (3.0, 1.0))
    items = (
        Box(1, 2, 3, 4, ACCENT, 0.25, note="a"),
        Label(1, 2, "b\x1b"),
        Line(ends, INK),
        Curve(ends, INK),
        Dot(1, 2, 3, ACCENT),
    )
    found = drawing_data(Drawing(9, 8, items, "t", "c"))
    box, label, line, curve, dot = found["items"]
    assert (box["fill"], box["note"], box["box"]) == ("accent", "a", {"x": 1, "y": 2, "width": 3, "height": 4})
    assert box["opacity"] == 0.25
    assert (label["text"], label["fill"]) == ("b�", "ink")
    assert (line["stroke"], curve["stroke"], dot["dot"]["r"]) == ("ink", "ink", 3)
    assert (found["title"], found["caption"], found["width"]) == ("t", "c", 9)


def test_names_lead_back_to_the_colours() -> None:
    for light, _ in PALETTE.values():
        assert PALETTE[colour_name(light)][0] == light
