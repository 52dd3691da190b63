"""The layer × head sheet laid out: a small map for each head, with entropy, hidden mass and AER if known."""

from __future__ import annotations

from regard.explain.render.colour import FAINT, WARNING
from regard.explain.render.drawing import SMALL, Drawing, Item, Tiles, Words, framed, scale
from regard.explain.render.text import LINE, runs_left
from regard.explain.sheet import Sheet, Thumbnail

SIDE = 118.0  # of a small map
GAP = 14.0
SAID = LINE * SMALL  # a line of text


def sheet_drawing(sheet: Sheet) -> Drawing:
    """Each map is fitted into a square, whatever the number of its words."""
    lines = 3 if any(thumb.aer is not None for layer in sheet.layers for thumb in layer) else 2
    tall = SIDE + SAID * lines + GAP
    items: list[Item] = []
    for down, layer in enumerate(sheet.layers):
        for across, thumb in enumerate(layer):
            items += _small(thumb, across * (SIDE + GAP), down * tall)
    wide = max(len(layer) for layer in sheet.layers) * (SIDE + GAP) - GAP
    body = Drawing(wide, tall * len(sheet.layers) - GAP, tuple(items), sheet.title, sheet.caption)
    legend, size = scale()
    return framed(body, legend, size)


def _small(thumb: Thumbnail, x: float, y: float) -> list[Item]:
    grid, view = thumb.grid, thumb.view
    wrong = next((problem for problem in grid.problems if problem), None)
    name = f"{view.layer + 1}.{(view.head or 0) + 1}"
    numbers = f"{thumb.entropy:.1f} bits · {grid.hidden_name} {thumb.hidden:.2f}"
    said = [Words(x, y + SIDE + SAID * 0.6, f"layer {name.replace('.', ' head ')}", size=SMALL)]
    if wrong:
        return [*said, Words(x, y + SIDE / 2, wrong, size=8.0, fill=WARNING)]
    said.append(Words(x, y + SIDE + SAID * 1.6, numbers, size=SMALL, fill=FAINT))
    if thumb.aer is not None:
        said.append(Words(x, y + SIDE + SAID * 2.6, f"AER {thumb.aer:.1%}", size=SMALL, bold=True))
    if not grid.values.size:
        return list(said)
    left = runs_left(" ".join(grid.columns))
    levels = tuple(
        tuple(round(min(max(w, 0.0), 1.0) * 10) for w in (row[::-1] if left else row)) for row in grid.values.tolist()
    )
    tiles = Tiles(x, y, SIDE / len(grid.columns), SIDE / len(grid.rows), levels, f"layer {name}: {grid.caption}")
    return [tiles, *said]
