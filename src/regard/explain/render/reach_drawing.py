"""What a stack of convolutions reaches: the positions on which one position depends, layer by layer.

○ ○ ○ ● ○ ○ ○      layer 2        ●  a position that the one at the top depends on
○ ○ ● ● ● ○ ○      layer 1
○ ● ● ● ● ● ○      words          (Kalchbrenner et al. 2016, figure 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.diagram import of_kind, side
from regard.models.outline import Outline
from regard.report.colour import ACCENT, INK, QUIET
from regard.report.drawing import SMALL, Dot, Drawing, Item, Label, Line
from regard.report.palette import PALETTE
from regard.report.text import cut, printable, width

PITCH, ROW, RADIUS = 34.0, 26.0, 5.5
MOST_ROWS = 10
WORD = 7.0  # maximum em of a word
FAINT = PALETTE["line"][0]

Offsets = tuple[int, ...]


def reaches(outline: Outline, name: str) -> list[Offsets]:
    """What each convolution of a side reads, the lowest first: positions counted from its own."""
    return [block.offsets for block in of_kind(side(outline, name), "convolution")]


def cone(layers: Sequence[Offsets], top: int, positions: int) -> list[set[int]]:
    """The positions on which position `top` depends, of the words first and of the last layer at the end.

    >>> [sorted(row) for row in cone([(-1, 0, 1), (-2, -1, 0)], 3, 5)]
    [[0, 1, 2, 3, 4], [1, 2, 3], [3]]
    """
    rows = [{top}]
    for offsets in reversed(layers):
        rows.insert(0, {at + by for at in rows[0] for by in offsets if 0 <= at + by < positions})
    return rows


def reach_drawing(outline: Outline, name: str, words: Sequence[str]) -> Drawing:
    layers = reaches(outline, name)
    drawn = layers[:MOST_ROWS]
    causal = max(drawn[0]) == 0
    count = len(words)
    top = count - 2 if causal else count // 2
    rows = cone(drawn, max(0, top), count)
    pitch = max(PITCH, max(width(cut(printable(word), WORD)) for word in words) * SMALL + 6)
    names = [f"layer {n}: {'−' if causal else '±'} {-min(one)}" for n, one in enumerate(drawn, start=1)]
    left = max(width(text) * SMALL for text in [*names, "words"]) + 12
    high = ROW * len(drawn)
    items: list[Item] = []
    for level, row in enumerate(rows):
        y = high - ROW * level + 8
        text = names[level - 1] if level else "words"
        items.append(Label(left - 10, y, text, "right", SMALL, QUIET))
        if level:
            items += [
                Line(((left + pitch * (at + 0.5), y), (left + pitch * (at + by + 0.5), y + ROW)), ACCENT, 1.4, 0.7)
                for at in row
                for by in drawn[level - 1]
                if 0 <= at + by < count
            ]
    dots = [
        Dot(left + pitch * (at + 0.5), high - ROW * level + 8, RADIUS, ACCENT if at in row else FAINT)
        for level, row in enumerate(rows)
        for at in range(count)
    ]
    items += dots
    for at, word in enumerate(words):
        items.append(Label(left + pitch * (at + 0.5), high + 27, cut(printable(word), WORD), "middle", SMALL, INK))
    total = left + pitch * count
    return Drawing(
        total, high + 38, tuple(items), f"What a position of the {name.lower()} reaches", _caption(layers, drawn)
    )


def _caption(layers: Sequence[Offsets], drawn: Sequence[Offsets]) -> str:
    before, after = -sum(map(min, layers)), sum(map(max, layers))
    whole = f"{before} positions before" + (f" and {after} after" if after else " and none after")
    some = f", of which the first {len(drawn)} are drawn," if len(drawn) < len(layers) else ""
    return (
        f"blue: what the position at the top depends on · {len(layers)} layers{some} reach {whole} its own, where the "
        "sentence is that long"
    )
