"""What an explanation looks like in every form, and the file it is written to: the suffix says which form."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.text import Text

from regard.errors import InputError
from regard.explain.arcs import Arcs
from regard.explain.grid import Grid
from regard.explain.render.arcs_drawing import arcs_drawing
from regard.explain.render.heat import heat
from regard.explain.render.html import page
from regard.explain.render.json import arcs_data, dumps, grid_data, sheet_data
from regard.explain.render.ribbons import ribbons
from regard.explain.render.terminal import HeatMap, render
from regard.explain.sheet import Sheet
from regard.files import write_atomically
from regard.report.drawing import Drawing, gathered
from regard.report.png import png
from regard.report.svg import svg

SUFFIXES = (".svg", ".html", ".json", ".png", ".txt")
TEXT_WIDTH = 160  # columns of a text file; a wider map becomes arrows


@dataclass(frozen=True)
class Figure:
    """One explanation, ready to be shown or written."""

    title: str
    shown: RenderableType  # in a terminal
    data: dict[str, Any]
    drawings: tuple[Drawing, ...]
    grids: tuple[Grid, ...] = field(default=())  # tables of a page
    pictured: bool = True  # whether a page needs the drawings beside its tables


def heat_figure(grid: Grid, heat_map: bool = True) -> Figure:
    """As a heat map, or as words and what they look at."""
    drawing = heat(grid) if heat_map else ribbons(grid)
    shown = render(grid, heat=heat_map)
    return Figure(grid.title, shown, grid_data(grid), (drawing,), (grid,), pictured=not heat_map)


def sheet_figure(sheet: Sheet) -> Figure:
    from regard.explain.render.sheet_drawing import sheet_drawing

    lines = [Text(sheet.title), Text("layer  head  entropy   hidden     AER", style="bold")]
    for layer in sheet.layers:
        for thumb in layer:
            aer = "–" if thumb.trust is None else f"{thumb.trust.aer:.1%}"
            numbers = f"{thumb.entropy:8.2f}  {thumb.hidden:7.2f}  {aer:>6}"
            lines.append(Text(f"{thumb.view.layer + 1:5}  {(thumb.view.head or 0) + 1:4} {numbers}"))
    lines.append(Text(sheet.caption, style="dim"))
    return Figure(sheet.title, Group(*lines), sheet_data(sheet), (sheet_drawing(sheet),))


def arcs_figure(several: Sequence[Arcs]) -> Figure:
    """One word in each of some sentences."""
    grids = tuple(grid for arcs in several for grid in arcs_grids(arcs))
    shown = [part for grid in grids for part in (Text(grid.title), HeatMap(grid), Text(grid.caption, style="dim"))]
    data = {"arcs": [arcs_data(arcs) for arcs in several]}
    title = " / ".join(dict.fromkeys(f"“{arcs.words[arcs.word]}”" for arcs in several)) + ", head by head"
    return Figure(title, Group(*shown), data, tuple(map(arcs_drawing, several)), grids)


def arcs_grids(arcs: Arcs) -> list[Grid]:
    """The same numbers as tables: a row for each head."""
    found = []
    rows = tuple(str(view).rsplit(" · ", 1)[0].replace(" · ", " ") for view in arcs.heads)
    fine = (None,) * len(rows)
    if arcs.looks_at is not None and arcs.hidden is not None:
        title = f"{arcs.title} · what the word looks at"
        found.append(Grid(rows, arcs.others, arcs.looks_at, arcs.hidden, title, arcs.caption, fine, arcs.hidden_name))
    if arcs.looked_at_by is not None:
        title, none = f"{arcs.title} · what looks at the word", np.zeros(len(rows))
        caption = f"{arcs.caption} · these are columns of the map and need not sum to 1"
        found.append(Grid(rows, arcs.others, arcs.looked_at_by, none, title, caption, fine, ""))
    return found


# ------------------------------------------------------------------------------------------------ files


def check_out(path: Path, suffixes: Sequence[str] = SUFFIXES) -> None:
    """Whether a file of that name could be written, asked before any work is done."""
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"--out {path} must end in {', '.join(suffixes)}, which says what is written; try {path.stem}{suffixes[0]}"
        )
    if path.is_dir():
        raise InputError(f"--out {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"--out {path} cannot be written: {path.parent} is not a folder")


def write_figure(figure: Figure, path: Path, font: Path | None = None) -> None:
    """The file appears whole or not at all."""
    check_out(path)
    content = contents(figure, path.suffix.lower(), font)
    write_atomically(path.resolve(), lambda place: place.write_bytes(content))


def contents(figure: Figure, suffix: str, font: Path | None = None) -> bytes:
    """The same figure always gives the same bytes."""
    drawings = figure.drawings
    together = drawings[0] if len(drawings) == 1 else gathered(drawings)
    forms: dict[str, Callable[[], str | bytes]] = {
        ".svg": partial(svg, together),
        ".png": partial(png, together, font),
        ".html": partial(page, figure.title, figure.grids, drawings if figure.pictured else ()),
        ".json": partial(dumps, figure.data),
        ".txt": partial(as_text, figure.shown),
    }
    made = forms[suffix]()
    return made if isinstance(made, bytes) else made.encode("utf-8", "replace")


def as_text(shown: RenderableType) -> str:
    """As a terminal without colours would show it."""
    out = io.StringIO()
    Console(file=out, width=TEXT_WIDTH, no_color=True, force_terminal=False, highlight=False).print(shown)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
