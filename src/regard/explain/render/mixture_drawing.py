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
from regard.report.colour import ACCENT, INK
from regard.report.drawing import SMALL, Drawing, Item, Label
from regard.report.palette import PALETTE

MOST = 8  # experts that are drawn
SIDE, GAP, STEP = 36.0, 8.0, 24.0
SUM, SERVES, IDLE = fill_of("add"), fill_of("feed_forward"), fill_of("linear")


def mixture_drawing(outline: Outline) -> Drawing | None:
    """Experts, router and their weighted sum, for one token, in the first mixture of a model; None if it has none."""
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
    room = block_width(router)
    added = [BoxLine("Σ g(e) FFN(e)", True, INK), BoxLine(f"{choice} experts, their weights g sum to 1")]
    middle = max(across, width_of(added)) / 2
    beside = 2 * middle + 3 * GAP + room / 2  # the router's middle
    items = arrow((middle, 14), (middle, 0)) + box(middle, 14, width_of(added), height_of(added), SUM, added)
    head = 14 + height_of(added)
    row = head + 2 * STEP
    low, token = row + 30, row + 30 + 2 * STEP
    known = [n for n in shown if n is not None]
    chosen = {known[(2 * n + 1) * len(known) // (2 * choice)] for n in range(choice)}  # an example
    for n, (expert, name) in enumerate(zip(shown, names, strict=True)):
        x = middle - across / 2 + n * (wide + GAP) + wide / 2
        serves = expert in chosen
        items += box(x, row, wide, 30, SERVES if serves else IDLE, [BoxLine(name, serves, INK)], note_of(served))
        if serves:
            items += arrow((middle, token), (x, low), stroke=ACCENT)
            items += arrow((x, row), (middle + (x - middle) / 3, head), stroke=ACCENT)
    items += text_lines(middle, token + 10, ["one token"])
    foot = row + 15 + block_height(router) / 2
    items += arrow((middle + 32, token + 10), (beside, token + 10), (beside, foot))
    items += block_box(router, beside, foot, room)
    level = 14 + height_of(added) / 2
    top = foot - block_height(router)
    items += arrow((beside, top), (beside, level), (middle + width_of(added) / 2, level))
    items.append(Label(beside - 6, (top + level) / 2, "g(e)", "right", SMALL, INK))
    caption = (
        f"blue: the {choice} experts that serve a token, here an example; only they read it · the router gives each "
        f"expert a score and takes the {choice} highest; the weights g(e) are the softmax of these {choice} scores · "
        f"each expert: {served.parameters // experts:,} parameters; the operations of {choice} are counted"
    )
    title = f"Mixture of experts in the {place}"
    return Drawing(beside + room / 2, token + 22, tuple(items), title, caption)


def ensemble_drawing(
    names: Sequence[str], outlines: Sequence[Outline], weights: Sequence[float], title: str, cost: str
) -> Drawing:
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
    caption = f"{cost} · every member predicts the next word by itself; the mean of their probabilities is searched"
    return Drawing(max(total, room, 290.0), low + 46, tuple(items), title, caption)
