"""The diagram of a model as output: pictures for a file or a page, a table for a terminal, and data."""

from __future__ import annotations

from regard.explain.diagram import ModelDiagram, diagram_data
from regard.explain.render.attention_drawing import attention_drawings
from regard.explain.render.diagram_parts import number, sizes
from regard.explain.render.mixture_drawing import ensemble_drawing, mixture_drawing
from regard.explain.render.reach_drawing import reach_drawing
from regard.explain.render.stack_drawing import stack_drawing
from regard.explain.render.step_drawing import step_drawing
from regard.explain.render.unrolled_drawing import unrolled_drawing
from regard.models.outline import Block, Outline
from regard.report.deliver import Output
from regard.report.drawing import Drawing, framed, gathered
from regard.report.json import rounded
from regard.report.page import page, picture
from regard.report.table import Table

BOXES = (
    "read from below to above · a box: its name, what leaves it (positions × numbers), its parameters, its operations"
)


def model_output(diagram: ModelDiagram) -> Output:
    return Output(
        text=lambda: f"{heading(diagram)}\n{summary(diagram)}\n\n{blocks_table(diagram).text()}",
        data=lambda: rounded(diagram_data(diagram)),
        markdown=lambda: f"# {heading(diagram)}\n\n{summary(diagram)}\n\n{blocks_table(diagram).markdown()}",
        page=lambda: page(heading(diagram), "\n".join([*map(picture, panels(diagram)), blocks_table(diagram).html()])),
        drawing=lambda: gathered([framed(one) for one in panels(diagram)]),
    )


def heading(diagram: ModelDiagram) -> str:
    return f"{diagram.name}: {diagram.parameters:,} parameters"


def summary(diagram: ModelDiagram) -> str:
    return f"{cost(diagram, diagram.flops)}, EOS counted: {' '.join(diagram.source)}"


def cost(diagram: ModelDiagram, flops: float) -> str:
    source, target = len(diagram.source), len(diagram.predicted)
    return f"{number(flops, 'FLOPs')} for {source} source tokens and {target} target tokens"


def panels(diagram: ModelDiagram) -> list[Drawing]:
    """The pictures of a model, the whole first; which ones follow depends on its blocks."""
    diagram = diagram.shown()
    members = diagram.members
    if not diagram.outline.members:
        return member_panels(diagram, members[0], heading(diagram))
    names = diagram.name.split(" + ")
    if len(names) != len(members):
        names = [f"member {n}" for n in range(1, len(members) + 1)]
    title = f"Ensemble: {diagram.parameters:,} parameters"
    found = [ensemble_drawing(names, members, diagram.outline.weights, title, cost(diagram, diagram.flops))]
    drawn: list[object] = []
    for name, member in zip(names, members, strict=True):
        sizes_of = [(layer.count, layer.signature) for one in member.folded().sides for layer in one.layers]
        if sizes_of not in drawn:  # members of one size are drawn once
            drawn.append(sizes_of)
            found += member_panels(diagram, member, f"{name}: {member.parameters:,} parameters")
    return found


def member_panels(diagram: ModelDiagram, outline: Outline, title: str) -> list[Drawing]:
    caption = f"{cost(diagram, outline.flops)} · {legend(outline)}"
    found = [
        stack_drawing(outline, diagram.source, diagram.read, title, caption),
        unrolled_drawing(diagram, outline),
        *attention_drawings(outline),
        None if diagram.step is None else step_drawing(diagram.step),
        mixture_drawing(outline),
        reach_drawing(outline, "Encoder", diagram.source),
        reach_drawing(outline, "Decoder", diagram.read),
    ]
    return [drawing for drawing in found if drawing is not None]


def legend(outline: Outline) -> str:
    """How the picture of the whole is read, with the signs that it has."""
    layers = [layer for one in outline.folded().sides for layer in one.layers]
    subs = [sub for layer in layers for sub in layer.sublayers]
    signs = [
        (any(block.kind == "norm" for layer in layers for block in layer.blocks), "on a norm: parameters"),
        (any(layer.count > 1 for layer in layers), "× N: N layers of this size"),
        (any(sub.residual for sub in subs), "a line past boxes to Add: their input is added to their output"),
        (any(block.inputs for layer in layers for block in layer.blocks), "[a; b]: a and b side by side"),
        (any(sub.asked_by_last for sub in subs), "dashed: the state of the step before, which asks"),
        (bool(outline.memory), "from encoder to decoder: what it reads of the source"),
        (outline.bridge is not None, "from Bridge: s(0), the first state of each layer"),
    ]
    return " · ".join([BOXES, *(text for seen, text in signs if seen)])


# ── as a table ──────────────────────────────────────────────────────────────────────────────────────────────────────


def blocks_table(diagram: ModelDiagram) -> Table:
    """A row for each block, equal layers once; the sums are the model's."""
    places = [f"member {n} " for n, _ in enumerate(diagram.outline.members, 1)] or [""]
    rows = [row for place, member in zip(places, diagram.members, strict=True) for row in _rows(place, member)]
    total = ["", "all", "", f"{diagram.parameters:,}", number(diagram.flops, "FLOPs")]
    return Table(["where", "block", "leaves", "parameters", "operations"], [*rows, total], left=(0, 1, 2))


def _rows(place: str, outline: Outline) -> list[list[str]]:
    found = []
    for one in outline.folded().sides:
        for layer in one.layers:
            times = f" × {layer.count}" if layer.count > 1 else ""
            for block in layer.blocks:
                found.append(_row(f"{place}{one.name.lower()}{times}", block))
                found += [_row("", part, "· ") for part in block.parts]
        if one.name == "Encoder" and outline.bridge is not None:
            found.append(_row(f"{place}between", outline.bridge))
    return found


def _row(where: str, block: Block, mark: str = "") -> list[str]:
    parameters = f"{block.parameters:,}" if block.parameters else "shared" if block.shared else ""
    cost = number(block.flops, "FLOPs") if block.flops else ""
    return [where, mark + block.name, sizes(block.shape), parameters, cost]
