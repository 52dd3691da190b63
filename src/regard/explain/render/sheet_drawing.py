"""The layer × head sheet laid out: a small map for each head, with entropy, hidden mass and AER if known."""

from __future__ import annotations

from regard.explain.sheet import Sheet, Thumbnail
from regard.report.colour import FAINT, WARNING
from regard.report.drawing import SMALL, Drawing, Item, Label, Tiles, framed, scale
from regard.report.text import LINE, runs_left

LEAST, MOST, PAGE = 118.0, 190.0, 800.0  # the side of a small map, and what all of a layer may fill
GAP = 14.0
SAID = LINE * SMALL  # a line of text


def sheet_drawing(sheet: Sheet) -> Drawing:
    """Each map is fitted into a square, whatever the number of its words."""
    heads = max(len(layer) for layer in sheet.layers)
    side = min(max((PAGE - GAP * (heads - 1)) // heads, LEAST), MOST)
    items: list[Item] = []
    y = 0.0
    for layer in sheet.layers:
        for across, thumb in enumerate(layer):
            items += _small(thumb, across * (side + GAP), y, side)
        lines = 3 if any(thumb.trust is not None for thumb in layer) else 2
        y += side + SAID * lines + GAP
    body = Drawing(heads * (side + GAP) - GAP, y - GAP / 2, tuple(items), sheet.title, sheet.caption)
    legend, size = scale()
    return framed(body, legend, size)


def _small(thumb: Thumbnail, x: float, y: float, side: float) -> list[Item]:
    grid, view = thumb.grid, thumb.view
    wrong = next((problem for problem in grid.problems if problem), None)
    name = f"{view.layer + 1}.{(view.head or 0) + 1}"
    hidden = grid.hidden_name if len(grid.hidden_name) <= 3 else "hidden"  # a longer one is in the caption alone
    numbers = f"{thumb.entropy:.1f} bits · {hidden} {thumb.hidden:.2f}"
    said = [Label(x, y + side + SAID * 0.6, f"layer {name.replace('.', ' · head ')}", size=SMALL)]
    if wrong:
        return [*said, Label(x, y + side / 2, wrong, size=8.0, fill=WARNING)]
    said.append(Label(x, y + side + SAID * 1.6, numbers, size=SMALL, fill=FAINT))
    if thumb.trust is not None:
        said.append(Label(x, y + side + SAID * 2.6, f"AER {thumb.trust.aer:.1%}", size=SMALL, bold=True))
    if not grid.values.size:
        return list(said)
    left = runs_left(" ".join(grid.columns))
    levels = tuple(
        tuple(round(min(max(w, 0.0), 1.0) * 10) for w in (row[::-1] if left else row)) for row in grid.values.tolist()
    )
    tiles = Tiles(x, y, side / len(grid.columns), side / len(grid.rows), levels, f"layer {name}: {grid.caption}")
    return [tiles, *said]
