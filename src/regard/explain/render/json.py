"""Explanations as JSON: every number to six decimals, keys always in one order, NaN as null."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from regard.explain.arcs import Arcs
from regard.explain.attention import View
from regard.explain.grid import Grid
from regard.explain.sheet import Sheet

DECIMALS = 6


def dumps(data: Any) -> str:
    """
    >>> dumps({"weights": np.array([[1 / 3, np.nan]])})
    '{"weights": [[0.333333, null]]}\\n'
    """
    return json.dumps(_plain(data), ensure_ascii=False, allow_nan=False) + "\n"


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


def _plain(data: Any) -> Any:
    if isinstance(data, np.ndarray):
        return _plain(data.tolist())
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, str):
        return data.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate is no text
    if isinstance(data, float):
        return round(data, DECIMALS) + 0.0 if math.isfinite(data) else None
    return data
