"""A mixture of experts, and an ensemble: several networks of which some or all answer."""

from __future__ import annotations

from collections.abc import Sequence

from regard.explain.render.diagram_parts import (
    BoxLine,
    arrow,
    box,
    fill_of,
    height_of,
    lines_of,
    note_of,
    number,
    text_lines,
    width_of,
)
from regard.models.outline import Block, Outline
from regard.report.colour import ACCENT, INK, LINE_STRONG, QUIET
from regard.report.drawing import SMALL, Drawing, Item, Label, Line
from regard.report.palette import PALETTE

MOST = 8  # experts that are drawn
SIDE, GAP, STEP = 36.0, 8.0, 24.0


def mixtures(outline: Outline) -> list[tuple[str, Block]]:
    """The first mixture of each side."""
    found: dict[str, Block] = {}
    for one, _, block in outline.walk():
        if block.kind == "mixture":
            found.setdefault(one.name, block)
    return list(found.items())[:1]


def mixture_drawing(place: str, block: Block) -> Drawing:
    """Router, experts and their weighted sum, for one token."""
    assert block.chosen is not None
    choice, experts = block.chosen
    router, served = block.parts
    shown = list(range(experts)) if experts <= MOST else [*range(MOST - 2), None, experts - 1]
    names = ["…" if n is None else f"{n + 1:,}" for n in shown]
    wide = max(SIDE, max(BoxLine(name).width for name in names) + 10)
    across = len(shown) * (wide + GAP) - GAP
    sum_line = BoxLine(f"Σ g(e) FFN(e): {choice} experts, their weights sum to 1", False, INK)
    total = max(across, sum_line.width, width_of(lines_of(router)))
    middle, left = total / 2, (total - across) / 2
    items: list[Item] = text_lines(middle, 14.0, [sum_line.text], fill=INK)
    above = 26.0
    row = above + STEP + 12
    for n, name in enumerate(names):
        x = left + n * (wide + GAP) + wide / 2
        items += box(x - wide / 2, row, wide, 30, fill_of("feed_forward"), [BoxLine(name, False, INK)], note_of(served))
        items.append(Line(((x, row), (middle, above)), LINE_STRONG, 1.0, 0.6))
        items.append(Line(((x, row + 30), (middle, row + 30 + STEP + 16)), LINE_STRONG, 1.0, 0.6))
    facts = f"each expert: {served.parameters // experts:,} parameters"
    foot = row + 30 + STEP + 16
    lines = lines_of(router)
    room = width_of(lines)
    items += box(middle - room / 2, foot, room, height_of(lines), fill_of("linear"), lines, note_of(router))
    low = foot + height_of(lines)
    items += arrow((middle, low + 18), (middle, low))
    items += text_lines(middle, low + 28, ["one token"])
    caption = (
        f"the router gives each expert a score; the {choice} with the highest serve the token, weighted by the softmax "
        f"of their {choice} scores · {facts}; the operations of {choice} are counted"
    )
    return Drawing(total, low + 38, tuple(items), f"Mixture of experts in the {place.lower()}", caption)


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
    items += box(middle - room / 2, 22, room, height_of(mean), PALETTE["good-soft"][0], mean)
    foot = 22 + height_of(mean)
    row = foot + 44
    for n, (lines, weight) in enumerate(zip(boxes, weights, strict=True)):
        x = n * (wide + 3 * GAP) + wide / 2
        ends = middle + (x - middle) * room / max(total, room) * 0.8
        items += arrow((x, row), (ends, foot), stroke=ACCENT, thick=0.8 + 2.5 * weight)
        items += box(x - wide / 2, row, wide, height_of(lines), fill_of("linear"), lines)
    low = row + max(height_of(lines) for lines in boxes)
    for n in range(len(boxes)):
        x = n * (wide + 3 * GAP) + wide / 2
        items += arrow((middle, low + 26), (x, low))
    items += [Label(middle, low + 36, "the same source and the same words so far", "middle", SMALL, QUIET)]
    caption = "every member predicts the next word by itself; the mean of their probabilities is searched"
    return Drawing(max(total, room, 290.0), low + 46, tuple(items), "Ensemble", caption)
