"""The text and the drawing of `regard explain positions`.

The drawing:

map and bits   positions from left to right, dimensions of the vector downwards, the fastest first in both
chart          the mean product of two positions by their distance; for learned ones also minimum to maximum
table          the notes' requirements by encoding
"""

from __future__ import annotations

import textwrap
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.course.positions.encodings import bound, rises
from regard.course.positions.requirements import Positions
from regard.layers.positions import frequencies
from regard.report.colour import BAD, GOOD, INK, QUIET, apart
from regard.report.drawing import SMALL, Box, Curve, Drawing, Item, Label, Point, Tiles, framed, moved
from regard.report.text import LINE, wrap

# -------------------------------------------------------------------------------- text


TEXT_WIDTH = 110  # characters of a line
TEXT_COLUMN, NAME = 20, 23


def positions_text(found: Positions) -> str:
    lines = [f"Positions of sinusoids, width {found.width}, {found.length} positions", ""]
    names = list(found.requirements[0].cells)
    for one in found.requirements:
        lines += [f"{one.number}. {one.words}", f"   measured: {one.measured}"]
        lines.append("   " + "".join(f"{name:<{TEXT_COLUMN}}" for name in names).rstrip())
        shown = [f"{'yes' if one.cells[name].holds else 'no'}, {one.cells[name].figure}" for name in names]
        lines.append("   " + "".join(f"{figure:<{TEXT_COLUMN}}" for figure in shown).rstrip())
        lines += textwrap.wrap(f"sinusoid {one.finding}.", TEXT_WIDTH, initial_indent="   ", subsequent_indent="   ")
        lines.append("")
    lines += [*_products(found), "", *_counting(found)]
    return "\n".join(lines) + "\n"


def _products(found: Positions) -> list[str]:
    distances = [k for k in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if k < found.length]
    lines = ["product of two positions by distance, as a share of that at distance 0 (mean over all pairs)"]
    heads = "".join(f"{k:>7}" for k in distances)
    lines.append(f"   {'distance':<{NAME}}{heads}   differs by    rises first at")
    for one in found.products:
        up = rises(one.mean)
        first = str(up[0]) if len(up) else "nowhere"
        values = "".join(f"{round(float(one.mean[k]), 2) + 0.0:>7.2f}" for k in distances)
        lines.append(f"   {one.name:<{NAME}}{values}   {bound(one.deviation):<11}   {first}")
    lines.append("   differs by: products of pairs at one and the same distance, the largest less the smallest")
    return lines


def _counting(found: Positions) -> list[str]:
    """Shows bits beside the signs of the sines that change about as often."""
    count = found.bits.shape[1]
    pace = np.pi / frequencies(found.width).double().numpy()  # (D/2,) positions until a sine changes its sign
    pairs = {bit: int(np.abs(np.log(pace / 2.0**bit)).argmin()) for bit in range(count)}
    slow = [bit for bit in reversed(range(count)) if 2**bit >= pace[0]]
    lines = ["binary counting beside the signs of the sines that change about as often, the slowest first"]
    lines.append(f"   {'position':<10}{'bits':<{count + 4}}sine " + " ".join(str(2 * pairs[bit]) for bit in slow))
    for position in range(min(16, found.length)):
        bits = "".join(str(bit) for bit in found.bits[position][::-1])
        signs = [
            ("−" if found.map[position, 2 * pairs[bit]] < 0 else "+").rjust(len(str(2 * pairs[bit]))) for bit in slow
        ]
        lines.append(f"   {position:<10}{bits:<{count + 4}}     {' '.join(signs)}".rstrip())
    paces = ", ".join(
        f"bit {bit} every {2**bit} and sine {2 * pairs[bit]} every {pace[pairs[bit]]:.1f}" for bit in slow
    )
    summary = (
        f"they change: {paces}. The fastest sine changes every {pace[0]:.1f} positions, so bits "
        f"{', '.join(str(bit) for bit in range(count) if bit not in slow)} have no counterpart, and the slowest only "
        f"after {pace[-1]:,.0f}, longer than any sentence"
    )
    return [*lines, *textwrap.wrap(summary, TEXT_WIDTH, initial_indent="   ", subsequent_indent="   ")]


# -------------------------------------------------------------------------------- drawing


LEFT, WIDE = 62.0, 620.0  # position and width of the maps and the chart
MAP_HIGH, BIT_HIGH, CHART_HIGH = 256.0, 17.0, 190.0
HOLDS, FAILS = GOOD, BAD
COLUMN, FIRST = 96.0, 228.0  # widths of the columns, and of the first column, of the table
PITCH = LINE * SMALL
SHORT = {
    1: "unique for each position",
    2: "distances the same in sentences of other lengths",
    3: "extends to longer sentences, bounded",
    4: "deterministic",
    5: "not too large",
}


def positions_drawing(found: Positions) -> Drawing:
    parts = [_map(found), _bits(found), _chart(found), _table(found)]
    items: list[Item] = []
    y = 0.0
    for drawn, high in parts:
        items += moved(drawn, 0.0, y)
        y += high + 14
    total = max(LEFT + WIDE + 10, FIRST + COLUMN * len(found.requirements[0].cells))
    title = f"Positions: sinusoids of width {found.width}, {found.length} positions"
    caption = f"word vectors of {found.words_from} · learned: drawn, or the model's own table"
    return framed(Drawing(total, y, tuple(items), title, caption))


