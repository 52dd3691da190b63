"""A beam search as a drawing: steps from left to right, at each the continuations that were considered, best first.

    ┌──────┐      ┌──────┐      framed: kept, or in the n-best list      blue: the path to the best hypothesis
    │ ▁le  │──────│ ▁chat│      faint, without a frame: dropped; the reason is shown on hover
    │ −0.3 │      │ −0.5 │      the number is log P of the hypothesis so far
    └──────┘      └──────┘

Lines run only in the gaps between columns, and columns are as wide as their widest label, so nothing overlaps. A search
that is too large to draw is an error: JSON and DOT support any size.
"""

from __future__ import annotations

from regard.errors import InputError
from regard.explain.lattice import START, Lattice, Node
from regard.report.colour import ACCENT, ACCENT_SOFT, INK, LINE_STRONG, QUIET, SUNKEN
from regard.report.drawing import SIZE, SMALL, Box, Curve, Drawing, Item, Label, Point, framed
from regard.report.text import LINE, cut, printable, width

WIDEST_BEAM, MOST_NODES = 10, 900
HIGH, PITCH, GAP, PAD = 38.0, 46.0, 36.0, 7.0  # box height, row distance, column gap, label padding
HEADING, LEFT = 20.0, 24.0  # space above and left of the first box
LONGEST = 12.0  # maximum em of a label
OPEN_BOX = "␣"
BOLD = 1.1  # width of bold letters relative to regular ones
LOOKS = {  # frame, fill and text
    "best": (ACCENT, ACCENT_SOFT, ACCENT),
    "kept": (LINE_STRONG, SUNKEN, INK),
    "gone": ("", SUNKEN, QUIET),
}
LEGEND = "blue: the best translation · framed: kept, or in the n-best list · faint: dropped (hover for why)"


def lattice_drawing(lattice: Lattice) -> Drawing:
    check_size(lattice)
    corners, columns, total = placed(lattice)
    items: list[Item] = []
    for step, (x, wide) in enumerate(columns, start=1):
        items.append(Label(x + wide / 2, 8, str(step), "middle", SMALL, QUIET))
    order = sorted(range(len(lattice.nodes)), key=lambda n: ("gone", "kept", "best").index(lattice.nodes[n].style))
    wide_of = {step: wide for step, (_, wide) in enumerate(columns, start=1)}
    for number in order:
        items.append(_line(lattice, corners, wide_of, number))
    for node, (x, y) in zip(lattice.nodes, corners, strict=True):
        items += _box(node, x, y, wide_of[node.step])
    tallest = max(len(lattice.at(step)) for step in range(1, lattice.steps + 1))
    title = f"Beam {lattice.beam}: {printable(lattice.source)}"
    penalty = f"score: log P / ((5 + length) / 6)^{lattice.length_penalty:g}"
    note = f"{lattice.note} · " if lattice.note else ""
    caption = f"{LEGEND} · numbers: log P so far · {penalty} · {note}stopped because {lattice.ending}"
    legend, size = _nbest(lattice)
    return framed(Drawing(total, HEADING + tallest * PITCH, tuple(items), title, caption), legend, size)


def check_size(lattice: Lattice) -> None:
    if lattice.beam > WIDEST_BEAM or len(lattice.nodes) > MOST_NODES:
        raise InputError(
            f"a search with beam {lattice.beam} over {lattice.steps} steps weighed {len(lattice.nodes)} continuations, "
            f"too many to draw (beam {WIDEST_BEAM} and {MOST_NODES} at most); use a smaller --beam or a shorter "
            "sentence, or write it as .json or .dot"
        )


def placed(lattice: Lattice) -> tuple[list[Point], list[tuple[float, float]], float]:
    """The upper left corner of each node's box; the left edge and width of each column; the total width."""
    corners: list[Point] = []
    columns = []
    x = LEFT
    for step in range(1, lattice.steps + 1):
        nodes = [lattice.nodes[number] for number in lattice.at(step)]
        texts = [(label(n), SIZE * BOLD) for n in nodes] + [(so_far(n), SMALL * BOLD) for n in nodes]
        wide = max(width(text) * size for text, size in texts) + 2 * PAD
        corners += [(x, HEADING + row * PITCH) for row in range(len(nodes))]
        columns.append((x, wide))
        x += wide + GAP
    return corners, columns, x - GAP


def label(node: Node) -> str:
    """
    A piece of spaces alone, such as the thin one before a French question mark, would look like an empty box.
    """
    return cut(printable(node.piece), LONGEST) if node.piece.strip() else OPEN_BOX * len(node.piece)


def so_far(node: Node) -> str:
    return _signed(node.total, 2)


def _signed(number: float, decimals: int) -> str:
    return f"{number:.{decimals}f}".replace("-", "−")


def _line(lattice: Lattice, corners: list[Point], wide: dict[int, float], number: int) -> Curve:
    node, (right, y) = lattice.nodes[number], corners[number]
    if node.parent == START:
        start = (0.0, HEADING + HIGH / 2)
    else:
        x, above = corners[node.parent]
        start = (x + wide[node.step - 1], above + HIGH / 2)
    end, middle = (right, y + HIGH / 2), (start[0] + right) / 2
    stroke, thick, opacity = {
        "best": (ACCENT, 2.6, 1.0),
        "kept": (LINE_STRONG, 1.0, 1.0),
        "gone": (LINE_STRONG, 0.8, 0.4),
    }[node.style]
    return Curve((start, (middle, start[1]), (middle, end[1]), end), stroke, thick, opacity)


def _box(node: Node, x: float, y: float, wide: float) -> list[Item]:
    kind = node.style
    frame, filling, letters = LOOKS[kind]
    note = (
        f"{node.piece} · log P {node.log_prob:.3f} · so far {node.total:.3f} · score if complete {node.score:.3f} · "
        f"{node.fate}: {node.reason}"
    )
    thick = 2.0 if kind == "best" else 1.0
    border = [Box(x, y, wide, HIGH, frame)] if frame else []
    return [
        *border,
        Box(x + thick, y + thick, wide - 2 * thick, HIGH - 2 * thick, filling, note=note),
        Label(x + wide / 2, y + 11.5, label(node), "middle", SIZE, letters, kind == "best"),
        Label(x + wide / 2, y + 28, so_far(node), "middle", SMALL, letters),
    ]


def _nbest(lattice: Lattice) -> tuple[list[Item], Point]:
    """The n-best list under the drawing."""
    pitch = LINE * SIZE + 2
    lines = [
        f"{rank}. {printable(entry.text)} · score {_signed(entry.score, 3)} · log P {_signed(entry.log_prob, 3)}"
        for rank, entry in enumerate(lattice.nbest, start=1)
    ]
    items: list[Item] = [
        Label(0, (i + 0.5) * pitch, line, size=SIZE, fill=INK, bold=i == 0) for i, line in enumerate(lines)
    ]
    widest = max((width(line) * SIZE * BOLD for line in lines), default=0.0)
    return items, (widest, pitch * len(lines))
