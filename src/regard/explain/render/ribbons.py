"""A map as two lines of words, keys above and queries below, with ribbons between them.

    I   never  drink  cold  coffee        a ribbon is as broad, and as strong in colour, as the weight;
    │ ╲  │ ╲╱   ╳                         one under 0.1 is not drawn
    Je  ne  bois  jamais  de café froid   each line runs the way it is written

For sentences of up to fifteen words, where it shows what changes its position; longer ones need a heat map.
Letters are as large as the page allows, and both lines are stretched to the same width, so no two words touch.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.grid import Grid
from regard.report.colour import INK, WARNING, apart
from regard.report.drawing import Curve, Drawing, Item, Label, framed
from regard.report.text import LINE, cut, printable, runs_left, width

PAGE = 776.0  # what both lines may fill, if their letters are not to become small
LARGE, SMALLEST = 18.0, 12.0  # of letters
LONGEST = 14.0  # em of a word; longer ones are cut
GAP = 0.55  # em between words, at least
HIGH = 150.0  # from one line to the other
LEAST = 0.1  # weight of a ribbon
BROAD = 9.0  # of a weight of 1
TITLE = "Each word below, and the words above that it attends to"


def ribbons(grid: Grid) -> Drawing:
    above, below = ([cut(printable(word), LONGEST) for word in side] for side in (grid.columns, grid.rows))
    ems = max(1.0, *(sum(map(width, line)) + GAP * (len(line) - 1) for line in (above, below)))
    size = min(max(PAGE / ems, SMALLEST), LARGE)
    total, half = ems * size, LINE * size / 2
    tops, feet = (_middles(line, size, total) for line in (above, below))
    items: list[Item] = []
    for i, problem in enumerate(grid.problems):
        if problem is None:
            items += _from(grid, i, feet[i], tops, 2 * half, 2 * half + HIGH)
    for x, word, full in zip(tops, above, grid.columns, strict=True):
        items.append(Label(x, half, word, "middle", size, note=full if word != full else ""))
    for x, word, full, problem in zip(feet, below, grid.rows, grid.problems, strict=True):
        note = problem or (full if word != full else "")
        colour = WARNING if problem else INK
        items.append(Label(x, 3 * half + HIGH, word, "middle", size, colour, note=note))
    said = [f"{word}: {problem}" for word, problem in zip(grid.rows, grid.problems, strict=True) if problem]
    caption = " · ".join([grid.caption, f"broader is more, under {LEAST} nothing is drawn", *said])
    return framed(Drawing(total, 4 * half + HIGH, tuple(items), TITLE, caption))


def _middles(words: Sequence[str], size: float, total: float) -> list[float]:
    """Where each word's middle lies, the line stretched from 0 to `total`, or the other way around."""
    wide = [width(word) * size for word in words]
    spare = total - sum(wide)
    gap = spare / (len(words) - 1) if len(words) > 1 else 0.0
    x = 0.0 if len(words) > 1 else spare / 2
    found = []
    for each in wide:
        found.append(x + each / 2)
        x += each + gap
    return [total - x for x in found] if runs_left(" ".join(words)) else found


def _from(grid: Grid, i: int, x: float, tops: Sequence[float], top: float, foot: float) -> list[Item]:
    """The ribbons of one word, the weakest first."""
    row = grid.values[i].tolist()
    middle = (top + foot) / 2
    return [
        Curve(
            ((x, foot), (x, middle), (tops[j], middle), (tops[j], top)),
            apart(0),
            BROAD * row[j],
            0.25 + 0.6 * row[j],
            f"{grid.rows[i]} ← {grid.columns[j]} {row[j]:.2f}",
        )
        for j in sorted(range(len(row)), key=row.__getitem__)
        if row[j] >= LEAST
    ]
