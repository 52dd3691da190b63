"""One query of one head as a picture that builds up: the words across, the terms of the equation from above to below.

             on     │  The    cat    is    on         the word that asks, and the words that it may attend to
    1  x    ▇▇▇▇    │  ▇▇▇▇   ▇▇▇▇   ▇▇▇▇  ▇▇▇▇       vectors: their first numbers, blue above zero, brown below
    4  q·k          │  5.59   −2.3   0.41  1.2        numbers: one for each word
    6  α            │  0.61   0.05   …
    9  output ▇▇▇▇  │                                  the new vector of the word

The rows are the terms of `step.py`, grouped into the steps of the course notes' running example. The last step is that
of every other word, in self-attention.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.explain.diagram import piece_shown
from regard.explain.render.diagram_parts import short
from regard.explain.step import StepNumbers
from regard.explain.terms import Array, Term
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.drawing import SIZE, SMALL, Box, Drawing, Item, Label, Line
from regard.report.palette import PALETTE
from regard.report.text import printable, width

SHOWN, TILE, TALL = 8, 6.0, 15.0  # numbers of a vector, and the size of the tile of one
ROW = 38.0
COLUMN = 56.0
NUMBER = 22.0  # room for the number of a step
WITH_NEXT = {"x", "s", "÷√d", "W_O c", "s(t)", "√m c", "W[c; s]", "d"}  # terms in one step with the one after them
ALL = "every word"
SAYS = {  # a term in words; others have their equation alone
    "x": "the vector of {who}",
    "m": "the vectors it may attend to",
    "q": "the query: what {who} seeks",
    "k": "the keys: what words offer",
    "q·k": "how well each key fits",
    "÷√d": "so that softmax stays soft",
    "mask": "−∞: must not be seen",
    "α": "the weights: their sum is 1",
    "v": "the values: what words pass on",
    "αv": "each value times its weight",
    "c": "their sum: the answer",
    "W_O c": "what this head adds",
    "output": "all heads together",
    "s": "the decoder's state, which asks",
    "h": "the encoder's states",
    "αh": "each state times its weight",
    "ŝ": "what the output layer reads",
    "tanh": "between −1 and 1",
    "vᵀtanh": "one number for each word",
    ALL: "each with its own query: a layer",
}
POSITIVE, NEGATIVE, BAND = PALETTE["heat"][0], PALETTE["heat-negative"][0], PALETTE["selected"][0]


def steps_of(terms: Sequence[Term]) -> list[list[Term]]:
    """The terms in groups: each is one step of the picture."""
    found: list[list[Term]] = []
    for term in terms:
        if found and (found[-1][-1].name in WITH_NEXT or term.name == "c"):
            found[-1].append(term)
        else:
            found.append([term])
    return found


def step_drawing(step: StepNumbers, every: Array | None = None) -> Drawing:
    """`every` has the new vector of each word, (S, D), in self-attention."""
    return _Picture(step, every).drawing()


class _Picture:
    """Items with the frame in which each appears."""

    def __init__(self, step: StepNumbers, every: Array | None) -> None:
        self.step = step
        self.groups = steps_of(step.numbers.terms)
        if every is not None:
            self.groups.append([Term(ALL, "", every, of_keys=True)])
        self.words = [short(piece_shown(word)) for word in step.keys]
        # the piece of the encoder, the word that the decoder has read, or the one that it predicts
        read, _, predicted = step.query_label.partition(", predicts ")
        asks = read.removeprefix("read ") if step.query.kind == "decoder" else predicted or read
        self.asks = short(piece_shown(asks))
        terms = [term for group in self.groups for term in group]
        wide = max(width(_equation(term)) * SIZE * 1.15 for term in terms)
        self.name = max(wide, *(width(text) * SMALL for text in (*map(self.says, terms), SAYS[ALL]))) + 14
        self.column = max([COLUMN, *(width(word) * SMALL + 8 for word in self.words)])
        self.own = max(COLUMN, width(self.asks) * SMALL * 1.15 + 10)
        self.begin = NUMBER + self.name
        self.first = self.begin + self.own + 16
        self.items: list[Item] = []
        self.frames: list[int] = []

    def add(self, frame: int, *items: Item) -> None:
        self.items += items
        self.frames += [frame] * len(items)

    def drawing(self) -> Drawing:
        y = 26.0
        total = self.first + self.column * len(self.words)
        self.add(0, Label(self.begin + self.own / 2, 11, self.asks, "middle", SMALL, ACCENT, True))
        self.add(0, *(Label(self.x(n), 11, word, "middle", SMALL, INK) for n, word in enumerate(self.words)))
        edge, rows = self.first - 8, sum(map(len, self.groups))
        self.add(0, Line(((edge, 0), (edge, y + ROW * rows)), LINE_STRONG, 1.0, 0.6))
        for number, group in enumerate(self.groups, start=1):
            self.add(-number, Box(0, y, total, ROW * len(group), BAND, round=6.0))
            self.add(number, Label(4, y + ROW / 2, str(number), "left", SMALL, QUIET))
            for term in group:
                self._term(number, term, y)
                y += ROW
        verb = {"encoder": "", "decoder": "after reading ", "cross": "predicting "}[self.step.query.kind]
        title = f"One step of attention: {verb}“{self.asks}” in “{printable(self.step.source)}”"
        return Drawing(total, y + 4, tuple(self.items), title, self._caption(), tuple(self.frames))

    def x(self, n: int) -> float:
        return self.first + self.column * (n + 0.5)

    def says(self, term: Term) -> str:
        who = f"“{self.asks}”" if self.step.query.kind == "encoder" else "this step"
        return SAYS.get(term.name, "").format(who=who)

    def _term(self, frame: int, term: Term, y: float) -> None:
        said = self.says(term)
        self.add(frame, Label(NUMBER, y + ROW / 2 - (8 if said else 0), _equation(term), "left", SIZE, INK, True))
        if said:
            self.add(frame, Label(NUMBER, y + ROW / 2 + 9, said, "left", SMALL, QUIET))
        shown = term.values[..., :SHOWN]
        most = float(np.abs(shown[np.isfinite(shown)]).max(initial=0.0)) or 1.0
        if not term.of_keys:
            self.add(frame, *_strip(np.atleast_1d(term.values), self.begin + self.own / 2, y, most))
            return
        for n, values in enumerate(term.values):
            if term.values.ndim == 1:
                self.add(frame, *self._number(term, float(values), self.x(n), y))
            else:
                self.add(frame, *_strip(values, self.x(n), y, most))

    def _number(self, term: Term, value: float, x: float, y: float) -> list[Item]:
        middle = y + ROW / 2
        if term.name != "α":
            text = f"{value:.2f}".replace("-", "−") if np.isfinite(value) else "−∞"
            return [Label(x, middle, text, "middle", SMALL, INK)]
        wide = (self.column - 10) * value
        bar: list[Item] = [Box(x - self.column / 2 + 5, y + ROW - 8, max(wide, 1.0), 5, ACCENT, note=f"{value:.4f}")]
        return [*bar, Label(x, middle - 4, f"{value:.2f}", "middle", SMALL, INK)]

    def _caption(self) -> str:
        query = self.step.query
        where = f"{self.step.architecture}, {query.kind} attention, layer {query.layer + 1}, head {query.head + 1}"
        return (
            f"{where} · {self.step.numbers.equation} · a vector, with its length in brackets: its first {SHOWN} "
            "numbers, blue above zero, brown or orange below, the largest of its row strongest · computed from the "
            "weights and held against the model's own pass"
        )


def _equation(term: Term) -> str:
    """The name of a term, its equation where it is short, and how many numbers a vector has."""
    if term.name in (ALL, "÷√d"):
        return term.what or ALL
    size = "" if term.of_keys and term.values.ndim == 1 else f" ({term.values.shape[-1]:,})"
    short = (
        term.name.replace(" ", "") != term.what.replace(" ", "")
        and width(term.what) < 10
        and not term.what.startswith("the ")
    )
    return f"{term.name} = {term.what}{size}" if short else term.name + size


def _strip(vector: Array, x: float, y: float, most: float) -> list[Item]:
    """The first numbers of a vector as tiles, around x."""
    shown = vector[:SHOWN]
    wide = TILE * len(shown)
    top = y + (ROW - TALL) / 2
    note = " ".join(f"{value:.3f}" for value in shown.tolist()).replace("-", "−")
    items: list[Item] = [Box(x - wide / 2 - 1, top - 1, wide + 2, TALL + 2, PALETTE["sunken"][0], note=note)]
    for n, value in enumerate(shown.tolist()):
        share = min(1.0, abs(value) / most) ** 0.5  # small numbers are seen, too
        if share > 0.02:
            fill = POSITIVE if value > 0 else NEGATIVE
            items.append(Box(x - wide / 2 + n * TILE, top, TILE, TALL, fill, round(share, 2)))
    return items
