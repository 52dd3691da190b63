"""What all pictures of models are made of: boxes with lines of text, arrows and frames, in one colour for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard.models.outline import Block, BlockKind
from regard.report.colour import INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Item, Label, Line, Point
from regard.report.palette import PALETTE
from regard.report.text import LINE, cut, printable, width

FILLS: dict[BlockKind, str] = {
    "embedding": "bad-soft", "recurrent": "good-soft", "attention": "warm-soft", "feed_forward": "accent-soft",
    "mixture": "accent-soft", "convolution": "accent-soft", "linear": "sunken", "norm": "surface", "add": "surface",
    "softmax": "good-soft",
}  # fmt: skip
BOLD = 1.12  # width of bold letters relative to regular ones
PAD = 8.0  # between the edge of a box and its text
ROW = 15.0  # from one line of a box to the next
THIN = 22.0  # height of a box of one line
HEAD = 4.5  # half the width of the head of an arrow
WORD = 7.0  # maximum em of a word in a column


class BoxLine(NamedTuple):
    text: str
    bold: bool = False
    fill: str = QUIET

    @property
    def size(self) -> float:
        return SIZE if self.bold else SMALL

    @property
    def width(self) -> float:
        return width(self.text) * self.size * (BOLD if self.bold else 1.0)


def fill_of(kind: BlockKind) -> str:
    return PALETTE[FILLS[kind]][0]


def number(value: float, unit: str) -> str:
    """
    >>> number(1_850_000, "FLOP"), number(96, "FLOP")
    ('1.85 MFLOP', '96 FLOP')
    """
    for name, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {name}{unit}"
    return f"{value:.3g} {unit}"


def sizes(shape: Sequence[int]) -> str:
    """
    >>> sizes((7, 128))
    '7 × 128'
    """
    return " × ".join(f"{size:,}" for size in shape)


def lines_of(block: Block) -> list[BoxLine]:
    """The name of a block, the shape of what leaves it, its parameters and its operations."""
    if block.kind in ("norm", "add", "softmax"):  # one line: they have few parameters or none
        more = f" · {block.parameters:,}" if block.parameters else ""
        return [BoxLine(block.name + more, False, INK)]
    found = [BoxLine(block.name, True, INK)]
    inputs = "; ".join(block.inputs)
    reads = [f"reads [{inputs}]" if len(block.inputs) > 1 else f"reads {inputs}"] if inputs else []
    found += [BoxLine(line, False, INK) for line in (*block.detail.splitlines(), *reads)]
    if block.shape:
        found.append(BoxLine(sizes(block.shape)))
    if block.parameters:
        found.append(BoxLine(f"{block.parameters:,} {'+ shared' if block.shared else 'parameters'}"))
    elif block.tensors and block.shared:
        found.append(BoxLine("parameters shared"))
    if block.flops:
        found.append(BoxLine(number(block.flops, "FLOPs")))
    return found


def note_of(block: Block) -> str:
    """What a viewer shows on hovering over a block."""
    return " · ".join(part for part in (block.name, block.what, sizes(block.shape)) if part)


def height_of(lines: Sequence[BoxLine]) -> float:
    return THIN if len(lines) == 1 else ROW * len(lines) + 8.0


def width_of(lines: Sequence[BoxLine]) -> float:
    return max((line.width for line in lines), default=0.0) + 2 * PAD


def box(
    x: float, y: float, wide: float, high: float, fill: str, lines: Sequence[BoxLine] = (), note: str = ""
) -> list[Item]:
    """A box with a border, its lines centred in it; x is its middle and y its upper edge."""
    left, top = x - wide / 2, y + (high - ROW * len(lines)) / 2
    return [
        Box(left, y, wide, high, LINE_STRONG, round=5.0),
        Box(left + 1, y + 1, wide - 2, high - 2, fill, note=note, round=4.0),
        *(
            Label(x, top + ROW * (n + 0.5), printable(line.text), "middle", line.size, line.fill, line.bold)
            for n, line in enumerate(lines)
        ),
    ]


def block_height(block: Block) -> float:
    return height_of(lines_of(block))


def block_width(block: Block) -> float:
    return width_of(lines_of(block))


def block_box(block: Block, x: float, foot: float, wide: float) -> list[Item]:
    """The box of a block that stands on the height `foot`."""
    lines = lines_of(block)
    high = height_of(lines)
    return box(x, foot - high, wide, high, fill_of(block.kind), lines, note_of(block))


def short(word: str) -> str:
    """A word of a sentence, cut to the width of a column."""
    return cut(printable(word), WORD)


def arrow(*points: Point, stroke: str = LINE_STRONG, thick: float = 1.2, dashed: bool = False) -> list[Item]:
    """A line from point to point with a head at its end; its last part runs along an axis or not."""
    (x0, y0), (x, y) = points[-2], points[-1]
    long = max(((x - x0) ** 2 + (y - y0) ** 2) ** 0.5, 1e-9)
    dx, dy = (x - x0) / long, (y - y0) / long
    left = (x - dx * HEAD * 1.5 - dy * HEAD, y - dy * HEAD * 1.5 + dx * HEAD)
    right = (x - dx * HEAD * 1.5 + dy * HEAD, y - dy * HEAD * 1.5 - dx * HEAD)
    return [Line(points, stroke, thick, dashed=dashed), Line((left, (x, y), right), stroke, thick)]


def text_lines(x: float, y: float, lines: Sequence[str]) -> list[Item]:
    """Centred lines, the first at height y."""
    return [Label(x, y + n * LINE * SMALL, line, "middle", SMALL, QUIET) for n, line in enumerate(lines)]
