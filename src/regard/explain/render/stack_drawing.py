"""The blocks of a model from below to above: encoder at the left, decoder at the right, as in Vaswani et al. 2017.

┌─────────┐   ┌─────────┐      a box: its name, the shape of what leaves it, parameters, operations
│         │──▶│         │      a frame with × N: N equal layers
└────▲────┘   └────▲────┘      a line past a box to a sum: a residual connection
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from regard.explain.render.diagram_parts import BOLD, ROW, arrow, block_box, block_height, block_width, text_lines
from regard.models.outline import Block, Outline, OutlineLayer, OutlineSide, OutlineSublayer
from regard.report.colour import INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Drawing, Item, Label, Line, Point, moved
from regard.report.palette import PALETTE
from regard.report.text import LINE, printable, width, wrap

STEP, BETWEEN = 14.0, 20.0  # between the blocks of a layer; between layers
INSIDE = 9.0  # between a frame and its boxes
PAST = 13.0  # how far the line of a residual connection runs beside its boxes
GUTTER = 34.0  # between the two sides
COUNT = 26.0  # room beside a frame for × N
LEAST = 128.0  # width of a box
BESIDE = 8.0  # between columns


@dataclass
class _Pile:
    """Boxes from below to above: y counts upward and is negative."""

    wide: float  # of a box
    outer: int  # −1: residual lines at the left, 1: at the right
    y: float = 0.0
    columns: tuple[float, ...] = (0.0,)  # their middles, of the layer below
    items: list[Item] = field(default_factory=list)
    behind: list[Item] = field(default_factory=list)
    readers: list[float] = field(default_factory=list)  # height of each block that reads the encoder
    cell: float | None = None  # height of the first recurrent block
    leaves: float = 0.0  # height at which the output of the encoder leaves
    bridge: float | None = None  # height of the bridge
    left: float = 0.0
    right: float = 0.0

    def extend(self, *xs: float) -> None:
        self.left, self.right = min(self.left, *xs), max(self.right, *xs)

    def up(self, x: float, y: float) -> float:
        """An arrow from one block to the next, which stands on the height that is returned."""
        self.items += arrow((x, y), (x, y - STEP))
        return y - STEP

    def block(self, block: Block, x: float, y: float) -> float:
        """Puts a box on the height y, and returns its upper edge."""
        high = block_height(block)
        self.items += block_box(block, x, y, self.wide)
        if block.reads:
            self.readers.append(y - high / 2)
        if block.kind == "recurrent" and self.cell is None:
            self.cell = y - high / 4
        self.extend(x - self.wide / 2, x + self.wide / 2)
        return y - high

    def column(self, sublayers: Sequence[OutlineSublayer], x: float, y: float) -> float:
        for number, sub in enumerate(sublayers):
            y = self.sublayer(sub, x, self.up(x, y) if number else y)
        return y

    def sublayer(self, sub: OutlineSublayer, x: float, foot: float) -> float:
        y, middles = foot, list[float]()
        for number, block in enumerate(sub.blocks):
            y = self.block(block, x, self.up(x, y) if number else y)
            middles.append(y + block_height(block) / 2)
        edge = x + self.outer * self.wide / 2
        near, far = edge + self.outer * PAST, edge + self.outer * 2 * PAST
        attend, last = middles[0], middles[-1]
        if sub.asked_by_last:  # the input past the attention into the cell, and the last state to the attention
            below, cell = foot + BETWEEN / 2, middles[1] + 6
            self.items += arrow((x, below), (near, below), (near, cell), (edge, cell))
            self.items += arrow((edge, last - 8), (far, last - 8), (far, attend), (edge, attend), dashed=True)
            self.extend(far)
        if sub.residual:
            below = foot + STEP / 2
            self.items += arrow((x, below), (near, below), (near, last), (edge, last))
            self.extend(near)
        return y

    def line(self, long: float) -> None:
        """Lines without a head at the frame of a layer."""
        self.items += [Line(((x, self.y), (x, self.y - long)), LINE_STRONG, 1.2) for x in self.columns]

    def enter(self, columns: tuple[float, ...]) -> None:
        """Arrows to the columns of a layer: from each below to its own, from one to all, or from all to one."""
        pairs = {(x, x) for x in columns} if columns == self.columns else set[Point]()
        for start, end in sorted(pairs or {(a, b or a / 2) for a in self.columns for b in columns}):
            bend = () if start == end else ((start, self.y - BETWEEN / 2), (end, self.y - BETWEEN / 2))
            self.items += arrow((start, self.y), *bend, (end, self.y - BETWEEN))
        self.columns = columns

    def layer(self, layer: OutlineLayer) -> None:
        past_first = layer.sublayers[0].asked_by_last  # the arrow goes past the first block
        framed = layer.count > 1 or (len(layer.blocks) > 2 and not past_first)
        residual = any(sub.residual for sub in layer.sublayers)
        count, shift = len(layer.columns), self.wide + BESIDE
        middles = tuple((n - (count - 1) / 2) * shift for n in range(count))
        if past_first:
            self.line(BETWEEN / 2)
        else:
            self.enter(middles)
        self.y -= BETWEEN
        foot = self.y
        if framed:
            inner = INSIDE + (STEP / 2 if residual else 0)
            self.line(inner)
            self.y -= inner
        self.y = min(self.column(column, x, self.y) for column, x in zip(layer.columns, middles, strict=True))
        if framed:
            self.line(INSIDE)
            self.y -= INSIDE
            self._frame(layer.count, foot, residual, (count * shift - BESIDE) / 2)

    def _frame(self, count: int, foot: float, residual: bool, half: float) -> None:
        past = PAST if residual else 0.0
        left = -half - INSIDE - (past if self.outer < 0 else 0)
        right = half + INSIDE + (past if self.outer > 0 else 0)
        wide, high = right - left, foot - self.y
        self.behind.append(Box(left, self.y, wide, high, PALETTE["line"][0], round=9.0))
        self.behind.append(Box(left + 1.5, self.y + 1.5, wide - 3, high - 3, PALETTE["paper"][0], round=8.0))
        self.extend(left, right)
        if count > 1:
            times = f"× {count}"
            wide = width(times) * SIZE * BOLD
            at = left - 6 - wide if self.outer < 0 else right + 6
            self.items.append(Label(at, (foot + self.y) / 2, times, "left", SIZE, INK, True))
            self.extend(at, at + wide)


def stack_drawing(outline: Outline, source: Sequence[str], target: Sequence[str], title: str, caption: str) -> Drawing:
    """The whole model, layers that are equal once."""
    folded = outline.folded()
    piles = [
        _pile(one, words, -1 if n == 0 and len(folded.sides) > 1 else 1, folded.bridge if n == 0 else None)
        for n, (one, words) in enumerate(zip(folded.sides, (source, target), strict=False))
    ]
    above = max(-pile.y for pile in piles)
    below = max(item.y for pile in piles for item in pile.items if isinstance(item, Label)) + LINE * SMALL
    behind: list[Item] = []
    items: list[Item] = []
    x, centres = 0.0, list[float]()
    for pile in piles:
        centres.append(x - pile.left)
        behind += moved(pile.behind, x - pile.left, above)
        items += moved(pile.items, x - pile.left, above)
        x += pile.right - pile.left + GUTTER
    links = _links(piles, centres, above) if len(piles) == 2 else []
    items = [*behind, *links, *items]
    return Drawing(x - GUTTER, above + below, tuple(items), title, caption)


def _pile(found: OutlineSide, words: Sequence[str], outer: int, bridge: Block | None) -> _Pile:
    """One side with its words below and what leaves it above."""
    boxes = [block for layer in found.layers for block in layer.blocks] + ([] if bridge is None else [bridge])
    wide = max([LEAST, *map(block_width, boxes)])
    pile = _Pile(wide, outer, left=-wide / 2, right=wide / 2)
    room = (wide + 2 * INSIDE) / SMALL
    shown = wrap(printable(" ".join(found.in_order(words))), room, 3)
    pile.items += text_lines(0, ROW * 0.9, [found.input, *shown])
    for layer in found.layers:
        pile.layer(layer)
    pile.items += arrow((0, pile.y), (0, pile.y - BETWEEN))
    pile.leaves = pile.y - BETWEEN / 2
    pile.y -= BETWEEN
    leaving = wrap(found.output, room, 3)
    high = len(leaving) * LINE * SMALL
    pile.items += text_lines(0, pile.y - high + LINE * SMALL / 2, leaving)
    pile.y -= high + 8
    if bridge is not None:
        foot = pile.up(0, pile.y + 6)
        pile.bridge = foot - block_height(bridge) / 2
        pile.y = pile.block(bridge, 0, foot) - 8
    pile.items.append(Label(0, pile.y - ROW / 2, found.name, "middle", SIZE, INK, True))
    pile.y -= ROW + 2
    return pile


def _links(piles: Sequence[_Pile], centres: Sequence[float], above: float) -> list[Item]:
    """Lines from the top of the encoder to the blocks of the decoder that read it, and from the bridge."""
    encoder, decoder = piles
    gutter, ends = centres[0] + encoder.right + GUTTER / 2, centres[1] - decoder.wide / 2
    items: list[Item] = []
    leaves, aside = above + encoder.leaves, 0.0
    if encoder.bridge is not None:  # two lanes, in the order in which they cross least
        aside = GUTTER / 5 if min(decoder.readers) < encoder.leaves else -GUTTER / 5
    for y in decoder.readers:
        lane = gutter + aside
        items += arrow(
            (centres[0], leaves), (lane, leaves), (lane, above + y), (ends, above + y), stroke=QUIET, thick=1.6
        )
    if encoder.bridge is not None and decoder.cell is not None:
        lane, start, end = gutter - aside, above + encoder.bridge, above + decoder.cell
        edge = centres[0] + encoder.wide / 2
        items += arrow((edge, start), (lane, start), (lane, end), (ends, end), stroke=QUIET, thick=1.6)
    return items
