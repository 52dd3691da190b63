"""A beam search in lines: at each step its candidates, best first, and what the search did with each."""

from __future__ import annotations

from regard.explain.lattice import START, Lattice
from regard.report.cells import pad, shorten
from regard.report.text import printable

MARKS = {"kept": "│", "finished": "■", "cut off": "■"}  # all others are given up
LABEL = 14  # cells of a piece


def lattice_text(lattice: Lattice) -> str:
    penalty = f"length penalty {lattice.length_penalty:g}"
    lines = [f"Beam {lattice.beam}, {penalty}: {printable(lattice.source)}"]
    lines += [lattice.note] if lattice.note else []
    lines.append("* on the way to the best   │ went on   ■ in the n-best list   × given up")
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
