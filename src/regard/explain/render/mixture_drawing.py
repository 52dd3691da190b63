"""A mixture of experts, and an ensemble: several networks of which some or all answer."""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.render.diagram_parts import (
    BoxLine,
    arrow,
    block_box,
    block_height,
    block_width,
    box,
    fill_of,
    height_of,
    note_of,
    number,
    text_lines,
    width_of,
)
from regard.models.outline import Outline
from regard.report.colour import ACCENT, INK, LINE_STRONG
from regard.report.drawing import SMALL, Drawing, Item, Label, Line
from regard.report.palette import PALETTE

MOST = 8  # experts that are drawn
SIDE, GAP, STEP = 36.0, 8.0, 24.0


def mixture_drawing(outline: Outline) -> Drawing | None:
    """Router, experts and their weighted sum, for one token, in the first mixture of a model; None if it has none."""
    found = ((one.name.lower(), block) for one, _, block in outline.walk() if block.kind == "mixture")
    place, block = next(found, ("", None))
    if block is None or block.chosen is None:
        return None
    choice, experts = block.chosen
    router, served = block.parts
    shown = list(range(experts)) if experts <= MOST else [*range(MOST - 2), None, experts - 1]
    names = ["…" if n is None else f"{n + 1:,}" for n in shown]
    wide = max(SIDE, max(BoxLine(name).width for name in names) + 10)
    across = len(shown) * (wide + GAP) - GAP
    sum_line = BoxLine(f"Σ g(e) FFN(e): {choice} experts, their weights sum to 1", False, INK)
    room = block_width(router)
    total = max(across, sum_line.width, room)
    middle, left = total / 2, (total - across) / 2
    items: list[Item] = [Label(middle, 14.0, sum_line.text, "middle", SMALL, INK)]
    above = 26.0
    row = above + STEP + 12
    for n, name in enumerate(names):
        x = left + n * (wide + GAP) + wide / 2
        items += box(x, row, wide, 30, fill_of("feed_forward"), [BoxLine(name, False, INK)], note_of(served))
        items.append(Line(((x, row), (middle, above)), LINE_STRONG, 1.0, 0.6))
        items.append(Line(((x, row + 30), (middle, row + 30 + STEP + 16)), LINE_STRONG, 1.0, 0.6))
    low = row + 30 + STEP + 16 + block_height(router)
    items += block_box(router, middle, low, room)
    items += arrow((middle, low + 18), (middle, low))
    items += text_lines(middle, low + 28, ["one token"])
    caption = (
        f"the router gives each expert a score; the {choice} with the highest serve the token, weighted by the softmax "
        f"of their {choice} scores · each expert: {served.parameters // experts:,} parameters; the operations of "
        f"{choice} are counted"
    )
    return Drawing(total, low + 38, tuple(items), f"Mixture of experts in the {place}", caption)


def ensemble_drawing(names: Sequence[str], outlines: Sequence[Outline], weights: Sequence[float]) -> Drawing:
    """The members of an ensemble and the mean of their probabilities."""
    boxes = [
        [
            BoxLine(name, True, INK),
            BoxLine(f"{outline.parameters:,} parameters"),
            BoxLine(number(outline.flops, "FLOPs")),
            BoxLine(f"weight a = {weight:.3g}", False, INK),
        ]
        for name, outline, weight in zip(names, outlines, weights, strict=True)
    ]
    wide = max(width_of(lines) for lines in boxes)
    total = len(boxes) * (wide + 3 * GAP) - 3 * GAP
    middle = total / 2
    mean = [BoxLine("Weighted mean", True, INK), BoxLine("P = Σ a P(next token)")]
    items: list[Item] = arrow((middle, 22), (middle, 6))
    room = width_of(mean)
    items += box(middle, 22, room, height_of(mean), PALETTE["good-soft"][0], mean)
    foot = 22 + height_of(mean)
    row = foot + 44
    centres = [n * (wide + 3 * GAP) + wide / 2 for n in range(len(boxes))]
    for x, lines, weight in zip(centres, boxes, weights, strict=True):
        ends = middle + (x - middle) * room / max(total, room) * 0.8
        items += arrow((x, row), (ends, foot), stroke=ACCENT, thick=0.8 + 2.5 * weight)
        items += box(x, row, wide, height_of(lines), fill_of("linear"), lines)
    low = row + max(height_of(lines) for lines in boxes)
    for x in centres:
        items += arrow((middle, low + 26), (x, low))
    items += text_lines(middle, low + 36, ["the same source and the same words so far"])
    caption = "every member predicts the next word by itself; the mean of their probabilities is searched"
    return Drawing(max(total, room, 290.0), low + 46, tuple(items), "Ensemble", caption)
