"""Pictures as data: boxes, labels, lines and curves, in pixels from the upper left corner.

    body = Drawing(200, 40, (Box(0, 0, 40, 40, ACCENT), Label(50, 20, "one box")), "A title", "a caption")
    svg(framed(body))         title above, caption below, a margin around

`render.py` writes a drawing. Every label knows the area it may cover (`Label.corners`), so a test can check that no two
overlap. A new kind of item is a class here, a line in `Item`, and its writer in `render.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from regard.report.colour import INK, QUIET, on_scale
from regard.report.palette import pixels
from regard.report.text import LINE, printable, width, wrap

Anchor = Literal["left", "middle", "right"]
Point = tuple[float, float]
SIZE, SMALL = pixels("size-small"), pixels("size-tiny")
MARGIN = 12.0
PAGE = 830.0  # width of a page of several pictures


@dataclass(frozen=True)
class Box:
    """A filled rectangle; `note` is what a viewer shows on hovering over it."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0
    note: str = ""
    round: float = 0.0  # radius of its corners


@dataclass(frozen=True)
class Tiles:
    """A small map without labels, its weights in tenths: [row][column], 0 … 10."""

    x: float
    y: float
    cell_width: float
    cell_height: float
    levels: tuple[tuple[int, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Label:
    """One line of text. (x, y) is its left, middle or right at half height; `turn` rotates it around that point."""

    x: float
    y: float
    text: str
    anchor: Anchor = "left"
    size: float = SIZE
    fill: str = INK
    bold: bool = False
    turn: float = 0.0  # degrees, clockwise
    note: str = ""

    def corners(self) -> tuple[Point, Point, Point, Point]:
        """Returns the corners of the area that the text may cover, in any usual font."""
        wide, high = width(self.text) * self.size, LINE * self.size
        left = {"left": 0.0, "middle": -wide / 2, "right": -wide}[self.anchor]
        cos, sin = math.cos(math.radians(self.turn)), math.sin(math.radians(self.turn))

        def turned(x: float, y: float) -> Point:
            return self.x + x * cos - y * sin, self.y + x * sin + y * cos

        up, down = -high / 2, high / 2
        return turned(left, up), turned(left + wide, up), turned(left + wide, down), turned(left, down)


@dataclass(frozen=True)
class Curve:
    """A cubic Bézier curve from the first point to the last."""

    points: tuple[Point, Point, Point, Point]
    stroke: str
    width: float = 1.0
    opacity: float = 1.0
    note: str = ""


@dataclass(frozen=True)
class Line:
    """Straight lines from point to point."""

    points: tuple[Point, ...]
    stroke: str
    width: float = 1.0
    opacity: float = 1.0
    dashed: bool = False
    note: str = ""


@dataclass(frozen=True)
class Dot:
    """A filled circle around (x, y)."""

    x: float
    y: float
    radius: float
    fill: str
    note: str = ""


Item = Box | Tiles | Label | Curve | Line | Dot


@dataclass(frozen=True)
class Drawing:
    """A whole picture, or a part of one. Screen readers read `title` and `caption`."""

    width: float
    height: float
    items: tuple[Item, ...]
    title: str
    caption: str = ""
    frames: tuple[int, ...] = ()  # of an animation: when each item appears (`animation.py`); none: all are always there

    def __post_init__(self) -> None:
        assert len(self.frames) in (0, len(self.items))

    @property
    def still(self) -> tuple[Item, ...]:
        """The items at the end of an animation."""
        frames = self.frames or (0,) * len(self.items)
        return tuple(item for item, frame in zip(self.items, frames, strict=True) if frame >= 0)

    @property
    def labels(self) -> list[Label]:
        return [item for item in self.still if isinstance(item, Label)]


# ------------------------------------------------------------------------------------------------ moving


def moved(items: Iterable[Item], right: float, down: float) -> list[Item]:
    return [_at(item, lambda x, y: (x + right, y + down)) for item in items]


def mirrored(items: Iterable[Item], total: float) -> list[Item]:
    """Mirrors items in a picture of width `total`, for right-to-left languages; text stays readable."""
    return [_mirrored(item, total) for item in items]


def _mirrored(item: Item, total: float) -> Item:
    if isinstance(item, Label):
        other: dict[Anchor, Anchor] = {"left": "right", "right": "left", "middle": "middle"}
        return replace(item, x=total - item.x, anchor=other[item.anchor], turn=-item.turn)
    if isinstance(item, Box):
        return replace(item, x=total - item.x - item.width)
    if isinstance(item, Tiles):
        wide = item.cell_width * max(map(len, item.levels), default=0)
        return replace(item, x=total - item.x - wide, levels=tuple(row[::-1] for row in item.levels))
    return _at(item, lambda x, y: (total - x, y))


def _at(item: Item, place: Callable[[float, float], Point]) -> Item:
    if isinstance(item, Curve):
        first, second, third, fourth = (place(x, y) for x, y in item.points)
        return replace(item, points=(first, second, third, fourth))
    if isinstance(item, Line):
        return replace(item, points=tuple(place(x, y) for x, y in item.points))
    x, y = place(item.x, item.y)
    return replace(item, x=x, y=y)


# ------------------------------------------------------------------------------------------------ frames and legends


def framed(body: Drawing, legend: Sequence[Item] = (), legend_size: Point = (0.0, 0.0)) -> Drawing:
    """Adds the title above a picture, the legend and the caption below it, and a margin."""
    total = max(body.width, legend_size[0], 300.0)
    above = _lines(body.title, total, SIZE, INK, bold=True, lines=3)
    below = _lines(body.caption, total, SMALL, QUIET)
    items: list[Item] = moved(above, MARGIN, MARGIN)
    y: float = math.ceil(MARGIN + len(above) * LINE * SIZE + (8 if above else 0))  # whole pixels: edges stay sharp
    items += moved(body.items, MARGIN, y)
    y += body.height + 8
    items += moved(legend, MARGIN, y)
    y += legend_size[1] + (6 if legend else 0)
    items += moved(below, MARGIN, y)
    y += len(below) * LINE * SMALL
    frames: tuple[int, ...] = ()
    if body.frames:
        rest = len(items) - len(above) - len(body.items)
        frames = (*[0] * len(above), *body.frames, *[0] * rest)
    return Drawing(total + 2 * MARGIN, y + MARGIN, tuple(items), body.title, body.caption, frames)


def gathered(drawings: Sequence[Drawing]) -> Drawing:
    """Combines several pictures: side by side where they fit on a page, else one below the other."""
    if len(drawings) == 1:
        return drawings[0]
    items: list[Item] = []
    x, top, bottom, wide = 0.0, 0.0, 0.0, 0.0
    for drawing in drawings:
        if x and x + drawing.width > PAGE:
            x, top = 0.0, bottom
        items += moved(drawing.still, x, top)
        x += drawing.width
        wide, bottom = max(wide, x), max(bottom, top + drawing.height)
    title, caption = (" · ".join(dict.fromkeys(getattr(d, name) for d in drawings)) for name in ("title", "caption"))
    return Drawing(wide, bottom, tuple(items), title, caption)


def scale() -> tuple[list[Item], Point]:
    """Returns the legend of a heat map, and its size."""
    steps: list[Item] = [Box(16 + 12 * i, 0, 12, 12, on_scale(i / 10).hex) for i in range(11)]
    ends = [Label(0, 6, "0", size=SMALL, fill=QUIET), Label(16 + 12 * 11 + 6, 6, "1", size=SMALL, fill=QUIET)]
    return [*steps, *ends], (170.0, 14.0)


def _lines(
    text: str, total: float, size: float, fill: str, bold: bool = False, lines: int | None = None
) -> list[Label]:
    room = total / size / (1.1 if bold else 1.0)  # bold letters are wider
    found = wrap(printable(text), room, lines)
    return [Label(0, (i + 0.5) * LINE * size, line, size=size, fill=fill, bold=bold) for i, line in enumerate(found)]
