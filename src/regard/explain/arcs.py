"""One word and the others, head by head: which words it attends to, and which attend to it.

    H heads   R queries (down a map)   C keys (across)

In self-attention both sides are the same sentence, so a word has a row (what it attends to) and a column (what attends
to it). In cross-attention a target word has a row and a source word has a column.
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
from regard.explain.grid import KINDS, trace_grid
from regard.explain.trace import Kind, Trace

Side = Literal["source", "target"]


@dataclass(frozen=True)
class Arcs:
    """The weights between one word and all words of a sentence, for some heads."""

    word: int  # its place among `words`
    words: tuple[str, ...]  # of the side the chosen word is on
    others: tuple[str, ...]  # what it is joined to: of self-attention the same words
    heads: tuple[View, ...]
    looks_at: NDArray[np.float64] | None  # (H, others): its row in each head; None for a source word
    looked_at_by: NDArray[np.float64] | None  # (H, others): its column; None for a target word
    hidden: NDArray[np.float64] | None  # (H,) of its row: the weight of what is not a word
    kind: Kind
    title: str
    caption: str
    hidden_name: str = "EOS"  # what `hidden` went to


def arcs_of(
    trace: Trace,
    word: str,
    heads: Sequence[View],
    kind: Kind = "encoder",
    side: Side = "target",
    row: RowMeaning = "predicting",
    known: Mapping[View, Trust] | None = None,
) -> Arcs:
    """`word` is the word itself ("it", or "it:2" for the second of them) or its number from 1. What is `known` was
    measured elsewhere, of cross-attention alone."""
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
    said = [f"{str(view).rsplit(' · ', 1)[0].replace(' · ', ' ')}: {known[view]}" for view in views if view in known]
    return ", ".join([*said, "others not evaluated"]) if said else NOT_EVALUATED


def find_word(words: Sequence[str], wanted: str) -> int:
    """
    >>> find_word(["The", "cat", "saw", "the", "dog"], "the:2"), find_word(["a", "b"], "2")
    (3, 1)
    """
    if wanted in words:
        return list(words).index(wanted)
    name, _, number = wanted.rpartition(":")
    if number.isdecimal() and name:
        places = [i for i, word in enumerate(words) if word.lower() == name.lower()]
        if 1 <= int(number) <= len(places):
            return places[int(number) - 1]
        raise InputError(f'"{name}" stands {len(places)} times in the sentence, but number {number} is asked for')
    places = [i for i, word in enumerate(words) if word.lower() == wanted.lower()]
    if places:
        return places[0]
    if wanted.isdecimal() and 1 <= int(wanted) <= len(words):
        return int(wanted) - 1
    raise InputError(f'there is no word "{wanted}"; the words are: {" ".join(words)} (or a number, 1 to {len(words)})')
