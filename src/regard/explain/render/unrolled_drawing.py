"""A recurrent model unrolled over a sentence, as in Sutskever et al. 2014 and Bahdanau et al. 2015.

       Le     chat    est           predicted words; each is read at the next step (dashed)
      [s1]─▶[s2]─▶[s3]              the decoder's rows, from below to above
        ▲    (c)                    without attention the encoder's last state enters here; with it c, a mean of all h
      [h1]─▶[h2]─▶[h3]              the encoder's rows
      The    cat    is

The rows are the recurrent blocks of the outline, and the blocks of the decoder between them and the output layer.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.explain.diagram import ModelDiagram, of_kind, side
from regard.explain.render.diagram_parts import arrow, fill_of
from regard.models.outline import Block, Outline, OutlineSide
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Dot, Drawing, Item, Label, Line
from regard.report.palette import PALETTE
from regard.report.text import cut, printable, width

WIDE, HIGH, ROW = 38.0, 24.0, 44.0  # a cell, and from row to row
PITCH = 54.0  # from word to word, at least
WORD = 7.0  # maximum em of a word
MOST_ROWS = 4  # rows of a side that are drawn
MIDDLE, BOTTLENECK = 92.0, 100.0  # between encoder and decoder, with attention and without
WARM = PALETTE["warm"][0]


@dataclass(frozen=True)
class _Row:
    block: Block | None  # None: rows that are left out
    name: str


def is_recurrent(outline: Outline) -> bool:
    return bool(of_kind(side(outline, "Encoder"), "recurrent")) and bool(of_kind(side(outline, "Decoder"), "recurrent"))


def unrolled_drawing(diagram: ModelDiagram, outline: Outline) -> Drawing:
    encoder, decoder = side(outline, "Encoder"), side(outline, "Decoder")
    assert encoder is not None
    assert decoder is not None
    upper, attention, reader = _decoder_rows(decoder)
    lower = _shortened([_Row(block, block.name) for block in _cells(encoder)])
    return _Unrolled(diagram, outline, lower, upper, attention, reader).drawing()


def _cells(found: OutlineSide) -> list[Block]:
    """One recurrent block of each layer; of columns that stand side by side the first."""
    found_blocks = []
    for layer in found.layers:
        for sub in layer.sublayers:
            found_blocks += [block for block in sub.blocks if block.kind == "recurrent"] * layer.count
    return found_blocks


def _decoder_rows(decoder: OutlineSide) -> tuple[list[_Row], Block | None, int]:
    """The rows, the attention if there is one, and the index of the row that its context enters."""
    rows: list[_Row] = []
    attention, reader = None, 0
    for layer in decoder.layers:
        for block in layer.blocks:
            if block.kind == "attention" and block.reads:
                attention, reader = block, len(rows)
            elif block.kind in ("recurrent", "mixture") or (block.kind == "linear" and block.name != "Output layer"):
                rows += [_Row(block, block.name)] * layer.count
    if attention is None:
        return _shortened(rows), None, 0
    kept = _shortened(rows, reader)
    entered = rows[reader] if reader < len(rows) else rows[-1]
    return kept, attention, next(n for n, row in enumerate(kept) if row is entered)


def _shortened(rows: list[_Row], keep: int = 0) -> list[_Row]:
    """At most so many rows, with a gap for the others; the row `keep` stays."""
    if len(rows) <= MOST_ROWS:
        return rows
    first = rows[: max(2, keep + 1)]
    left_out = len(rows) - len(first) - 1
    return [*first, *([_Row(None, f"{left_out} more")] if left_out > 0 else []), rows[-1]]


class _Unrolled:
    """Coordinates of one picture; heights grow downward."""

    def __init__(
        self,
        diagram: ModelDiagram,
        outline: Outline,
        lower: list[_Row],
        upper: list[_Row],
        attention: Block | None,
        reader: int,
    ) -> None:
        self.outline, self.lower, self.upper, self.reader = outline, lower, upper, reader
        self.attention = attention
        self.source, self.predicted = diagram.source, diagram.predicted
        self.begin = diagram.read[0]
        step = diagram.step
        shown = step is not None and step.kind == "cross" and step.numbers is not None
        self.at = step.numbers.query.position if shown and step and step.numbers else min(1, len(self.predicted) - 1)
        self.weights = step.weights.mean(axis=0)[self.at] if shown and step else None
        words = [cut(printable(word), WORD) for word in (*self.source, *self.predicted)]
        self.pitch = max(PITCH, max(width(word) for word in words) * SMALL + 10)
        names = [row.name for row in (*lower, *upper)]
        self.beside = width(self.begin) * SMALL + 14  # room for the first word that is read, left of the first cell
        self.left = max(width(name) * SMALL for name in names) + self.beside
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

    def _row(self, where: str, level: int, row: _Row, count: int) -> None:
        y = self.y(where, level)
        self.items.append(Label(self.left - self.beside, y, row.name, "right", SMALL, QUIET))
        for n in range(count):
            x = self.x(n)
            if level:
                self.items += arrow((x, y + ROW - HIGH / 2), (x, y + HIGH / 2))
            if row.block is None:
                self.items.append(Label(x, y, "⋮", "middle", SIZE, QUIET))
                continue
            self.items.append(Box(x - WIDE / 2, y - HIGH / 2, WIDE, HIGH, LINE_STRONG, round=4.0))
            inner = Box(x - WIDE / 2 + 1, y - HIGH / 2 + 1, WIDE - 2, HIGH - 2, fill_of(row.block.kind), round=3.0)
            self.items.append(inner)
            if row.block.kind == "recurrent":
                letter = "h" if where == "lower" else "s"
                top = level == len(self.lower) - 1 if where == "lower" else level == 0
                if top:
                    self.items.append(Label(x, y, f"{letter}({n + 1})", "middle", SMALL, INK))
                if n + 1 < count:
                    self._next(row.block, x, y)

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
            self.items.append(Label(self.x(n), foot + 25, cut(printable(word), WORD), "middle", SMALL, INK))
        head = self.y("upper", len(self.upper) - 1) - HIGH / 2
        lowest = self.y("upper", 0)
        for n, word in enumerate(self.predicted):
            self.items += arrow((self.x(n), head), (self.x(n), head - 10))
            chosen = self.attention is not None and n == self.at
            label = Label(self.x(n), head - 19, cut(printable(word), WORD), "middle", SMALL, INK, chosen)
            self.items.append(label)
            if n + 1 < len(self.predicted):  # what is predicted is read at the next step
                between = self.x(n) + self.pitch / 2
                path = ((self.x(n) + 4, head - 8), (between, head - 8), (between, lowest + HIGH / 2 + 8))
                last = (self.x(n + 1) - WIDE / 4, lowest + HIGH / 2 + 8), (self.x(n + 1) - WIDE / 4, lowest + HIGH / 2)
                self.items += [Line((*path, *last), QUIET, 0.8, 0.55, dashed=True)]
        foot = lowest + HIGH / 2
        self.items.append(Label(self.x(0) - WIDE / 2 - 6, foot + 12, self.begin, "right", SMALL, INK))
        start = self.x(0) - WIDE / 4
        self.items += arrow((self.x(0) - WIDE / 2 - 3, foot + 12), (start, foot + 12), (start, foot))

    def _attend(self) -> None:
        """One step: lines from every h to the mean c, as wide as the weights, and c into the row that reads it."""
        head = self.y("lower", len(self.lower) - 1) - HIGH / 2
        x = self.x(min(self.at, len(self.source) - 1)) if self.at < len(self.source) else self.x(len(self.source) - 1)
        x, y = self.x(self.at), head - 44
        for n in range(len(self.source)):
            weight = None if self.weights is None else float(self.weights[n])
            thick = 1.2 if weight is None else 0.6 + 5.0 * weight
            self.items.append(
                Line(((self.x(n), head), (x, y + 8)), ACCENT, thick, 0.75 if weight is None else 0.35 + 0.6 * weight)
            )
            if weight is not None:
                self.items.append(
                    Label(self.x(n) + 3, head - 7, f"{weight:.2f}", "left", SMALL, INK, note=f"α = {weight:.4f}")
                )
        self.items.append(Dot(x, y, 11, ACCENT))
        self.items.append(Label(x, y, "c", "middle", SMALL, PALETTE["on-accent"][0], True))
        level = self.y("upper", self.reader)
        if self.reader:  # past the rows below
            lane = x + WIDE / 2 + 5
            self.items += arrow(
                (x + 8, y - 8), (lane, y - 14), (lane, level), (x + WIDE / 2, level), stroke=ACCENT, thick=2.0
            )
            self.items += arrow(
                (x - 6, self.y("upper", self.reader - 1) + HIGH / 2), (x - 6, y - 10), stroke=WARM, dashed=True
            )
        else:
            self.items += arrow((x, y - 11), (x, level + HIGH / 2), stroke=ACCENT, thick=2.0)
            if self.at:
                before = self.x(self.at - 1)
                start = level + HIGH / 2
                self.items += arrow((before, start), (before, y), (x - 11, y), stroke=WARM, dashed=True)

    def _bottleneck(self) -> None:
        """The last state of the encoder is the first of the decoder."""
        last, right = self.y("lower", len(self.lower) - 1), self.x(len(self.source) - 1)
        level, turn = self.y("upper", 0), last - HIGH / 2 - 26
        edge, lane = self.x(0) - WIDE / 2, self.left - self.beside + 7
        path = ((right, last - HIGH / 2), (right, turn), (lane, turn), (lane, level), (edge, level))
        self.items += arrow(*path, stroke=WARM, thick=2.4)
        sizes = of_kind(side(self.outline, "Encoder"), "recurrent")
        numbers = sum(block.shape[-1] * (2 if block.name.startswith("LSTM") else 1) for block in sizes)
        said = f"the last state: {numbers:,} numbers for the whole sentence"
        self.items.append(Label((lane + right) / 2, turn + 10, said, "middle", SMALL, WARM, True))

    def _caption(self) -> str:
        if self.attention is None:
            cells = of_kind(side(self.outline, "Encoder"), "recurrent")
            lstm = ", h and the cell of each layer" if cells[0].name.startswith("LSTM") else ", h of each layer"
            return (
                f"orange: all that the decoder receives of the source{lstm} · dashed: a predicted word is read at the "
                "next step"
            )
        word = self.predicted[self.at]
        real = "the weights of this model" if self.weights is not None else "each of the source's states has a weight"
        query = "the state after reading" if self.reader else "the state before"
        return (
            f"blue: the context c of the step that predicts “{printable(word)}”, the mean of all states by weight "
            f"({real}); every step has its own · orange: what asks, {query} · thin dashes: a predicted word is read at "
            "the next step"
        )
