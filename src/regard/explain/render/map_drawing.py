"""Maps as drawings: a heat map, or two lines of words joined by ribbons.

Heat map: rows down, columns across, a scale and the caption below. Column labels are horizontal if they fit side by
side, rotated by 45° if they do not, and vertical if columns are narrow. A column is never narrower than its label, so
labels cannot overlap; long words are cut and shown in full on hover. If the columns are mainly written from right to
left, the map runs from right to left. Thin lines lead from a word to its cells. A weight that rounds to zero has no
cell.

Ribbons: keys above, queries below, for sentences of up to fifteen words.

    I   never  drink  cold  coffee        the width and the opacity of a ribbon show the weight;
    │ ╲  │ ╲╱   ╳                         weights under 0.1 are not drawn
    Je  ne  bois  jamais  de café froid   each line runs in its own writing direction

Both lines are stretched to the same width, with letters as large as the page allows, so words do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from regard.explain.grid import Grid
from regard.report.colour import ACCENT, BAD, INK, LINE_STRONG, on_scale
from regard.report.drawing import SIZE, Box, Curve, Drawing, Item, Label, framed, mirrored, scale
from regard.report.text import LINE, cut, printable, runs_left, width

LONGEST = 11.0  # maximum em of a label; longer words are cut
GAP = 6.0  # between a label and the map, and between labels
FLAT = 64.0  # maximum width of a column
MANY = 30  # with more columns than this, columns are narrow
CELL, ROW = 24.0, 22.0
CORNER = 3.0  # radius of a cell's corners
NARROW = 17.0  # smallest distance of vertical labels, and of rows
SLANT = 45.0


def heat(grid: Grid) -> Drawing:
    columns, rows = ([cut(printable(word), LONGEST) for word in side] for side in (grid.columns, grid.rows))
    labels, pitch, above = column_labels(columns, grid.columns)
    row_pitch = ROW if len(rows) <= MANY else NARROW
    beside = math.ceil(max((width(word) * SIZE for word in rows), default=0.0) + GAP)
    items: list[Item] = [_placed(label, beside) for label in labels]
    for i, (word, full) in enumerate(zip(rows, grid.rows, strict=True)):
        y = above + (i + 0.5) * row_pitch
        items.append(Label(beside - GAP, y, word, "right", note=full if word != full else ""))
    for first, last in _stretches(grid):
        items += _ground(beside, above + first * row_pitch, len(columns), last - first, pitch, row_pitch)
    for i in range(len(rows)):
        items += _row(grid, i, beside, above + i * row_pitch, pitch, row_pitch)
    wide = max((x for item in items for x in _right(item)), default=0.0)
    if runs_left(" ".join(grid.columns)):
        items = mirrored(items, wide)
    body = Drawing(wide, above + row_pitch * len(rows), tuple(items), grid.title, grid.caption)
    legend, size = scale()
    return framed(body, legend, size)


def column_labels(columns: Sequence[str], full: Sequence[str]) -> tuple[list[Label], float, float]:
    """The labels with the first column at x = 0, the distance between columns, and the height of the labels.

    >>> [w.turn for w in column_labels(["a", "b"], ["a", "b"])[0]]
    [0.0, 0.0]
    """
    widths = [width(word) * SIZE for word in columns]
    widest, count = max(widths, default=0.0), len(columns)
    notes = [whole if whole != word else "" for word, whole in zip(columns, full, strict=True)]
    if widest + GAP <= FLAT and count * (widest + GAP) <= MANY * CELL:
        pitch, high = max(CELL, math.ceil(widest + GAP)), LINE * SIZE
        flat = [
            Label((i + 0.5) * pitch, high / 2, word, "middle", note=note)
            for i, (word, note) in enumerate(zip(columns, notes, strict=True))
        ]
        return flat, pitch, math.ceil(high + 2)
    turn, pitch = (SLANT, CELL) if count <= MANY else (90.0, NARROW)
    sin, cos = math.sin(math.radians(turn)), math.cos(math.radians(turn))
    half = LINE * SIZE / 2  # a rotated label's lower corner reaches below its middle
    high = math.ceil(widest * sin + half * cos + GAP)
    turned = [
        Label((i + 0.5) * pitch, high - half * cos - 2, word, "left", turn=-turn, note=note)
        for i, (word, note) in enumerate(zip(columns, notes, strict=True))
    ]
    return turned, pitch, high


def _placed(label: Label, right: float) -> Label:
    return Label(label.x + right, label.y, label.text, label.anchor, turn=label.turn, note=label.note)


def _stretches(grid: Grid) -> Iterator[tuple[int, int]]:
    """The ranges of consecutive rows that can be drawn."""
    numbered = enumerate(problem is None for problem in grid.problems)
    for good, rows in groupby(numbered, key=lambda row: row[1]):
        places = [i for i, _ in rows]
        if good and grid.columns:
            yield places[0], places[-1] + 1


def _ground(x: float, y: float, columns: int, rows: int, pitch: float, high: float) -> list[Item]:
    """The background of consecutive rows in the colour of 0, with thin lines between rows and between columns."""
    wide, tall = columns * pitch, rows * high
    lines: list[Item] = [Box(x, y + i * high - 0.5, wide, 1, LINE_STRONG, 0.2) for i in range(1, rows)]
    lines += [Box(x + j * pitch - 0.5, y, 1, tall, LINE_STRONG, 0.2) for j in range(1, columns)]
    return [Box(x, y, wide, tall, on_scale(0.0).hex, round=CORNER), *lines]


def _row(grid: Grid, i: int, x: float, y: float, pitch: float, high: float) -> list[Item]:
    problem = grid.problems[i]
    if problem:
        return [Label(x + 4, y + high / 2, problem, fill=BAD)]
    items: list[Item] = []
    for j, weight in enumerate(grid.values[i].tolist()):
        if round(weight, 2) > 0:
            note = f"{grid.rows[i]} ← {grid.columns[j]} {weight:.2f}"
            colour = on_scale(weight).hex
            items.append(Box(x + j * pitch + 1, y + 1, pitch - 2, high - 2, colour, note=note, round=CORNER))
    return items


def _right(item: Item) -> list[float]:
    if isinstance(item, Label):
        return [x for x, _ in item.corners()]
    return [item.x + item.width] if isinstance(item, Box) else []


# ── ribbons ───────────────────────────────────────────────────────────────────────────────────────────────────────────


RIBBON_PAGE = 776.0  # maximum width of both lines before letters get smaller
LARGE, SMALLEST = 18.0, 12.0  # bounds of the font size
RIBBON_WORD = 14.0  # maximum em of a word; longer ones are cut
WORD_GAP = 0.55  # minimum em between words
RIBBON_HEIGHT = 150.0  # distance between the two lines
RIBBON_LEAST = 0.1  # smallest weight of a ribbon
RIBBON_WIDTH = 9.0  # width for a weight of 1
RIBBON_TITLE = "Each word below, and the words above that it attends to"


def ribbons(grid: Grid) -> Drawing:
    above, below = ([cut(printable(word), RIBBON_WORD) for word in side] for side in (grid.columns, grid.rows))
    ems = max(1.0, *(sum(map(width, line)) + WORD_GAP * (len(line) - 1) for line in (above, below)))
    size = min(max(RIBBON_PAGE / ems, SMALLEST), LARGE)
    total, half = ems * size, LINE * size / 2
    tops, feet = (_middles(line, size, total) for line in (above, below))
    items: list[Item] = []
    for i, problem in enumerate(grid.problems):
        if problem is None:
            items += _ribbons_of(grid, i, feet[i], tops, 2 * half, 2 * half + RIBBON_HEIGHT)
    for x, word, full in zip(tops, above, grid.columns, strict=True):
        items.append(Label(x, half, word, "middle", size, note=full if word != full else ""))
    for x, word, full, problem in zip(feet, below, grid.rows, grid.problems, strict=True):
        note = problem or (full if word != full else "")
        colour = BAD if problem else INK
        items.append(Label(x, 3 * half + RIBBON_HEIGHT, word, "middle", size, colour, note=note))
    said = [f"{word}: {problem}" for word, problem in zip(grid.rows, grid.problems, strict=True) if problem]
    caption = " · ".join([grid.caption, f"width shows the weight; weights under {RIBBON_LEAST} are not drawn", *said])
    return framed(Drawing(total, 4 * half + RIBBON_HEIGHT, tuple(items), RIBBON_TITLE, caption))


def _middles(words: Sequence[str], size: float, total: float) -> list[float]:
    """The middle of each word in a line stretched from 0 to `total`; from right to left for such scripts."""
    wide = [width(word) * size for word in words]
    spare = total - sum(wide)
    gap = spare / (len(words) - 1) if len(words) > 1 else 0.0
    x = 0.0 if len(words) > 1 else spare / 2
    found = []
    for each in wide:
        found.append(x + each / 2)
        x += each + gap
    return [total - x for x in found] if runs_left(" ".join(words)) else found


def _ribbons_of(grid: Grid, i: int, x: float, tops: Sequence[float], top: float, foot: float) -> list[Item]:
    """The ribbons of one word, weakest first."""
    row = grid.values[i].tolist()
    middle = (top + foot) / 2
    return [
        Curve(
            ((x, foot), (x, middle), (tops[j], middle), (tops[j], top)),
            ACCENT,
            RIBBON_WIDTH * row[j],
            0.25 + 0.6 * row[j],
            f"{grid.rows[i]} ← {grid.columns[j]} {row[j]:.2f}",
        )
        for j in sorted(range(len(row)), key=row.__getitem__)
        if row[j] >= RIBBON_LEAST
    ]
