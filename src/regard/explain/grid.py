"""A labelled map for any renderer: rows, columns, and a caption that says how reliable it is.

    R rows (down)   C columns (across)   S source subwords, EOS last   T decoder positions, EOS last

Attention is given in words (`grid_of`) or in subwords, for any of a model's attentions (`trace_grid`). Weight that is
not shown (EOS, BOS, a tag) is stated as hidden mass: shown and hidden sum to 1, or the row has a problem and must not
be drawn.

This file draws nothing and measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import View, WordAttention, beyond_tag
from regard.errors import InputError
from regard.explain.alignment import NOT_EVALUATED, Trust

if TYPE_CHECKING:
    from regard.explain.trace import Kind, Trace

TOLERANCE = 1e-3  # how far from 1 a row may sum, for rounding
KINDS = {"encoder": "encoder self-attention", "decoder": "decoder self-attention", "cross": "cross-attention"}
BOS, EOS = "<bos>", "<eos>"


@dataclass(frozen=True)
class Grid:
    """A map with its labels. Rows without a problem contain only numbers in 0 … 1."""

    rows: tuple[str, ...]  # down
    columns: tuple[str, ...]  # across
    values: NDArray[np.float64]  # (R, C) in 0 … 1
    hidden: NDArray[np.float64]  # (R,) mass not shown (EOS, padding)
    title: str
    caption: str  # layer, head, row meaning, AER or "not evaluated", hidden mass
    problems: tuple[str | None, ...]  # per row: why it must not be drawn, or None
    hidden_name: str = "EOS"  # what the hidden mass is on; "" if nothing is hidden

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        if self.values.shape != shape or self.hidden.shape != shape[:1] or len(self.problems) != shape[0]:
            raise InputError(
                f"a map of {shape[0]} × {shape[1]} labels must have as many values, but has "
                f"{' × '.join(map(str, self.values.shape))}, {len(self.hidden)} hidden, {len(self.problems)} problems"
            )
        good = self.values[[problem is None for problem in self.problems]]
        if not ((good > -TOLERANCE) & (good < 1 + TOLERANCE)).all():  # NaN is neither
            raise InputError("a map is drawn from values in 0 … 1, but a row without a stated problem holds others")


def make_grid(
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
    hidden: NDArray[np.float64],
    title: str,
    caption: str,
    hidden_name: str = "EOS",
) -> Grid:
    """Makes a map of attention; rows that are not a distribution are marked as problems."""
    problems = tuple(row_problem(row, float(mass)) for row, mass in zip(values, hidden, strict=True))
    return Grid(tuple(rows), tuple(columns), values, hidden, title, caption, problems, hidden_name)


def row_problem(row: NDArray[np.float64], hidden: float = 0.0) -> str | None:
    """Why a row of attention must not be drawn, or None.

    >>> row_problem(np.array([0.5, 0.4]), 0.1), row_problem(np.array([0.5, 0.4]))
    (None, 'not drawn: sums to 0.900')
    """
    if not (np.isfinite(row).all() and np.isfinite(hidden)):
        return "not drawn: contains NaN or infinity"
    if row.size and row.min() < -TOLERANCE:
        return f"not drawn: a weight is {row.min():.3f}"
    total = float(row.sum() + hidden)
    return f"not drawn: sums to {total:.3f}" if abs(total - 1) > TOLERANCE else None


# ------------------------------------------------------------------------------------------------ from attention


def grid_of(attention: WordAttention, view: View, trust: Trust | None = None, title: str = "") -> Grid:
    """Makes a map of attention between words."""
    name = attention.hidden_name
    caption = _caption(view, "cross", trust, hidden_mass(attention.eos_mass, name))
    return make_grid(
        attention.target_words, attention.source_words, attention.weights, attention.eos_mass, title, caption, name
    )


def trace_grid(
    trace: Trace,
    view: View,
    kind: Kind = "cross",
    *,
    words: bool = True,
    specials: bool = False,
    trust: Trust | None = None,
    title: str = "",
) -> Grid:
    """Returns one of a trace's maps, in words or in subwords; `specials` also shows EOS, BOS and a tag as subwords.

    The columns of decoder self-attention are the tokens that were read, so BOS takes the place of EOS. Rows of the
    encoder are the words themselves, so they have no row meaning; only cross-attention has an alignment error rate.
    """
    name = trace.hidden_name(kind)
    if words:
        merged = trace.in_words(view, kind)
        rows, columns, values, hidden = merged.target_words, merged.source_words, merged.weights, merged.eos_mass
    else:
        rows, columns, values = in_pieces(trace, view, kind)
        hidden = np.zeros(len(rows))
        if not specials:
            if rows[-1] == EOS:
                rows, values = rows[:-1], values[:-1]
            if trace.tag and kind == "encoder":
                rows, values = rows[1:], values[1:]
            if trace.tag and kind != "decoder":
                columns, values = columns[1:], beyond_tag(values, trace.tag)
            columns, values, hidden = columns[:-1], values[:, :-1], values[:, -1]
    caption = _caption(view, kind, trust, hidden_mass(hidden, name)) + ("" if words else " · subwords")
    return make_grid(rows, columns, values, hidden, title, caption, name)


def in_pieces(
    trace: Trace, view: View, kind: Kind = "cross"
) -> tuple[tuple[str, ...], tuple[str, ...], NDArray[np.float64]]:
    """Row labels, column labels and the map in subwords; special tokens (EOS, BOS) come last, a tag first."""
    weights = trace.weights(view, kind)
    source, target = (*trace.source_pieces[:-1], EOS), (*trace.target_pieces[:-1], EOS)
    if kind == "encoder":
        return source, source, weights
    if kind == "decoder":  # column t is the token that position t has read: BOS, then the target
        weights = np.roll(weights, -1, axis=1)
    columns = (*target[:-1], BOS) if kind == "decoder" else source
    if view.row == "having-read":  # row t has read target t − 1; row 0 has read only BOS
        return target[:-1], columns, weights[1:]
    return target, columns, weights


def head_name(view: View) -> str:
    """The view without its row meaning: "layer 2 head 4"."""
    return str(view).rsplit(" · ", 1)[0].replace(" · ", " ")


def _caption(view: View, kind: Kind, trust: Trust | None, hidden: str) -> str:
    if kind == "cross":
        return f"{view} · {trust or NOT_EVALUATED} · {hidden}"
    what = str(view).rsplit(" · ", 1)[0] if kind == "encoder" else str(view)
    return f"{KINDS[kind]} · {what} · {hidden}"


def hidden_mass(masses: NDArray[np.float64], name: str) -> str:
    """The mean weight of the columns that a map does not show: "EOS mass 0.01"."""
    known = masses[np.isfinite(masses)]
    return f"{name} mass {known.mean():.2f}" if len(known) else f"{name} mass unknown"