def _map(found: Positions) -> tuple[list[Item], float]:
    levels = np.rint((found.map.T + 1) * 5).astype(np.int64)  # (D, L) in 0 … 10
    items = _heading(
        "Sinusoids: faint is −1, strong is 1; positions from left to right, the fastest dimensions at the top"
    )
    half = MAP_HIGH / 2
    for start, name, y in ((0, "sines", 20.0), (1, "cosines", 28.0 + half)):
        rows = levels[start::2]
        items.append(_tiles(rows, y, half / len(rows), name))
        items.append(Label(LEFT - 6, y + half / 2, name, "right", SMALL, QUIET))
        for at, number in ((y + 6, start), (y + half - 6, start + 2 * (len(rows) - 1))):
            items.append(Label(LEFT - 6, at, str(number), "right", SMALL, QUIET))
    return items + _ticks(found.length, 28 + MAP_HIGH), 28 + MAP_HIGH + 18


def _bits(found: Positions) -> tuple[list[Item], float]:
    count = found.bits.shape[1]
    items = _heading("Binary counting: the first bit changes at every position, each next one half as often")
    items.append(_tiles(found.bits.T * 10, 20, BIT_HIGH, "bits"))
    for bit in range(count):
        items.append(Label(LEFT - 6, 20 + (bit + 0.5) * BIT_HIGH, f"bit {bit}", "right", SMALL, QUIET))
    return items, 20 + count * BIT_HIGH


def _tiles(levels: NDArray[np.int64], y: float, high: float, note: str) -> Tiles:
    rows = tuple(tuple(row) for row in levels.tolist())
    return Tiles(LEFT, y, WIDE / levels.shape[1], high, rows, note)


def _ticks(length: int, y: float) -> list[Item]:
    ticks = range(0, length, max(1, length // 8))
    return [Label(LEFT + (tick + 0.5) * WIDE / length, y + 9, str(tick), "middle", SMALL, QUIET) for tick in ticks]


def _heading(text: str) -> list[Item]:
    return [Label(LEFT, 8, text, size=SMALL)]


def _chart(found: Positions) -> tuple[list[Item], float]:
    """Draws products by distance, 1 at distance 0."""
    bottom = min(-0.2, *(float(one.least.min()) for one in found.products))
    above = 20 + PITCH * len(found.products) + 10

    def place(distance: int, value: float) -> Point:
        x, y = LEFT + (distance + 0.5) * WIDE / found.length, above + (1 - value) / (1 - bottom) * CHART_HIGH
        return round(x, 1), round(y, 1)

    items = _heading("Product of two positions against their distance, as a share of that at distance 0")
    for number, one in enumerate(found.products):
        y = 20 + (number + 0.5) * PITCH
        name = f"{one.name}: products at one distance differ by {bound(one.deviation)}"
        items += [Box(LEFT, y - 5, 10, 10, apart(number)), Label(LEFT + 14, y, name, size=SMALL, fill=QUIET)]
    for value in (1.0, 0.5, 0.0):
        start, end = place(0, value), place(found.length - 1, value)
        items.append(Curve((start, start, end, end), QUIET, 0.5, 0.5))
        items.append(Label(LEFT - 6, start[1], f"{value:g}", "right", SMALL, QUIET))
    learned = found.products[-1]
    for distance in range(1, found.length):
        x, top = place(distance, float(learned.most[distance]))
        low = place(distance, float(learned.least[distance]))[1]
        items.append(Box(x - 1.5, top, 3, max(low - top, 0.5), apart(len(found.products) - 1), 0.3))
    for number, one in enumerate(found.products[:-1]):  # learned ones have no curve, only the range
        points = [place(distance, float(value)) for distance, value in enumerate(one.mean)]
        items += [Curve((a, a, b, b), apart(number), 1.6) for a, b in pairwise(points)]
    return items + _ticks(found.length, above + CHART_HIGH), above + CHART_HIGH + 18


def _table(found: Positions) -> tuple[list[Item], float]:
    encodings = list(found.requirements[0].cells)
    items: list[Item] = [Label(0, 8, "The notes' five requirements", size=SMALL)]
    items += [
        Label(FIRST + (i + 0.5) * COLUMN, 8, name, "middle", SMALL, INK, name == "sinusoid")
        for i, name in enumerate(encodings)
    ]
    y = 24.0
    for one in found.requirements:
        lines = wrap(f"{one.number} {SHORT[one.number]} ({one.measured})", (FIRST - 8) / SMALL)
        items += [Label(0, y + (i + 0.5) * PITCH, line, size=SMALL, fill=QUIET) for i, line in enumerate(lines)]
        for i, name in enumerate(encodings):
            cell = one.cells[name]
            middle, colour = FIRST + (i + 0.5) * COLUMN, HOLDS if cell.holds else FAILS
            said = wrap(f"{'yes' if cell.holds else 'no'}, {cell.figure}", (COLUMN - 6) / SMALL)
            items += [
                Label(middle, y + (j + 0.5) * PITCH, line, "middle", SMALL, colour) for j, line in enumerate(said)
            ]
        y += len(lines) * PITCH + 6
    return items, y
