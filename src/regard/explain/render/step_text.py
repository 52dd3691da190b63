"""The numbers of one head for one query as text: vectors cut to four numbers and their length, scores as a table."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from regard.explain.step import StepNumbers
from regard.explain.terms import Array, Term
from regard.report.cells import pad, shorten
from regard.report.text import printable

SHOWN = 4  # numbers of a vector
NAME, LABEL = 9, 16  # columns of a term's name and of a piece


def step_text(step: StepNumbers) -> str:
    lines = [
        f"{step.architecture} · {step.query}",
        f"{printable(step.source)} → {printable(step.target)}",
        f"asks: {printable(step.asks)}",
        step.numbers.equation,
    ]
    for kind, terms in groupby(step.numbers.terms, key=_shape):
        if kind == "scores":
            lines += ["", *_table(list(terms), step.keys)]
        else:
            for term in terms:
                lines += ["", *_rows(term, step.keys)] if kind == "rows" else ["", *_single(term)]
    near = ", ".join(f"{name} {value:.0e}" for name, value in step.numbers.differences.items())
    lines += ["", f"held against the model's own forward pass; largest differences: {near}"]
    return "\n".join(lines) + "\n"


def _shape(term: Term) -> str:
    if not term.of_keys:
        return "vector"
    return "scores" if term.values.ndim == 1 else "rows"


def _single(term: Term) -> list[str]:
    return [f"{term.name:<{NAME}} = {term.what}", f"{'':<{NAME}}   {shortened(term.values)}"]


def _rows(term: Term, keys: tuple[str, ...]) -> list[str]:
    head = f"{term.name:<{NAME}} = {term.what}, for each key"
    return [head, *(f"  {_label(key)} {shortened(row)}" for key, row in zip(keys, term.values, strict=True))]


def _table(terms: list[Term], keys: tuple[str, ...]) -> list[str]:
    """Numbers that each key has one of, side by side."""
    lines = [f"{'':<{LABEL + 2}}" + "".join(f"{term.name:>10}" for term in terms)]
    for row, key in enumerate(keys):
        lines.append(f"  {_label(key)}" + "".join(f"{_number(float(term.values[row])):>10}" for term in terms))
    return [*lines, *(f"  {term.name:<{NAME}} = {term.what}" for term in terms)]


def shortened(vector: Array) -> str:
    """
    >>> shortened(np.array([3.0, 4.0])), shortened(np.array([3.0, 0, 0, 0, -4.0]))
    ('[ 3.0000  4.0000]  length 5.0000', '[ 3.0000  0.0000  0.0000  0.0000 … 5 numbers]  length 5.0000')
    """
    first = " ".join(f"{x:7.4f}" for x in vector[:SHOWN] + 0.0)
    more = f" … {len(vector)} numbers" if len(vector) > SHOWN else ""
    return f"[{first}{more}]  length {np.linalg.norm(vector):.4f}".replace("-", "−")


def _number(value: float) -> str:
    return f"{value:.5f}".replace("-", "−") if np.isfinite(value) else "−∞"


def _label(piece: str) -> str:
    return pad(shorten(piece, LABEL - 1), LABEL)
