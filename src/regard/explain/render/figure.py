"""Maps, sheets and arcs of heads as results: what a terminal, a page, a picture and a JSON file show of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Group
from rich.text import Text

from regard.explain.arcs import Arcs
from regard.explain.grid import Grid
from regard.explain.render.arcs_drawing import arcs_drawing
from regard.explain.render.heat import heat
from regard.explain.render.html import maps_page
from regard.explain.render.json import arcs_data, grid_data, sheet_data
from regard.explain.render.ribbons import ribbons
from regard.explain.render.sheet_drawing import sheet_drawing
from regard.explain.render.terminal import HeatMap, render
from regard.explain.sheet import Sheet
from regard.report.deliver import Output
from regard.report.drawing import gathered
from regard.report.json import rounded
from regard.report.table import Table


def map_output(grid: Grid, heat_map: bool = True, title: str = "") -> Output:
    """As a heat map, or as words and what they attend to. `title` is the page's."""
    drawings = () if heat_map else (ribbons(grid),)  # a page has the map as a table already
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
    """One word in each of some sentences."""
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
    """The same numbers as tables: a row for each head."""
    found = []
    rows = tuple(str(view).rsplit(" · ", 1)[0].replace(" · ", " ") for view in arcs.heads)
    fine = (None,) * len(rows)
    if arcs.looks_at is not None and arcs.hidden is not None:
        title = f"{arcs.title} · what the word attends to"
        found.append(Grid(rows, arcs.others, arcs.looks_at, arcs.hidden, title, arcs.caption, fine, arcs.hidden_name))
    if arcs.looked_at_by is not None:
        title, none = f"{arcs.title} · what attends to the word", np.zeros(len(rows))
        caption = f"{arcs.caption} · these are columns of the map and need not sum to 1"
        found.append(Grid(rows, arcs.others, arcs.looked_at_by, none, title, caption, fine, ""))
    return found
