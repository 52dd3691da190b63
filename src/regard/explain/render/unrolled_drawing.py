"""A recurrent model unrolled over a sentence, as in Sutskever et al. 2014 and Bahdanau et al. 2015.

       Le     chat    est           predicted words; each is read at the next step (dashed)
      [s1]─▶[s2]─▶[s3]              the decoder's rows, from below to above
        ▲    (c)                    without attention the encoder's last state enters here; with it c, a mean of all h
      [h1]─▶[h2]─▶[h3]              the encoder's rows
      The    cat    is

The rows are the recurrent blocks of the outline, and the mixtures and matrices between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from regard.explain.diagram import ModelDiagram, of_kind
from regard.explain.render.diagram_parts import arrow, fill_of, short
from regard.models.outline import Block, Outline
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Dot, Drawing, Item, Label, Line
from regard.report.palette import PALETTE
from regard.report.text import printable, width

WIDE, HIGH, ROW = 38.0, 24.0, 44.0  # a cell, and from row to row
LANE = 6.0  # from one line to the next
ASIDE = 4.0  # a line that goes past cells, from them
PITCH = 54.0  # from word to word, at least
MOST_ROWS = 4  # rows of a side that are drawn
MIDDLE, BOTTLENECK = 92.0, 100.0  # between encoder and decoder, with attention and without
WARM = PALETTE["warm"][0]

Row = Block | str  # a block, or what is written beside rows that are left out


def unrolled_drawing(diagram: ModelDiagram, outline: Outline) -> Drawing | None:
    """The cells of a model at every word of a sentence; None if it is not recurrent on both sides."""
    recurrent = all(of_kind(outline, side, "recurrent") for side in ("Encoder", "Decoder"))
    return _Unrolled(diagram, outline).drawing() if recurrent else None


def _rows(blocks: Sequence[Block]) -> list[Block]:
    """Those that are drawn: cells, mixtures and the matrices between them."""
    kinds = ("recurrent", "mixture", "linear")
    return [block for block in blocks if block.kind in kinds and block.name != "Output layer"]


def _shortened(rows: Sequence[Block], *keep: Block | None) -> list[Row]:
    """At most so many rows, or the first two, the last and those to keep, with gaps for the others."""
    count = len(rows)
    if count <= MOST_ROWS:
        return [*rows]
    shown = [n for n, row in enumerate(rows) if n in (0, 1, count - 1) or any(row is one for one in keep)]
    found: list[Row] = []
    for before, at in pairwise((-1, *shown)):
        found += [f"{at - before - 1} more"] * (at - before > 1) + [rows[at]]
    return found


class _Unrolled:
    """Coordinates of one picture; heights grow downward."""

    def __init__(self, diagram: ModelDiagram, outline: Outline) -> None:
        encoder, decoder = outline.sides
        self.columns = max(len(layer.columns) for layer in encoder.layers)  # side by side; the first is drawn
        lower = [b for layer in encoder.layers for sub in layer.columns[0] for b in sub.blocks]
        self.lower = _shortened(_rows(lower))
        blocks = [block for layer in decoder.layers for block in layer.blocks]
        attends = next((n for n, block in enumerate(blocks) if block.kind == "attention" and block.reads), None)
        asked_by = [sub.blocks[-1] for layer in decoder.layers for sub in layer.sublayers if sub.asked_by_last]
        self.attention, self.before = attends is not None, bool(asked_by)
        cells = of_kind(outline, "Decoder", "recurrent") if attends is None else _rows(blocks[:attends])
        asker = (asked_by or [cell for cell in cells if cell.kind == "recurrent"])[-1]  # its states are s(t)
        rows = _rows(blocks)
        self.upper = _shortened(rows, asker, next((row for row in rows if "c" in row.inputs), None))
        self.asker = next(n for n, row in enumerate(self.upper) if row is asker)
        self.readers = [n for n, row in enumerate(self.upper) if isinstance(row, Block) and "c" in row.inputs]
        self.cells = of_kind(outline, "Encoder", "recurrent")
        self.letter = outline.memory[0] if outline.memory[1:2] == "(" else "h"  # of the encoder's states: m(1) … m(S)
        first = of_kind(outline, "Decoder", "recurrent")[0]
        self.start = outline.bridge.what if outline.bridge else first.reads or "s(0) is zero"
        self.every = "h(S)" in first.inputs
        self.backwards = encoder.backwards
        self.source = list(map(short, encoder.in_order(diagram.source)))
        self.predicted = list(map(short, diagram.predicted))
        self.begin = diagram.read[0]
        step = diagram.step
        self.at = step.query.position if step else min(1, len(self.predicted) - 1)
        self.weights = step.numbers.term("α") if step else None
        self.asks = printable(diagram.predicted[self.at])
        self.pitch = max(PITCH, max(map(width, (*self.source, *self.predicted))) * SMALL + 10)
        self.lanes = 0 if self.attention else sum(isinstance(row, Block) for row in self.lower)
        # room left of the first cell: for the first word that is read, and the lines of the first states
        self.beside = max(width(word) * SMALL for word in (self.begin, "s(0)")) + 14 + LANE * self.lanes
        names = [row if isinstance(row, str) else row.name for row in (*self.lower, *self.upper)]
        self.left = max(map(width, names)) * SMALL + self.beside
        self.items: list[Item] = []

    def x(self, n: int) -> float:
        return self.left + self.pitch * (n + 0.5)

    def drawing(self) -> Drawing:
        above = 26.0
        middle = MIDDLE if self.attention else BOTTLENECK + LANE * self.lanes
        self.tops = {"upper": above + HIGH / 2 + ROW * (len(self.upper) - 1)}
        self.tops["lower"] = self.tops["upper"] + middle + ROW * (len(self.lower) - 1)
        for where, rows, count in (("lower", self.lower, len(self.source)), ("upper", self.upper, len(self.predicted))):
            for level, row in enumerate(rows):
                self._row(where, level, row, count)
        self._words()
        if self.attention:
            self._attend()
        else:
            self._bottleneck()
        high = self.y("lower", 0) + HIGH / 2 + 34
        total = self.left + self.pitch * max(len(self.source), len(self.predicted)) + 6 + LANE * self.lanes
        return Drawing(total, high, tuple(self.items), "Unrolled over the sentence", self._caption())

    def y(self, where: str, level: int) -> float:
        """The middle of a row; level 0 is the lowest."""
        return self.tops[where] - ROW * level

    def _row(self, where: str, level: int, row: Row, count: int) -> None:
        y = self.y(where, level)
        name = row if isinstance(row, str) else row.name
        self.items.append(Label(self.left - self.beside, y, name, "right", SMALL, QUIET))
        lower = where == "lower"
        letter, named = (self.letter, level == len(self.lower) - 1) if lower else ("s", level == self.asker)
        if not lower and self.attention and not isinstance(row, str) and row.kind == "recurrent":
            edge = self.x(0) - WIDE / 2
            self.items.append(Label(edge - 13, y, "s(0)", "right", SMALL, INK))
            self.items += arrow((edge - 12, y), (edge, y))
        for n in range(count):
            x = self.x(n)
            if level:
                self.items += arrow((x, y + ROW - HIGH / 2), (x, y + HIGH / 2))
            if isinstance(row, str):
                self.items.append(Label(x, y, "⋮", "middle", SIZE, QUIET))
                continue
            left, upper = x - WIDE / 2, y - HIGH / 2
            self.items.append(Box(left, upper, WIDE, HIGH, LINE_STRONG, round=4.0))
            self.items.append(Box(left + 1, upper + 1, WIDE - 2, HIGH - 2, fill_of(row.kind), round=3.0))
            if named:
                self.items.append(Label(x, y, f"{letter}({n + 1})", "middle", SMALL, INK))
            if row.kind == "recurrent" and n + 1 < count:
                self._next(row, x, y)

    def _next(self, block: Block, x: float, y: float) -> None:
        """Between the states of two words, in the direction in which a layer reads."""
        start, end = x + WIDE / 2, x + self.pitch - WIDE / 2
        apart = 6 if block.way == "⇄" else 0
        if block.way != "←":
            self.items += arrow((start, y - apart), (end, y - apart))
        if block.way != "→":
            self.items += arrow((end, y + apart), (start, y + apart))

    def _words(self) -> None:
        foot = self.y("lower", 0) + HIGH / 2
        for n, word in enumerate(self.source):
            self.items += arrow((self.x(n), foot + 16), (self.x(n), foot))
            self.items.append(Label(self.x(n), foot + 25, word, "middle", SMALL, INK))
        head = self.y("upper", len(self.upper) - 1) - HIGH / 2
        low = self.y("upper", 0) + HIGH / 2
        for n, word in enumerate(self.predicted):
            self.items += arrow((self.x(n), head), (self.x(n), head - 10))
            chosen = self.attention and n == self.at
            self.items.append(Label(self.x(n), head - 19, word, "middle", SMALL, INK, chosen))
            if n + 1 < len(self.predicted):  # what is predicted is read at the next step
                between, end = self.x(n) + self.pitch / 2, self.x(n + 1) - WIDE / 4
                path = ((self.x(n) + 4, head - 8), (between, head - 8), (between, low + 8), (end, low + 8), (end, low))
                self.items += arrow(*path, thick=0.8, dashed=True)
        self.items.append(Label(self.x(0) - WIDE / 2 - 6, low + 12, self.begin, "right", SMALL, INK))
        start = self.x(0) - WIDE / 4
        self.items += arrow((self.x(0) - WIDE / 2 - 3, low + 12), (start, low + 12), (start, low))

    def _attend(self) -> None:
        """One step: lines from every h to the mean c, as wide as the weights, and c into the rows that read it."""
        head = self.y("lower", len(self.lower) - 1) - HIGH / 2
        x, y = self.x(self.at), head - 44
        for n in range(len(self.source)):
            path = ((self.x(n), head if self.weights is None else head - 14), (x, y + 8))
            if self.weights is None:
                self.items.append(Line(path, ACCENT, 1.2, 0.75))
                continue
            weight = float(self.weights[n])
            self.items.append(Line(path, ACCENT, 0.6 + 5.0 * weight, 0.35 + 0.6 * weight))
            note = f"α = {weight:.4f}"
            self.items.append(Label(self.x(n), head - 7, f"{weight:.2f}", "middle", SMALL, INK, note=note))
        self.items.append(Dot(x, y, 11, ACCENT))
        self.items.append(Label(x, y, "c", "middle", SMALL, PALETTE["on-accent"][0], True))
        right = x + WIDE / 2
        for reader in self.readers:
            level = self.y("upper", reader)
            if reader == 0:
                self.items += arrow((x, y - 11), (x, level + HIGH / 2), stroke=ACCENT, thick=2.0)
            else:  # past the rows below
                lane = right + ASIDE
                way = (x + 8, y - 8), (lane, y - 14), (lane, level - 6), (right, level - 6)
                self.items += arrow(*way, stroke=ACCENT, thick=2.0)
        if self.at or not self.before:  # the state that asks, past the rows below
            side = 1 if self.before else -1  # of the cell that the line leaves
            edge, level = self.x(self.at - self.before) + side * WIDE / 2, self.y("upper", self.asker) + 6
            lane = edge + side * ASIDE
            self.items += arrow((edge, level), (lane, level), (lane, y), (x - 11, y), stroke=WARM, dashed=True)

    def _bottleneck(self) -> None:
        """The last state of each layer of the encoder is the first of the same layer of the decoder."""
        right, left = self.x(len(self.source) - 1) + WIDE / 2, self.x(0) - WIDE / 2
        far, near = self.left - self.beside + 7, self.y("lower", len(self.lower) - 1) - HIGH / 2 - 26
        levels = [level for level, row in enumerate(self.lower) if isinstance(row, Block)]
        for n, level in enumerate(reversed(levels)):  # the lines of lower layers go around those of higher ones
            below, above = self.y("lower", level), self.y("upper", level)
            out, turn, lane = right + LANE * (n + 1), near - LANE * n, far + LANE * n
            path = ((right, below), (out, below), (out, turn), (lane, turn), (lane, above), (left, above))
            self.items += arrow(*path, stroke=WARM, thick=2.0)
        numbers = sum(block.shape[-1] * (2 if block.name.startswith("LSTM") else 1) for block in self.cells)
        said = f"the last state: {numbers:,} numbers for the whole sentence"
        self.items.append(Label((far + right) / 2, near + 10, said, "middle", SMALL, WARM, True))

    def _caption(self) -> str:
        if not self.attention:
            lstm = ", h and the cell of each layer" if self.cells[0].name.startswith("LSTM") else ", h of each layer"
            parts = [
                f"orange: all that the decoder receives of the source{lstm}",
                "the decoder's first layer reads h(S) of the top layer at every step, too" * self.every,
                "the encoder reads from the last word to the first" * self.backwards,
                "dashed: a predicted word is read at the next step",
            ]
            return " · ".join(filter(None, parts))
        real = "the weights of this model" if self.weights is not None else "each of the source's states has a weight"
        query = "the state of the step before" if self.before else "the state after reading"
        parts = [
            f"blue: the context c of the step that predicts “{self.asks}”; every step has its own",
            f"c: the mean of all {self.letter}(n) by weight ({real})",
            f"orange: the query, {query}",
            self.start,
            f"drawn: the first of the encoder's {self.columns} columns; {self.letter}(n) reads all"
            * (self.columns > 1),
            "thin dashes: a predicted word is read at the next step",
        ]
        return " · ".join(filter(None, parts))
