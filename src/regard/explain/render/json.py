"""Explanations as plain data, for JSON: keys always in one order."""

from __future__ import annotations

from typing import Any

from regard.align.attention import View
from regard.explain.arcs import Arcs
from regard.explain.grid import Grid
from regard.explain.sheet import Sheet


def grid_data(grid: Grid) -> dict[str, Any]:
    return {
        "title": grid.title,
        "caption": grid.caption,
        "rows": grid.rows,
        "columns": grid.columns,
        "values": grid.values,
        "hidden": grid.hidden,
        "hidden_name": grid.hidden_name,
        "problems": grid.problems,
    }


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
        "looks_at": arcs.looks_at,
        "looked_at_by": arcs.looked_at_by,
        "hidden": arcs.hidden,
    }


def view_data(view: View) -> dict[str, Any]:
    """Layers and heads count from 1, as in print; a head of null is the mean of heads."""
    return {"layer": view.layer + 1, "head": None if view.head is None else view.head + 1, "row": view.row}
