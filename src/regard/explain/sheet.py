"""All maps of one kind of attention, layer by layer and head by head, each with three numbers.

    entropy of a row = − Σ p log₂ p      over its words and EOS; 0: all weight on one of n, log₂ n: uniform

Entropy is the mean over rows, in bits. Hidden mass is the weight of what is not a word. AER is given where it was
measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import RowMeaning, View
from regard.explain.alignment import Trust
from regard.explain.grid import KINDS, Grid, trace_grid
from regard.explain.trace import Kind, Trace


@dataclass(frozen=True)
class Thumbnail:
    """One head."""

    view: View
    grid: Grid
    entropy: float  # bits
    hidden: float  # mean mass on what is not shown
    trust: Trust | None


@dataclass(frozen=True)
class Sheet:
    """All heads; a row of the sheet is a layer."""

    layers: tuple[tuple[Thumbnail, ...], ...]
    title: str
    caption: str


def sheet_of(
    trace: Trace,
    kind: Kind = "cross",
    row: RowMeaning = "predicting",
    *,
    words: bool = True,
    known: Mapping[View, Trust] | None = None,
) -> Sheet:
    """What is `known` was measured elsewhere, on sentences with known alignments (`alignment.py`)."""
    known = known or {}
    trace.weights(View(0), kind)  # refuses what the model does not have
    layers = tuple(
        tuple(_thumbnail(trace, View(layer, head, row), kind, words, known) for head in range(len(heads)))
        for layer, heads in enumerate(getattr(trace, kind))
    )
    title = f"{KINDS[kind]}: a row for each layer, a column for each head"
    meaning = "" if kind == "encoder" else f"{row.replace('-', ' ')} · "
    on = ", ".join(sorted({f" on {trust.on}" for trust in known.values() if trust.on}))
    worth = f"AER{on} where it is known, else not evaluated · " if kind == "cross" else ""
    name = layers[0][0].grid.hidden_name
    caption = f"{meaning}entropy in bits, mean over rows · {name}: mass not shown · {worth}{trace.how}"
    return Sheet(layers, title, caption)


def _thumbnail(trace: Trace, view: View, kind: Kind, words: bool, known: Mapping[View, Trust]) -> Thumbnail:
    trust = known.get(view)
    grid = trace_grid(trace, view, kind, words=words, trust=trust, title=f"layer {view.layer + 1}, head {_head(view)}")
    return Thumbnail(view, grid, entropy(grid), float(np.nanmean(grid.hidden)) if len(grid.hidden) else 0.0, trust)


def _head(view: View) -> int:
    return 0 if view.head is None else view.head + 1


def entropy(grid: Grid) -> float:
    """Mean over the rows that can be drawn, in bits; what is hidden counts as one place.

    >>> values = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> entropy(Grid(("a", "b"), ("c", "d"), values, np.zeros(2), "", "", (None, None)))
    0.5
    """
    good = [i for i, problem in enumerate(grid.problems) if problem is None]
    masses = np.column_stack([grid.values, grid.hidden])[good]  # (R, C + 1)
    return float(_bits(masses).mean()) if len(masses) else float("nan")


def _bits(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    safe = np.where(rows > 0, rows, 1.0)
    sums: NDArray[np.float64] = -(safe * np.log2(safe)).sum(axis=1) + 0.0  # not −0
    return sums
