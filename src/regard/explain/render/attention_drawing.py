"""One attention layer of a model: from its inputs to its output, step by step, each with its numbers.

          [W_O]                 Vaswani et al. 2017, figure 2; the same picture for the scores of recurrent models
            ▲
[Weights × V] × heads
    ▲          ▲
[Softmax]      │
    ▲          │
[Q Kᵀ / √d]    │
  ▲     ▲      │
 [Q]   [K]    [V]
"""

from __future__ import annotations

from regard.explain.render.diagram_parts import (
    arrow,
    box,
    fill_of,
    height_of,
    is_thin,
    lines_of,
    note_of,
    text_lines,
    width_of,
)
from regard.models.outline import Block, Outline
from regard.report.colour import INK, LINE_STRONG
from regard.report.drawing import SIZE, SMALL, Box, Drawing, Item, Label
from regard.report.text import LINE

GAP, STEP, SHADOW = 10.0, 22.0, 4.0


def attentions(outline: Outline) -> list[tuple[str, Block]]:
    """Where each kind of attention of a model is, and one block of it."""
    found: dict[str, tuple[str, Block]] = {}
    for one, _, block in outline.walk():
        if block.kind == "attention" and block.parts:
            found.setdefault(block.name, (one.name, block))
    return list(found.values())


def attention_drawing(place: str, block: Block) -> Drawing:
    """One attention layer; `place` is the side of the model that it is in."""
    given = [part for part in block.parts if part.kind == "linear"]
    ends = given.pop() if block.parts[-1].kind == "linear" else None
    named = {part.name[0]: part for part in given}  # Q, K and V, where the model has matrices for them
    inputs = [named.get(letter) for letter in "QKV"]
    chain = [part for part in block.parts if part.kind != "linear"] + ([ends] if ends else [])
    return _Layer(place, block, inputs, chain).drawing()


class _Layer:
    """Coordinates of one picture; heights grow downward."""

    def __init__(self, place: str, block: Block, inputs: list[Block | None], chain: list[Block]) -> None:
        self.place, self.block, self.inputs, self.chain = place, block, inputs, chain
        self.wide = max(width_of(lines_of(part)) for part in block.parts)
        self.shadows: list[Item] = []
        self.items: list[Item] = []
        self.high = max((height_of(lines_of(part)) for part in inputs if part), default=0.0)
        self.foot = 14.0 + self.high + sum(height_of(lines_of(part)) + STEP for part in chain) + STEP
        self.centre = self.x(0) / 2 + self.x(1) / 2

    def x(self, n: int) -> float:
        return self.wide / 2 + n * (self.wide + GAP)

    def drawing(self) -> Drawing:
        tops = [self._input(n, part) for n, part in enumerate(self.inputs)]
        y = self.foot - self.high - STEP
        mean = next(n for n, part in enumerate(self.chain) if part.kind == "attention" and n > 0)
        for n, part in enumerate(self.chain):
            tall = height_of(lines_of(part))
            if n == 0:
                for m in (0, 1):
                    self.items += arrow((self.x(m), tops[m]), (self.centre + (m - 0.5) * self.wide / 2, y))
            else:
                self.items += arrow((self.centre, y + STEP), (self.centre, y))
            if self.block.heads > 1 and n <= mean:
                self._shadow(part, y)
            self._box(part, self.centre, y)
            if n == mean:
                edge = self.centre + self.wide / 2 + (2 * SHADOW if self.block.heads > 1 else 0)
                level = y - tall / 2
                self.items += arrow((self.x(2), tops[2]), (self.x(2), level), (edge, level))
            y -= tall + STEP
        self.items += arrow((self.centre, y + STEP), (self.centre, y + 4))
        if self.block.heads > 1:
            level = self.foot - self.high - STEP - height_of(lines_of(self.chain[0])) - STEP / 2 - 2
            text = f"× {self.block.heads} heads"
            self.items.append(Label(self.x(2) - 8, level, text, "right", SIZE, INK, True))
        title = f"{self.block.name} of the {self.place.lower()}"
        low = self.foot + STEP + 8 + 3 * LINE * SMALL
        return Drawing(3 * self.wide + 2 * GAP, low, (*self.shadows, *self.items), title, _caption(self.block))

    def _input(self, n: int, part: Block | None) -> float:
        """An input, with what it is made from below it; returns where its arrow begins."""
        cross = bool(self.block.reads)
        own = f"{self.place.lower()} tokens"
        source = ("decoder" if n == 0 else "encoder") if cross else own
        lines = [f"from the {source}" if cross else source]
        if part is None:
            lines = [("the query", "the keys", "the values")[n], *lines]
        self.items += text_lines(self.x(n), self.foot + STEP + 8, lines)
        if part is None:
            return self.foot + STEP - 2
        self.items += arrow((self.x(n), self.foot + STEP), (self.x(n), self.foot))
        self._box(part, self.x(n), self.foot)
        return self.foot - height_of(lines_of(part))

    def _box(self, part: Block, x: float, foot: float) -> None:
        lines = lines_of(part)
        high = height_of(lines)
        self.items += box(x - self.wide / 2, foot - high, self.wide, high, fill_of(part.kind), lines, note_of(part))

    def _shadow(self, part: Block, foot: float) -> None:
        """Further boxes behind one, for the other heads."""
        tall = height_of(lines_of(part))
        for shift in (2 * SHADOW, SHADOW):
            left, top = self.centre - self.wide / 2 + shift, foot - tall - shift
            self.shadows.append(Box(left, top, self.wide, tall, LINE_STRONG, round=5.0))
            self.shadows.append(Box(left + 1, top + 1, self.wide - 2, tall - 2, fill_of(part.kind), round=4.0))


def _caption(block: Block) -> str:
    steps = [f"{part.name}: {part.what}" for part in block.parts if part.what and not is_thin(part)]
    return " · ".join([block.what, *steps])
