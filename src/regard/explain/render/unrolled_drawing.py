"""A recurrent model unrolled over a sentence, as in Sutskever et al. 2014 and Bahdanau et al. 2015.

       Le     chat    est           predicted words; each is read at the next step (dashed)
      [s1]─▶[s2]─▶[s3]              the decoder's rows, from below to above
        ▲    (c)                    without attention the encoder's last state enters here; with it c, a mean of all h
      [h1]─▶[h2]─▶[h3]              the encoder's rows
      The    cat    is

The rows are the recurrent blocks of the outline, and the blocks of the decoder between them and the output layer.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.diagram import ModelDiagram, of_kind
from regard.explain.render.diagram_parts import arrow, fill_of, short
from regard.models.outline import Block, Outline
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Dot, Drawing, Item, Label, Line
from regard.report.palette import PALETTE
from regard.report.text import printable, width

WIDE, HIGH, ROW = 38.0, 24.0, 44.0  # a cell, and from row to row
PITCH = 54.0  # from word to word, at least
MOST_ROWS = 4  # rows of a side that are drawn
MIDDLE, BOTTLENECK = 92.0, 100.0  # between encoder and decoder, with attention and without
WARM = PALETTE["warm"][0]

Row = Block | str  # a block, or what is written beside rows that are left out


def unrolled_drawing(diagram: ModelDiagram, outline: Outline) -> Drawing | None:
    """The cells of a model at every word of a sentence; None if it is not recurrent on both sides."""
    recurrent = all(of_kind(outline, side, "recurrent") for side in ("Encoder", "Decoder"))
    return _Unrolled(diagram, outline).drawing() if recurrent else None


def _decoder_rows(blocks: Sequence[Block]) -> tuple[list[Row], Block | None, int]:
    """The rows, the attention if there is one, and the index of the row that its context enters."""
    rows: list[Block] = []
    attention, reader = None, 0
    for block in blocks:
        if block.kind == "attention" and block.reads:
            attention, reader = block, len(rows)
        elif block.kind in ("recurrent", "mixture") or (block.kind == "linear" and block.name != "Output layer"):
            rows.append(block)
    if attention is None:
        return _shortened(rows), None, 0
    kept = _shortened(rows, reader)
    entered = rows[min(reader, len(rows) - 1)]
    return kept, attention, next(n for n, row in enumerate(kept) if row is entered)


def _shortened(rows: Sequence[Block], keep: int = 0) -> list[Row]:
    """At most so many rows, with a gap for the others; the row `keep` stays."""
    if len(rows) <= MOST_ROWS:
        return [*rows]
    first = rows[: max(2, keep + 1)]
    left_out = len(rows) - len(first) - 1
    return [*first, *([f"{left_out} more"] if left_out > 0 else []), rows[-1]]


class _Unrolled:
    """Coordinates of one picture; heights grow downward."""

    def __init__(self, diagram: ModelDiagram, outline: Outline) -> None:
        encoder, decoder = outline.sides
        columns = [layer.columns[0] for layer in encoder.layers]  # of those side by side the first
        lower = [block for column in columns for sub in column for block in sub.blocks if block.kind == "recurrent"]
        self.lower = _shortened(lower)
        self.upper, self.attention, self.reader = _decoder_rows([b for layer in decoder.layers for b in layer.blocks])
        self.cells = of_kind(outline, "Encoder", "recurrent")
        self.source, self.predicted = list(map(short, diagram.source)), list(map(short, diagram.predicted))
        self.begin = diagram.read[0]
        step = diagram.step
        self.at = step.query.position if step else min(1, len(self.predicted) - 1)
        self.weights = step.numbers.term("α") if step else None
        self.asks = printable(diagram.predicted[self.at])
        self.pitch = max(PITCH, max(map(width, (*self.source, *self.predicted))) * SMALL + 10)
        self.beside = width(self.begin) * SMALL + 14  # room for the first word that is read, left of the first cell
        names = [row if isinstance(row, str) else row.name for row in (*self.lower, *self.upper)]
        self.left = max(map(width, names)) * SMALL + self.beside
        self.items: list[Item] = []

    def x(self, n: int) -> float:
        return self.left + self.pitch * (n + 0.5)

    def drawing(self) -> Drawing:
        above = 26.0
        middle = MIDDLE if self.attention else BOTTLENECK
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
        total = self.left + self.pitch * max(len(self.source), len(self.predicted)) + 6
        return Drawing(total, high, tuple(self.items), "Unrolled over the sentence", self._caption())

    def y(self, where: str, level: int) -> float:
        """The middle of a row; level 0 is the lowest."""
        return self.tops[where] - ROW * level

    def _row(self, where: str, level: int, row: Row, count: int) -> None:
        y = self.y(where, level)
        name = row if isinstance(row, str) else row.name
        self.items.append(Label(self.left - self.beside, y, name, "right", SMALL, QUIET))
        letter, top = ("h", level == len(self.lower) - 1) if where == "lower" else ("s", level == 0)
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
            if row.kind == "recurrent" and top:
                self.items.append(Label(x, y, f"{letter}({n + 1})", "middle", SMALL, INK))
            if row.kind == "recurrent" and n + 1 < count:
                self._next(row, x, y)

    def _next(self, block: Block, x: float, y: float) -> None:
        """From a state to that of the next word, and back where a layer reads both ways."""
        start, end = x + WIDE / 2, x + self.pitch - WIDE / 2
        if block.both_ways:
            self.items += arrow((start, y - 6), (end, y - 6))
            self.items += arrow((end, y + 6), (start, y + 6))
        else:
            self.items += arrow((start, y), (end, y))

    def _words(self) -> None:
        foot = self.y("lower", 0) + HIGH / 2
        for n, word in enumerate(self.source):
            self.items += arrow((self.x(n), foot + 16), (self.x(n), foot))
            self.items.append(Label(self.x(n), foot + 25, word, "middle", SMALL, INK))
        head = self.y("upper", len(self.upper) - 1) - HIGH / 2
        low = self.y("upper", 0) + HIGH / 2
        for n, word in enumerate(self.predicted):
            self.items += arrow((self.x(n), head), (self.x(n), head - 10))
            chosen = self.attention is not None and n == self.at
            self.items.append(Label(self.x(n), head - 19, word, "middle", SMALL, INK, chosen))
            if n + 1 < len(self.predicted):  # what is predicted is read at the next step
                between, end = self.x(n) + self.pitch / 2, self.x(n + 1) - WIDE / 4
                path = ((self.x(n) + 4, head - 8), (between, head - 8), (between, low + 8), (end, low + 8), (end, low))
                self.items.append(Line(path, QUIET, 0.8, 0.55, dashed=True))
        self.items.append(Label(self.x(0) - WIDE / 2 - 6, low + 12, self.begin, "right", SMALL, INK))
        start = self.x(0) - WIDE / 4
        self.items += arrow((self.x(0) - WIDE / 2 - 3, low + 12), (start, low + 12), (start, low))

    def _attend(self) -> None:
        """One step: lines from every h to the mean c, as wide as the weights, and c into the row that reads it."""
        head = self.y("lower", len(self.lower) - 1) - HIGH / 2
        x, y = self.x(self.at), head - 44
        for n in range(len(self.source)):
            path = ((self.x(n), head), (x, y + 8))
            if self.weights is None:
                self.items.append(Line(path, ACCENT, 1.2, 0.75))
                continue
            weight = float(self.weights[n])
            self.items.append(Line(path, ACCENT, 0.6 + 5.0 * weight, 0.35 + 0.6 * weight))
            note = f"α = {weight:.4f}"
            self.items.append(Label(self.x(n) + 3, head - 7, f"{weight:.2f}", "left", SMALL, INK, note=note))
        self.items.append(Dot(x, y, 11, ACCENT))
        self.items.append(Label(x, y, "c", "middle", SMALL, PALETTE["on-accent"][0], True))
        level = self.y("upper", self.reader)
        if self.reader:  # past the rows below
            lane = x + WIDE / 2 + 5
            way = (x + 8, y - 8), (lane, y - 14), (lane, level), (x + WIDE / 2, level)
            self.items += arrow(*way, stroke=ACCENT, thick=2.0)
            asks = self.y("upper", self.reader - 1) + HIGH / 2
            self.items += arrow((x - 6, asks), (x - 6, y - 10), stroke=WARM, dashed=True)
        else:
            self.items += arrow((x, y - 11), (x, level + HIGH / 2), stroke=ACCENT, thick=2.0)
            if self.at:
                before, start = self.x(self.at - 1), level + HIGH / 2
                self.items += arrow((before, start), (before, y), (x - 11, y), stroke=WARM, dashed=True)

    def _bottleneck(self) -> None:
        """The last state of the encoder is the first of the decoder."""
        last, right = self.y("lower", len(self.lower) - 1), self.x(len(self.source) - 1)
        level, turn = self.y("upper", 0), last - HIGH / 2 - 26
        edge, lane = self.x(0) - WIDE / 2, self.left - self.beside + 7
        path = ((right, last - HIGH / 2), (right, turn), (lane, turn), (lane, level), (edge, level))
        self.items += arrow(*path, stroke=WARM, thick=2.4)
        numbers = sum(block.shape[-1] * (2 if block.name.startswith("LSTM") else 1) for block in self.cells)
        said = f"the last state: {numbers:,} numbers for the whole sentence"
        self.items.append(Label((lane + right) / 2, turn + 10, said, "middle", SMALL, WARM, True))

    def _caption(self) -> str:
        if self.attention is None:
            lstm = ", h and the cell of each layer" if self.cells[0].name.startswith("LSTM") else ", h of each layer"
            return (
                f"orange: all that the decoder receives of the source{lstm} · dashed: a predicted word is read at the "
                "next step"
            )
        real = "the weights of this model" if self.weights is not None else "each of the source's states has a weight"
        query = "the state after reading" if self.reader else "the state before"
        return (
            f"blue: the context c of the step that predicts “{self.asks}”, the mean of all states by weight "
            f"({real}); every step has its own · orange: what asks, {query} · thin dashes: a predicted word is read at "
            "the next step"
        )
