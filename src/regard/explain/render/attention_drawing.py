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

from regard.explain.diagram import of_kind
from regard.explain.render.diagram_parts import arrow, block_box, block_height, block_width, box, fill_of, text_lines
from regard.models.outline import Block, Outline
from regard.report.colour import INK
from regard.report.drawing import SIZE, SMALL, Drawing, Item, Label
from regard.report.text import LINE

GAP, STEP, SHADOW = 10.0, 22.0, 4.0


def attention_drawings(outline: Outline) -> list[Drawing]:
    """One layer of each kind of attention of the decoder."""
    found: dict[str, Block] = {}
    for block in of_kind(outline, "Decoder", "attention"):
        found.setdefault(block.name, block)
    return [_Layer("decoder", block).drawing() for block in found.values()]


class _Layer:
    """Coordinates of one picture; heights grow downward."""

    def __init__(self, place: str, block: Block) -> None:
        self.place, self.block = place, block  # place: the side of the model that it is in
        given = [part for part in block.parts if part.kind == "linear"]
        ends = [given.pop()] if block.parts[-1].kind == "linear" else []
        named = {part.name[0]: part for part in given}  # Q, K and V, where the model has matrices for them
        self.inputs = [named.get(letter) for letter in "QKV"]
        self.chain = [part for part in block.parts if part.kind != "linear"] + ends
        self.wide = max(map(block_width, block.parts))
        self.shadows: list[Item] = []
        self.items: list[Item] = []
        self.high = max((block_height(part) for part in given), default=0.0)
        self.foot = 14.0 + self.high + sum(block_height(part) + STEP for part in self.chain) + STEP
        self.centre = self.x(0) / 2 + self.x(1) / 2

    def x(self, n: int) -> float:
        return self.wide / 2 + n * (self.wide + GAP)

    def drawing(self) -> Drawing:
        tops = [self._input(n, part) for n, part in enumerate(self.inputs)]
        y = self.foot - self.high - STEP
        heads = self.block.heads
        mean = next(n for n, part in enumerate(self.chain) if part.kind == "attention" and n > 0)
        for n, part in enumerate(self.chain):
            tall = block_height(part)
            if n == 0:
                for m in (0, 1):
                    self.items += arrow((self.x(m), tops[m]), (self.centre + (m - 0.5) * self.wide / 2, y))
            else:
                self.items += arrow((self.centre, y + STEP), (self.centre, y))
            if heads > 1 and n <= mean:  # further boxes behind one, for the other heads
                for shift in (2 * SHADOW, SHADOW):
                    self.shadows += box(self.centre + shift, y - tall - shift, self.wide, tall, fill_of(part.kind))
            self.items += block_box(part, self.centre, y, self.wide)
            if n == mean:
                edge = self.centre + self.wide / 2 + (2 * SHADOW if heads > 1 else 0)
                level = y - tall / 2
                self.items += arrow((self.x(2), tops[2]), (self.x(2), level), (edge, level))
            y -= tall + STEP
        self.items += arrow((self.centre, y + STEP), (self.centre, y + 4))
        if heads > 1:
            level = self.foot - self.high - STEP - block_height(self.chain[0]) - STEP - block_height(self.chain[1]) / 2
            edge = self.centre + self.wide / 2 + 2 * SHADOW + 6
            self.items.append(Label(edge, level, f"× {heads} heads", "left", SIZE, INK, True))
        title = f"{self.block.name} of the {self.place}"
        low = self.foot + STEP + 8 + 3 * LINE * SMALL
        return Drawing(3 * self.wide + 2 * GAP, low, (*self.shadows, *self.items), title, _caption(self.block))

    def _input(self, n: int, part: Block | None) -> float:
        """An input, with what it is made from below it; returns where its arrow begins."""
        lines = [f"{self.place} tokens"]
        if self.block.reads:
            lines = ["from the decoder" if n == 0 else "from the encoder"]
        if part is None:
            lines = [("the query", "the keys", "the values")[n], *lines]
        self.items += text_lines(self.x(n), self.foot + STEP + 8, lines)
        if part is None:
            return self.foot + STEP - 2
        self.items += arrow((self.x(n), self.foot + STEP), (self.x(n), self.foot))
        self.items += block_box(part, self.x(n), self.foot, self.wide)
        return self.foot - block_height(part)


def _caption(block: Block) -> str:
    steps = [f"{part.name}: {part.what}" for part in block.parts if part.what and part.kind != "softmax"]
    return " · ".join([block.what, *steps])
