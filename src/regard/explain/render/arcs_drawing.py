"""Arcs as a drawing: the sentence is a column of words, so that words of any script and length have their line.

In self-attention arcs on the right lead to the words that a word attends to, arcs on the left come from the words that
attend to it. In cross-attention the two sentences are two columns. Each head has a colour; the opacity of a square
beside a word and the width of an arc show the weight. Weights under 0.05 have a square and no arc.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import View
from regard.explain.grid import head_name
from regard.explain.heads import Arcs
from regard.report.colour import QUIET, apart
from regard.report.drawing import SIZE, SMALL, Anchor, Box, Curve, Drawing, Item, Label, Point, framed, mirrored
from regard.report.text import LINE, cut, printable, runs_left, width

LONGEST = 16.0  # maximum width of a word, in em
PITCH, SQUARE, GAP = 20.0, 10.0, 8.0
LEAST = 0.05  # smallest weight of an arc
HEADING = 22.0
ATTENDS, ATTENDED = "attends to", "is attended to by"


def arcs_drawing(arcs: Arcs) -> Drawing:
    body = _between(arcs) if arcs.kind == "cross" else _within(arcs)
    legend, size = _legend(arcs.heads, body.width)
    caption = f"{body.caption} · a square is as strong as the weight, under {LEAST} there is no arc"
    return framed(replace(body, caption=caption), legend, size)


def _within(arcs: Arcs) -> Drawing:
    """Draws self-attention: one column of words between arcs on both sides."""
    assert arcs.attends_to is not None
    assert arcs.attended_by is not None
    words = [cut(printable(word), LONGEST) for word in arcs.words]
    field = max(len(arcs.heads) * SQUARE + GAP + 0.75 * _bulge(len(words)) + 4, width(ATTENDED) * SMALL)
    column = max(width(word) for word in words) * SIZE * 1.1 + 2 * GAP  # the chosen word is bold, hence wider
    middle, right = field + column / 2, field + column
    out = [_heading(right, ATTENDS, "left"), *_field(arcs.word, arcs.attends_to, words, right, ATTENDS)]
    into = [_heading(right, ATTENDED, "left"), *_field(arcs.word, arcs.attended_by, words, right, ATTENDED)]
    total = 2 * field + column
    items = [*_column(words, arcs.words, middle, "middle", arcs.word), *out, *mirrored(into, total)]
    if runs_left(" ".join(arcs.words)):
        items = mirrored(items, total)
    return Drawing(total, HEADING + len(words) * PITCH, tuple(items), arcs.title, arcs.caption)


def _between(arcs: Arcs) -> Drawing:
    """Draws cross-attention: two columns of words, the chosen word's sentence on the left."""
    weights, name = (arcs.attends_to, ATTENDS) if arcs.attends_to is not None else (arcs.attended_by, ATTENDED)
    assert weights is not None
    words, others = ([cut(printable(word), LONGEST) for word in side] for side in (arcs.words, arcs.others))
    left = max(width(word) for word in words) * SIZE * 1.1
    start, end = left + GAP, left + GAP + 140.0
    items: list[Item] = [*_column(words, arcs.words, left, "right", arcs.word)]
    items += _column(others, arcs.others, end + GAP + len(arcs.heads) * SQUARE, "left", None)
    items.append(_heading(end, name, "left"))
    for head, row in enumerate(weights):
        for place, weight in enumerate(row.tolist()):
            items += _square(head, weight, end + head * SQUARE, place, f"{words[arcs.word]} {name} {others[place]}")
            if weight >= LEAST:
                shift = _shift(head, len(weights))
                a, b = (start, _y(arcs.word) + shift), (end - 2, _y(place) + shift)
                curve = (a, ((a[0] + b[0]) / 2, a[1]), ((a[0] + b[0]) / 2, b[1]), b)
                items.append(_arc(curve, head, weight))
    total = end + GAP + len(arcs.heads) * SQUARE + max(max(map(width, others), default=0.0) * SIZE, 90.0)
    high = HEADING + max(len(words), len(others)) * PITCH
    return Drawing(total, high, tuple(items), arcs.title, arcs.caption)


def _field(chosen: int, weights: NDArray[np.float64], words: list[str], x: float, verb: str) -> list[Item]:
    """Squares and arcs to the right of x; weights (H, words)."""
    items: list[Item] = []
    begin = x + len(weights) * SQUARE + GAP / 2
    for head, row in enumerate(weights):
        for place, weight in enumerate(row.tolist()):
            items += _square(head, weight, x + head * SQUARE, place, f"{words[chosen]} {verb} {words[place]}")
            if weight >= LEAST and place != chosen:
                a, b = _y(chosen) + _shift(head, len(weights)), _y(place) + _shift(head, len(weights))
                out = begin + _bulge(abs(place - chosen))
                items.append(_arc(((begin, a), (out, a), (out, b), (begin, b)), head, weight))
    return items


def _arc(points: tuple[Point, Point, Point, Point], head: int, weight: float) -> Curve:
    return Curve(points, apart(head), 0.8 + 3.2 * weight, 0.85)


def _square(head: int, weight: float, x: float, place: int, note: str) -> list[Item]:
    if weight < 0.005:
        return []
    side = SQUARE - 1
    return [Box(x, _y(place) - side / 2, side, side, apart(head), max(weight, 0.02), f"{note} {weight:.2f}")]


def _column(words: list[str], full: tuple[str, ...], x: float, anchor: Anchor, chosen: int | None) -> list[Label]:
    return [
        Label(x, _y(i), word, anchor, bold=i == chosen, note=whole if whole != word else "")
        for i, (word, whole) in enumerate(zip(words, full, strict=True))
    ]


def _heading(x: float, text: str, anchor: Anchor) -> Label:
    return Label(x, HEADING / 2 - 2, text, anchor, size=SMALL, fill=QUIET)


def _y(place: int) -> float:
    return HEADING + (place + 0.5) * PITCH


def _shift(head: int, heads: int) -> float:
    """The offset of a head's arcs, which lie side by side."""
    return (head - (heads - 1) / 2) * min(2.0, 12.0 / heads)


def _bulge(distance: int) -> float:
    return 18.0 + 22.0 * math.sqrt(distance)


def _legend(heads: tuple[View, ...], total: float) -> tuple[list[Item], Point]:
    """A square and a name for each head, in as many lines as needed."""
    items: list[Item] = []
    x, y, total = 0.0, 0.0, max(total, 300.0)
    for number, view in enumerate(heads):
        name = head_name(view)
        wide = 14 + width(name) * SMALL + 12
        if x and x + wide > total:
            x, y = 0.0, y + LINE * SMALL + 2
        items.append(Box(x, y + 2, 10, 10, apart(number)))
        items.append(Label(x + 14, y + 7, name, size=SMALL, fill=QUIET))
        x += wide
    return items, (total, y + LINE * SMALL + 2)
