"""The heads of a model side by side: all maps of one kind of attention, or the weights of one word, head by head.

    H heads   R queries (down a map)   C keys (across)

    entropy of a row = − Σ p log₂ p      over its words and EOS; 0: all weight on one of n, log₂ n: uniform

A sheet has every layer and head, each with its entropy (the mean over rows, in bits), its hidden mass (the weight on
positions that are not words) and its AER if it was measured.

Arcs are the weights between one word and all others. In self-attention both sides are the same sentence, so a word has
a row (what it attends to) and a column (what attends to it). In cross-attention a target word has a row and a source
word has a column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import RowMeaning, View
from regard.errors import InputError
from regard.explain.alignment import NOT_EVALUATED, Trust
from regard.explain.grid import KINDS, Grid, head_name, trace_grid
from regard.explain.trace import Kind, Trace

Side = Literal["source", "target"]


@dataclass(frozen=True)
class Thumbnail:
    """The map of one head with its entropy, hidden mass and AER."""

    view: View
    grid: Grid
    entropy: float  # bits
    hidden: float  # mean mass that is not shown
    trust: Trust | None


@dataclass(frozen=True)
class Sheet:
    """The maps of all heads, one row per layer."""

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
    """Makes the sheet of one kind of attention. `known` has the measured error rates of views (`alignment.py`)."""
    known = known or {}
    trace.weights(View(0), kind)  # raises if the model has no such attention
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
    trust, title = known.get(view), head_name(view).replace(" head", ", head")
    grid = trace_grid(trace, view, kind, words=words, trust=trust, title=title)
    return Thumbnail(view, grid, entropy(grid), float(np.nanmean(grid.hidden)) if len(grid.hidden) else 0.0, trust)


def entropy(grid: Grid) -> float:
    """The mean entropy of the rows that can be drawn, in bits; hidden mass counts as one position.

    >>> values = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> entropy(Grid(("a", "b"), ("c", "d"), values, np.zeros(2), "", "", (None, None)))
    0.5
    """
    good = [i for i, problem in enumerate(grid.problems) if problem is None]
    masses = np.column_stack([grid.values, grid.hidden])[good]  # (R, C + 1)
    safe = np.where(masses > 0, masses, 1.0)
    bits = -(safe * np.log2(safe)).sum(axis=1) + 0.0  # not −0
    return float(bits.mean()) if len(bits) else float("nan")


# ── arcs ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Arcs:
    """The weights between one word and all words of a sentence, for some heads."""

    word: int  # its index in `words`
    words: tuple[str, ...]  # of the sentence that contains the chosen word
    others: tuple[str, ...]  # the words it is linked to; the same words in self-attention
    heads: tuple[View, ...]
    attends_to: NDArray[np.float64] | None  # (H, others): its row in each head; None for a source word
    attended_by: NDArray[np.float64] | None  # (H, others): its column; None for a target word
    hidden: NDArray[np.float64] | None  # (H,) of its row: the weight that is not on words
    kind: Kind
    title: str
    caption: str
    hidden_name: str = "EOS"  # what `hidden` is on


def arcs_of(
    trace: Trace,
    word: str,
    heads: Sequence[View],
    kind: Kind = "encoder",
    side: Side = "target",
    row: RowMeaning = "predicting",
    known: Mapping[View, Trust] | None = None,
) -> Arcs:
    """Returns the weights between one word and all others. `word` is the word itself ("it", or "it:2" for its second
    occurrence) or its number from 1. `known` has the measured error rates of views, for cross-attention only."""
    if not heads:
        raise InputError("arcs are drawn for heads, but none is named")
    views = [View(view.layer, view.head, row) for view in heads]
    grids = [trace_grid(trace, view, kind) for view in views]
    by_row = kind != "cross" or side == "target"
    words, others = (grids[0].rows, grids[0].columns) if by_row else (grids[0].columns, grids[0].rows)
    place = find_word(words, word)
    for grid, view in zip(grids, views, strict=True):
        bad = next((p for p in ([grid.problems[place]] if by_row else grid.problems) if p), None)
        if bad:
            raise InputError(f"no arcs are drawn for {view}: a row is {bad}")
    by_column = kind != "cross" or side == "source"
    name, spread = grids[0].hidden_name, [float(grid.hidden[place]) for grid in grids] if by_row else []
    said = f"{name} mass of its row {min(spread):.2f} to {max(spread):.2f} · " if spread else ""
    meaning = "" if kind == "encoder" else f"{row.replace('-', ' ')} · "
    trust = f"{_trust(views, known or {})} · " if kind == "cross" else ""
    return Arcs(
        place,
        words,
        others,
        tuple(views),
        np.stack([grid.values[place] for grid in grids]) if by_row else None,
        np.nan_to_num(np.stack([grid.values[:, place] for grid in grids])) if by_column else None,
        np.array(spread) if by_row else None,
        kind,
        f"“{words[place]}” in: {trace.source if kind == 'encoder' or not by_row else trace.target}",
        f"{KINDS[kind]} · {meaning}{trust}{said}{trace.how}",
        name,
    )


def _trust(views: Sequence[View], known: Mapping[View, Trust]) -> str:
    measured = [f"{head_name(view)}: {known[view]}" for view in views if view in known]
    return ", ".join([*measured, "others not evaluated"]) if measured else NOT_EVALUATED


def find_word(words: Sequence[str], wanted: str) -> int:
    """
    >>> find_word(["The", "cat", "saw", "the", "dog"], "the:2"), find_word(["a", "b"], "2")
    (3, 1)
    """

    def places(name: str) -> list[int]:
        return [i for i, word in enumerate(words) if word.lower() == name.lower()]

    if wanted in words:
        return list(words).index(wanted)
    name, _, number = wanted.rpartition(":")
    if number.isdecimal() and name:
        found = places(name)
        if 1 <= int(number) <= len(found):
            return found[int(number) - 1]
        raise InputError(f'"{name}" stands {len(found)} times in the sentence, but number {number} is asked for')
    if places(wanted):
        return places(wanted)[0]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(words):
        return int(wanted) - 1
    raise InputError(f'there is no word "{wanted}"; the words are: {" ".join(words)} (or a number, 1 to {len(words)})')
