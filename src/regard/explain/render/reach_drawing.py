"""What a stack of convolutions reaches: the positions on which one position depends, layer by layer.

○ ○ ○ ● ○ ○ ○      layer 2        ●  a position that the one at the top depends on
○ ○ ● ● ● ○ ○      layer 1
○ ● ● ● ● ● ○      words          (Kalchbrenner et al. 2016, figure 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.diagram import of_kind
from regard.explain.render.diagram_parts import short
from regard.models.outline import Outline
from regard.report.colour import ACCENT, INK, QUIET
from regard.report.drawing import SMALL, Dot, Drawing, Item, Label, Line, Point
from regard.report.palette import PALETTE
from regard.report.text import width

PITCH, ROW, RADIUS = 34.0, 26.0, 5.5
MOST_ROWS = 10
FAINT = PALETTE["line"][0]

Offsets = tuple[int, ...]


def cone(layers: Sequence[Offsets], top: int, positions: int) -> list[set[int]]:
    """The positions on which position `top` depends, of the words first and of the last layer at the end.

    >>> [sorted(row) for row in cone([(-1, 0, 1), (-2, -1, 0)], 3, 5)]
    [[0, 1, 2, 3, 4], [1, 2, 3], [3]]
    """
    rows = [{top}]
    for offsets in reversed(layers):
        rows.insert(0, {at + by for at in rows[0] for by in offsets if 0 <= at + by < positions})
    return rows


def reach_drawing(outline: Outline, side: str, words: Sequence[str]) -> Drawing | None:
    """The reach of the convolutions of a side; None if it has none."""
    found = of_kind(outline, side, "convolution")
    if not found:
        return None
    layers, count = [block.offsets for block in found], found[0].shape[0]
    drawn = layers[:MOST_ROWS]
    words = [*map(short, words), *["blank"] * (count - len(words))]  # ByteNet's encoder has room for a longer target
    causal = max(drawn[0]) == 0
    rows = cone(drawn, max(0, count - 2) if causal else count // 2, count)
    pitch = max(PITCH, max(map(width, words)) * SMALL + 6)
    names = ["words", *(f"layer {n}: {'−' if causal else '±'} {-min(one)}" for n, one in enumerate(drawn, start=1))]
    left = max(map(width, names)) * SMALL + 12
    high = ROW * len(drawn)

    def place(at: int, level: int) -> Point:
        return left + pitch * (at + 0.5), high - ROW * level + 8

    items: list[Item] = []
    for level, row in enumerate(rows):
        items.append(Label(left - 10, place(0, level)[1], names[level], "right", SMALL, QUIET))
        items += [
            Line((place(at, level), place(at + by, level - 1)), ACCENT, 1.4, 0.7)
            for at in row
            for by in (drawn[level - 1] if level else ())
            if 0 <= at + by < count
        ]
    items += [
        Dot(*place(at, level), RADIUS, ACCENT if at in row else FAINT)
        for level, row in enumerate(rows)
        for at in range(count)
    ]
    items += [Label(place(at, 0)[0], high + 27, word, "middle", SMALL, INK) for at, word in enumerate(words)]
    title = f"Reach of the {side.lower()}"
    return Drawing(left + pitch * count, high + 38, tuple(items), title, _caption(layers, drawn))


def _caption(layers: Sequence[Offsets], drawn: Sequence[Offsets]) -> str:
    before, after = -sum(map(min, layers)), sum(map(max, layers))
    whole = f"{before} positions before" + (f" and {after} after" if after else " and none after")
    some = f", of which the first {len(drawn)} are drawn," if len(drawn) < len(layers) else ""
    return (
        f"blue: what the position at the top depends on · {len(layers)} layers{some} reach {whole} its own, where the "
        "sentence is that long"
    )
