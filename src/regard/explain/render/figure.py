"""Maps, sheets and arcs of heads as outputs for a terminal, a page, an image and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Group
from rich.text import Text

from regard.align.attention import View
from regard.explain.grid import Grid, head_name
from regard.explain.heads import Arcs, Sheet, Thumbnail
from regard.explain.render.arcs_drawing import arcs_drawing
from regard.explain.render.html import maps_page
from regard.explain.render.map_drawing import heat, ribbons
from regard.explain.render.terminal import HeatMap, render
from regard.report.colour import BAD, QUIET
from regard.report.deliver import Output
from regard.report.drawing import SMALL, Drawing, Item, Label, Tiles, framed, gathered, scale
from regard.report.json import rounded
from regard.report.table import Table
from regard.report.text import LINE, cut, printable, runs_left, width

SIDE_LEAST, SIDE_MOST, PAGE = 118.0, 190.0, 800.0  # bounds of the side of a small map; width of all maps of a layer
GAP = 14.0  # between small maps
LEAST_LETTERS = 6.5  # size of the words at the axes, where there are many
LONGEST_WORD = 9.0  # em
ROW = LINE * SMALL  # a line of text under a map


def map_output(grid: Grid, heat_map: bool = True, title: str = "") -> Output:
    """Outputs a heat map, or each word with the words it attends to most. `title` is the title of the page."""
    drawings = () if heat_map else (ribbons(grid),)  # the page already has the map as a table
    return Output(
        text=lambda: render(grid, heat=heat_map),
        data=lambda: rounded(grid_data(grid)),
        page=lambda: maps_page(title or grid.title, [grid], drawings),
        drawing=lambda: heat(grid) if heat_map else ribbons(grid),
    )


def sheet_output(sheet: Sheet, title: str = "") -> Output:
    return Output(
        text=lambda: Group(Text(sheet.title), sheet_table(sheet).rich(), Text(sheet.caption, style="dim")),
        data=lambda: rounded(sheet_data(sheet)),
        page=lambda: maps_page(title or sheet.title, (), [sheet_drawing(sheet)]),
        drawing=lambda: sheet_drawing(sheet),
    )


def sheet_table(sheet: Sheet) -> Table:
    rows = []
    for thumb in (thumb for layer in sheet.layers for thumb in layer):
        head = [str(thumb.view.layer + 1), str((thumb.view.head or 0) + 1)]
        aer = "–" if thumb.trust is None else f"{thumb.trust.aer:.1%}"
        rows.append([*head, f"{thumb.entropy:.2f}", f"{thumb.hidden:.2f}", aer])
    return Table(["layer", "head", "entropy", "hidden", "AER"], rows, left=())


def arcs_output(several: Sequence[Arcs], title: str = "") -> Output:
    """Outputs the arcs of one word in each of several sentences."""
    grids = [grid for arcs in several for grid in arcs_grids(arcs)]
    shown = [part for grid in grids for part in (Text(grid.title), HeatMap(grid), Text(grid.caption, style="dim"))]
    word = " / ".join(dict.fromkeys(f"“{arcs.words[arcs.word]}”" for arcs in several))
    return Output(
        text=lambda: Group(*shown),
        data=lambda: rounded({"arcs": [arcs_data(arcs) for arcs in several]}),
        page=lambda: maps_page(title or f"{word}, head by head", grids, [arcs_drawing(arcs) for arcs in several]),
        drawing=lambda: gathered([arcs_drawing(arcs) for arcs in several]),
    )


def arcs_grids(arcs: Arcs) -> list[Grid]:
    """The weights as tables, one row per head."""
    found = []
    rows = tuple(head_name(view) for view in arcs.heads)
    fine = (None,) * len(rows)
    if arcs.attends_to is not None and arcs.hidden is not None:
        title = f"{arcs.title} · what the word attends to"
        found.append(Grid(rows, arcs.others, arcs.attends_to, arcs.hidden, title, arcs.caption, fine, arcs.hidden_name))
    if arcs.attended_by is not None:
        title, none = f"{arcs.title} · what attends to the word", np.zeros(len(rows))
        caption = f"{arcs.caption} · these are columns of the map and need not sum to 1"
        found.append(Grid(rows, arcs.others, arcs.attended_by, none, title, caption, fine, ""))
    return found


# ── data for JSON, keys always in the same order ─────────────────────────────────────────────────────────────────────


def grid_data(grid: Grid) -> dict[str, Any]:
    names = ("title", "caption", "rows", "columns", "values", "hidden", "hidden_name", "problems")
    return {name: getattr(grid, name) for name in names}


def sheet_data(sheet: Sheet) -> dict[str, Any]:
    heads = [
        {
            **view_data(thumb.view),
            "entropy": thumb.entropy,
            "hidden_mass": thumb.hidden,
            "aer": None if thumb.trust is None else thumb.trust.aer,
            "map": grid_data(thumb.grid),
        }
        for layer in sheet.layers
        for thumb in layer
    ]
    return {"title": sheet.title, "caption": sheet.caption, "heads": heads}


def arcs_data(arcs: Arcs) -> dict[str, Any]:
    return {
        "title": arcs.title,
        "caption": arcs.caption,
        "kind": arcs.kind,
        "word": {"text": arcs.words[arcs.word], "number": arcs.word + 1},
        "words": arcs.words,
        "others": arcs.others,
        "heads": [view_data(view) for view in arcs.heads],
        "looks_at": arcs.attends_to,
        "looked_at_by": arcs.attended_by,
        "hidden": arcs.hidden,
    }


def view_data(view: View) -> dict[str, Any]:
    """Layers and heads count from 1, as in output; a head of null is the mean of heads."""
    return {"layer": view.layer + 1, "head": None if view.head is None else view.head + 1, "row": view.row}


# ── a sheet as a drawing ──────────────────────────────────────────────────────────────────────────────────────────────


def sheet_drawing(sheet: Sheet) -> Drawing:
    """Draws all maps of a sheet, each fitted into a square regardless of its number of words."""
    heads = max(len(layer) for layer in sheet.layers)
    first = sheet.layers[0][0].grid
    beside = _axis_room(first.rows, SIDE_MOST)
    side = min(max((PAGE - beside - GAP * (heads - 1)) // heads, SIDE_LEAST), SIDE_MOST)
    left, above = (_axis_room(words, side) for words in (first.rows, first.columns))
    items: list[Item] = _across(first.columns, left, above - 4, side, heads)
    y = above
    for layer in sheet.layers:
        items += _down(first.rows, left - 4, y, side)
        for across, thumb in enumerate(layer):
            items += _small(thumb, left + across * (side + GAP), y, side)
        lines = 3 if any(thumb.trust is not None for thumb in layer) else 2
        y += side + ROW * lines + GAP
    thinned = any(len(_axis(words, side)[1]) < len(words) for words in (first.rows, first.columns))
    caption = sheet.caption + (" · axes: not every word is named" if thinned else "")
    body = Drawing(left + heads * (side + GAP) - GAP, y - GAP / 2, tuple(items), sheet.title, caption)
    legend, size = scale()
    return framed(body, legend, size)


def _axis(words: Sequence[str], side: float) -> tuple[float, list[tuple[int, str]]]:
    """The size of the letters at an axis of this length, and the words that have room: every one, or every second …"""
    cell = side / max(len(words), 1)
    every = 1
    while cell * every < LEAST_LETTERS * LINE:
        every += 1
    named = [(n, cut(printable(word), LONGEST_WORD)) for n, word in enumerate(words) if n % every == 0]
    return min(SMALL, cell * every / LINE), named


def _axis_room(words: Sequence[str], side: float) -> float:
    size, named = _axis(words, side)
    return max((width(word) * size for _, word in named), default=0.0) + 6


def _down(words: Sequence[str], right: float, y: float, side: float) -> list[Item]:
    """The words of the rows, at the left of a layer."""
    size, named = _axis(words, side)
    cell = side / max(len(words), 1)
    return [Label(right, y + (n + 0.5) * cell, word, "right", size, QUIET) for n, word in named]


def _across(words: Sequence[str], left: float, foot: float, side: float, heads: int) -> list[Item]:
    """The words of the columns, above the maps of the first layer, read from below to above."""
    size, named = _axis(words, side)
    cell, back = side / max(len(words), 1), runs_left(" ".join(words))
    return [
        Label(left + head * (side + GAP) + (len(words) - n - 0.5 if back else n + 0.5) * cell, foot, word, "left", size,
              QUIET, turn=-90.0)
        for head in range(heads)
        for n, word in named
    ]  # fmt: skip


def _small(thumb: Thumbnail, x: float, y: float, side: float) -> list[Item]:
    grid, view = thumb.grid, thumb.view
    wrong = next((problem for problem in grid.problems if problem), None)
    name = f"{view.layer + 1}.{(view.head or 0) + 1}"
    hidden = grid.hidden_name if len(grid.hidden_name) <= 3 else "hidden"  # longer names are only in the caption
    numbers = f"{thumb.entropy:.1f} bits · {hidden} {thumb.hidden:.2f}"
    labels = [Label(x, y + side + ROW * 0.6, f"layer {name.replace('.', ' · head ')}", size=SMALL)]
    if wrong:
        return [*labels, Label(x, y + side / 2, wrong, size=8.0, fill=BAD)]
    labels.append(Label(x, y + side + ROW * 1.6, numbers, size=SMALL, fill=QUIET))
    if thumb.trust is not None:
        labels.append(Label(x, y + side + ROW * 2.6, f"AER {thumb.trust.aer:.1%}", size=SMALL, bold=True))
    if not grid.values.size:
        return list(labels)
    left = runs_left(" ".join(grid.columns))
    levels = tuple(
        tuple(round(min(max(w, 0.0), 1.0) * 10) for w in (row[::-1] if left else row)) for row in grid.values.tolist()
    )
    tiles = Tiles(x, y, side / len(grid.columns), side / len(grid.rows), levels, f"layer {name}: {grid.caption}")
    return [tiles, *labels]
