"""A beam search as a graph in DOT, for Graphviz (`dot -Tsvg lattice.dot`). Of any size, and byte-stable."""

from __future__ import annotations

from regard.explain.lattice import START, Lattice, Node
from regard.report.text import printable

STYLES = {
    "best": 'color="#0072b2", penwidth=2.5',
    "kept": 'color="#1b1b1b"',
    "gone": 'color="#bdbdbd", fontcolor="#6b6b6b", style=dashed',
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
        style = STYLES[_kind(node)]
        said = f"{node.piece}\n{node.total:.2f}"
        tip = f"score if complete {node.score:.3f} · {node.fate}: {node.reason}"
        lines.append(f"  n{number} [label={quoted(said)}, tooltip={quoted(tip)}, {style}];")
    for number, node in enumerate(lattice.nodes):
        parent = "start" if node.parent == START else f"n{node.parent}"
        said = quoted(f"{node.log_prob:.2f}")
        lines.append(f"  {parent} -> n{number} [label={said}, fontsize=9, {STYLES[_kind(node)]}];")
    return "\n".join([*lines, "}", ""])


def _kind(node: Node) -> str:
    if node.leads_to == 1:
        return "best"
    return "kept" if node.fate in ("kept", "finished", "cut off") else "gone"


def quoted(text: str) -> str:
    """
    >>> quoted('say "a\\\\b"')
    '"say \\\\"a\\\\\\\\b\\\\""'
    """
    lines = [printable(line).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n")]
    return '"' + "\\n".join(lines) + '"'
