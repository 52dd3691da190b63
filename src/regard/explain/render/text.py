"""A beam search and an attention step as plain text, and a beam search as a DOT graph for Graphviz.

A search is listed step by step, its candidates best first, each with its fate. In an attention step, vectors are cut to
four numbers and their length, and scores are a table.
"""

from __future__ import annotations

from itertools import groupby

import numpy as np

from regard.explain.lattice import START, Lattice
from regard.explain.step import StepNumbers
from regard.explain.terms import Array, Term
from regard.report.cells import pad, shorten
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.text import printable

MARKS = {"kept": "│", "finished": "■", "cut off": "■"}  # all other fates are dropped
LABEL = 14  # width of a piece in cells


def lattice_text(lattice: Lattice) -> str:
    penalty = f"length penalty {lattice.length_penalty:g}"
    lines = [f"Beam {lattice.beam}, {penalty}: {printable(lattice.source)}"]
    lines += [lattice.note] if lattice.note else []
    lines.append("* on the path to the best   │ kept   ■ in the n-best list   × dropped")
    for step in range(1, lattice.steps + 1):
        heading = f"step {step}"
        lines += ["", f"{heading:<15}{'after':<{LABEL}}  {'log P':>8}  {'so far':>8}  {'score':>8}"]
        for number in lattice.at(step):
            node = lattice.nodes[number]
            mark = ("*" if node.leads_to == 1 else " ") + MARKS.get(node.fate, "×")
            after = "" if node.parent == START else lattice.nodes[node.parent].piece
            numbers = f"{node.log_prob:8.3f}  {node.total:8.3f}  {node.score:8.3f}"
            why = "" if node.fate == "kept" else f"{node.fate}: {node.reason}"
            lines.append(f"{mark} {_label(node.piece, 12)}{_label(after, LABEL)}  {numbers}  {why}".rstrip())
    lines += ["", f"stopped because {lattice.ending}"]
    for rank, entry in enumerate(lattice.nbest, start=1):
        lines.append(f"{rank}. score {entry.score:.4f}  log P {entry.log_prob:.4f}  {printable(entry.text)}")
    return "\n".join(lines) + "\n"


def _label(piece: str, cells: int) -> str:
    """
    >>> _label("▁chat", 8), _label("▁internationalisation", 8)
    ('▁chat   ', '▁inter… ')
    """
    return pad(shorten(piece, cells - 1), cells)


# ── lattice dot ───────────────────────────────────────────────────────────────────────────────────────────────────────


STYLES = {
    "best": f'color="{ACCENT}", penwidth=2.5',
    "kept": f'color="{INK}"',
    "gone": f'color="{LINE_STRONG}", fontcolor="{QUIET}", style=dashed',
}


def lattice_dot(lattice: Lattice) -> str:
    lines = [
        "digraph beam {",
        "  rankdir=LR;",
        f"  label={quoted(f'Beam {lattice.beam}: {lattice.source}')};",
        "  node [shape=box, fontsize=11];",
        '  start [shape=point, label=""];',
    ]
    for number, node in enumerate(lattice.nodes):
        style = STYLES[node.style]
        label = f"{node.piece}\n{node.total:.2f}"
        tip = f"score if complete {node.score:.3f} · {node.fate}: {node.reason}"
        lines.append(f"  n{number} [label={quoted(label)}, tooltip={quoted(tip)}, {style}];")
    for number, node in enumerate(lattice.nodes):
        parent = "start" if node.parent == START else f"n{node.parent}"
        label = quoted(f"{node.log_prob:.2f}")
        lines.append(f"  {parent} -> n{number} [label={label}, fontsize=9, {STYLES[node.style]}];")
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """
    >>> quoted('say "a\\\\b"')
    '"say \\\\"a\\\\\\\\b\\\\""'
    """
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'


# ── step text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


SHOWN = 4  # numbers shown of a vector
NAME, KEY = 9, 16  # width of a term's name and of a key in cells


def step_text(step: StepNumbers) -> str:
    lines = [
        f"{step.architecture} · {step.query}",
        f"{printable(step.source)} → {printable(step.target)}",
        f"asks: {printable(step.query_label)}",
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
    return [head, *(f"  {_label(key, KEY)} {shortened(row)}" for key, row in zip(keys, term.values, strict=True))]


def _table(terms: list[Term], keys: tuple[str, ...]) -> list[str]:
    """A table of the terms that have one number per key."""
    lines = [f"{'':<{KEY + 2}}" + "".join(f"{term.name:>10}" for term in terms)]
    for row, key in enumerate(keys):
        lines.append(f"  {_label(key, KEY)}" + "".join(f"{_number(float(term.values[row])):>10}" for term in terms))
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
