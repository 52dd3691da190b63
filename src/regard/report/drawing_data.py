"""A drawing as data, for a page that draws it in its own colours: each colour by its name in the palette."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regard.report.drawing import Box, Curve, Dot, Drawing, Item, Label, Line
from regard.report.json import rounded
from regard.report.palette import PALETTE
from regard.report.text import printable

NAMES = {light: name for name, (light, _) in reversed(PALETTE.items())}  # the first name of each colour


def drawing_data(drawing: Drawing) -> dict[str, Any]:
    """Maps (`Tiles`) have colours of a scale and are sent as numbers elsewhere; here they are left out."""
    items = [WRITERS[type(item)](item) for item in drawing.still if type(item) in WRITERS]
    return {
        "title": drawing.title,
        "caption": drawing.caption,
        "width": rounded(drawing.width, 1),
        "height": rounded(drawing.height, 1),
        "items": rounded(items, 2),
    }


def colour_name(colour: str) -> str:
    return NAMES.get(colour, "quiet")


def _box(box: Box) -> dict[str, Any]:
    place = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    style = {"fill": colour_name(box.fill), "round": box.round, "opacity": box.opacity}
    return {"box": place, **style, **_note(box.note)}


def _label(label: Label) -> dict[str, Any]:
    style = {"size": label.size, "anchor": label.anchor, "bold": label.bold}
    return {"text": printable(label.text), "x": label.x, "y": label.y, "fill": colour_name(label.fill), **style}


def _line(line: Line) -> dict[str, Any]:
    style = {"stroke": colour_name(line.stroke), "width": line.width, "opacity": line.opacity, "dashed": line.dashed}
    return {"line": [list(point) for point in line.points], **style}


def _curve(curve: Curve) -> dict[str, Any]:
    style = {"stroke": colour_name(curve.stroke), "width": curve.width, "opacity": curve.opacity}
    return {"curve": [list(point) for point in curve.points], **style}


def _dot(dot: Dot) -> dict[str, Any]:
    return {"dot": {"cx": dot.x, "cy": dot.y, "r": dot.radius}, "fill": colour_name(dot.fill), **_note(dot.note)}


def _note(note: str) -> dict[str, str]:
    return {"note": printable(note)} if note else {}


WRITERS: dict[type[Item], Callable[[Any], dict[str, Any]]] = {
    Box: _box, Label: _label, Line: _line, Curve: _curve, Dot: _dot,
}  # fmt: skip
