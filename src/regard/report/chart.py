"""Charts as drawings: points and lines over labels, numbers or powers.

    line_chart("BLEU by length", ["1–9", "10+"], {"rnn": [20.1, 12.0]}, "BLEU")
    log_scatter("BLEU by cost", {"ours": [Spot(1e15, 27.3, "base")]}, "FLOPs", "BLEU")
    plot("time", {"rnn": [Spot(64, 0.3), Spot(99, 0.6)]}, powers("n", [64, 99], 2), powers("ms", [0.3, 0.6]), True)

Each returns a `Drawing`: `picture(chart)` embeds it in a page, `svg(chart)` makes an SVG file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from regard.report.colour import QUIET, SERIES, apart
from regard.report.drawing import SMALL, Box, Dot, Drawing, Item, Label, Line, framed
from regard.report.text import LINE, printable, width

WIDE, HIGH = 480.0, 290.0  # size of the area between the axes
ROW = LINE * SMALL
RADIUS = 3.5  # radius of a point


class Spot(NamedTuple):
    x: float | None  # None: the value holds for every x and is drawn as a dashed level
    y: float
    name: str = ""  # label beside the point


@dataclass(frozen=True)
class Axis:
    name: str
    share: Callable[[float], float]  # maps a value to 0 (start of the axis) … 1 (end)
    ticks: tuple[tuple[float, str], ...]  # share, label


def line_chart(title: str, labels: Sequence[str], series: Mapping[str, Sequence[float | None]], y_name: str) -> Drawing:
    """Draws one line per series over ordered labels; None has no point."""
    spots = {
        name: [Spot(number, value) for number, value in enumerate(values) if value is not None]
        for name, values in series.items()
    }
    return plot(title, spots, labelled("", labels), from_zero(y_name, _values(spots)), joined=True)


def log_scatter(title: str, series: Mapping[str, Sequence[Spot]], x_name: str, y_name: str) -> Drawing | None:
    """Draws named points over powers of ten; returns None if no point has an x."""
    known = [spot.x for spots in series.values() for spot in spots if spot.x is not None]
    if not known:
        return None
    return plot(title, series, powers(x_name, known), from_zero(y_name, _values(series)))


def plot(title: str, series: Mapping[str, Sequence[Spot]], x: Axis, y: Axis, joined: bool = False) -> Drawing:
    """Draws each series in its own colour, with a legend at the right; after eight, colours repeat, dashed."""
    left = 8 + SMALL * max((width(label) for _, label in y.ticks), default=0.0)
    top = 1.5 * ROW
    items = _axes(x, y, left, top)
    for number, (name, spots) in enumerate(series.items()):
        colour = apart(number)
        places = [
            (
                left + x.share(spot.x) * WIDE if spot.x is not None else None,
                top + (1 - y.share(spot.y)) * HIGH,
                spot.name,
            )
            for spot in spots
        ]
        points = tuple((across, down) for across, down, _ in places if across is not None)
        if joined and points:
            items.append(Line(points, colour, 2, dashed=number >= len(SERIES), note=name))
        for across, down, label in places:
            if across is None:
                items.append(Line(((left, down), (left + WIDE, down)), colour, 2, dashed=True, note=name))
            else:
                items.append(Dot(across, down, RADIUS, colour, note=label or name))
                items += [Label(across + 7, down, printable(label), size=SMALL)] if label else []
        middle = top + (number + 0.5) * (ROW + 4)
        items.append(Box(left + WIDE + 16, middle - 5, 10, 10, colour))
        items.append(Label(left + WIDE + 32, middle, printable(name), size=SMALL))
    total = max(right for item in items for right in _right(item))
    high = max(top + HIGH + (2.2 if x.name else 1.2) * ROW, top + len(series) * (ROW + 4))
    return framed(Drawing(total, high, tuple(items), title))


# ------------------------------------------------------------------------------------------------ axes


def labelled(name: str, labels: Sequence[str]) -> Axis:
    """An axis whose n-th label stands for the value n."""
    count = max(1, len(labels))
    return Axis(name, lambda n: (n + 0.5) / count, tuple(((n + 0.5) / count, each) for n, each in enumerate(labels)))


def from_zero(name: str, values: Iterable[float]) -> Axis:
    """
    >>> from_zero("BLEU", [37.2]).ticks[-1]
    (1.0, '40')
    """
    top = _round_up(max(values, default=1.0))
    return Axis(name, lambda value: value / top, tuple((n / 4, f"{top * n / 4:g}") for n in range(5)))


def powers(name: str, values: Iterable[float], base: int = 10) -> Axis:
    """A logarithmic axis from the power of `base` below all values to the one above them.

    >>> [label for _, label in powers("n", [5, 70], 2).ticks]
    ['4', '8', '16', '32', '64', '128']
    """
    found = list(values)
    low = math.floor(math.log(min(found), base) + 1e-9)
    high = max(low + 1, math.ceil(math.log(max(found), base) - 1e-9))
    ticks = tuple(((power - low) / (high - low), _power(base, power)) for power in range(low, high + 1))
    return Axis(name, lambda value: (math.log(value, base) - low) / (high - low), ticks)


def _power(base: int, power: int) -> str:
    """
    >>> _power(10, 15), _power(10, -2), _power(2, 12)
    ('1e15', '0.01', '4,096')
    """
    return f"1e{power}" if base == 10 and abs(power) > 3 else f"{float(base) ** power:,.10g}"


def _axes(x: Axis, y: Axis, left: float, top: float) -> list[Item]:
    items: list[Item] = [Label(left, top - ROW, y.name, size=SMALL, fill=QUIET)] if y.name else []
    for share, label in y.ticks:
        down = top + (1 - share) * HIGH
        items.append(Box(left, down - 0.5, WIDE, 1, QUIET, 0.25))
        items.append(Label(left - 6, down, label, "right", SMALL, QUIET))
    for share, label in x.ticks:
        items.append(Label(left + share * WIDE, top + HIGH + 0.8 * ROW, printable(label), "middle", SMALL, QUIET))
    if x.name:
        items.append(Label(left + WIDE / 2, top + HIGH + 1.9 * ROW, x.name, "middle", SMALL, QUIET))
    return items


def _round_up(value: float) -> float:
    """
    >>> _round_up(37.2), _round_up(96.0), _round_up(0.0)
    (40.0, 100.0, 1.0)
    """
    if value <= 0:
        return 1.0
    step = 10.0 ** math.floor(math.log10(value))
    return next(step * m for m in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0) if step * m >= value)


def _values(series: Mapping[str, Sequence[Spot]]) -> list[float]:
    return [spot.y for spots in series.values() for spot in spots]


def _right(item: Item) -> list[float]:
    return [x for x, _ in item.corners()] if isinstance(item, Label) else []
