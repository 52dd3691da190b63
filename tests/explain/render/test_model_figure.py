"""The pictures of models: no label overlaps another one, leaves its box or the picture, for every preset."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from regard.explain.diagram import ModelDiagram, diagram_of, diagram_of_size, of_kind
from regard.explain.render.mixture_drawing import mixture_drawing
from regard.explain.render.model_figure import model_output, panels
from regard.explain.render.reach_drawing import reach_drawing
from regard.explain.render.stack_drawing import stack_drawing
from regard.explain.render.unrolled_drawing import WARM, unrolled_drawing
from regard.models.table import ARCHITECTURES
from regard.report.colour import ACCENT
from regard.report.drawing import Box, Dot, Drawing, Label, Line, framed
from regard.translator import Translator

LONG = "The internationalisation of the antidisestablishmentarianism was extraordinarily expensive, wasn't it?"
SIZES = [
    (name, preset)
    for name, known in ARCHITECTURES.items()
    for preset in known.presets
    if preset != "moe-2048"  # thousands of modules
]


def area(label: Label) -> tuple[float, float, float, float]:
    xs, ys = zip(*label.corners(), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def check(drawing: Drawing) -> None:
    areas = [(label, area(label)) for label in drawing.labels]
    for label, (left, top, right, bottom) in areas:
        assert left >= -0.5, label
        assert right <= drawing.width + 0.5, label
        assert top >= -0.5, label
        assert bottom <= drawing.height + 0.5, label
    for (one, (a, b, c, d)), (other, (e, f, g, h)) in combinations(areas, 2):
        # lines of one box stand as close as their letters allow: a line is 1.3 em high
        overlap = min(c, g) - max(a, e) > 0.5 and min(d, h) - max(b, f) > 2.5
        assert not overlap, (one, other)
    boxes = [item for item in drawing.items if isinstance(item, Box) and item.round]
    for label, (left, _, right, _) in areas:
        around = [b for b in boxes if b.x < label.x < b.x + b.width and b.y < label.y < b.y + b.height]
        if around:
            inner = min(around, key=lambda b: b.width * b.height)
            assert inner.x - 0.5 <= left, label
            assert right <= inner.x + inner.width + 0.5, label


def check_all(diagram: ModelDiagram) -> None:
    for drawing in panels(diagram):
        check(framed(drawing))
    check(model_output(diagram).drawing())


@pytest.mark.parametrize(("architecture", "preset"), SIZES)
def test_no_label_overlaps_or_leaves_its_box(architecture: str, preset: str) -> None:
    check_all(diagram_of_size([architecture], preset))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_long_words_and_large_vocabularies(architecture: str) -> None:
    check_all(diagram_of_size([architecture], "tiny", LONG, vocabulary=1_000_000))


def test_ensembles() -> None:
    check_all(diagram_of_size(["transformer", "rnn", "moe"], "tiny"))


def test_a_trained_model(translator: Translator) -> None:
    check_all(diagram_of(translator, "the cat sleeps ."))


# ── what lines say ──────────────────────────────────────────────────────────────────────────────────────────────────


def shared(one: Line, other: Line) -> bool:
    """Whether two lines along the axes run on top of each other somewhere."""
    for (a, b), (c, d) in ((s, t) for s in pairwise(one.points) for t in pairwise(other.points)):
        for axis in (0, 1):
            alike = a[axis] == b[axis] == c[axis] == d[axis]
            low, high = ((min if n else max)(*(f(p[1 - axis], q[1 - axis]) for p, q in ((a, b), (c, d))))
                         for n, f in ((0, min), (1, max)))  # fmt: skip
            if alike and high - low > 1:
                return True
    return False


@pytest.mark.parametrize("preset", ["tiny", "small", "bahdanau"])
def test_the_lines_of_memory_and_bridge_are_apart(preset: str) -> None:
    found = diagram_of_size(["rnn-attention"], preset)
    drawing = stack_drawing(found.outline, found.source, found.read, "", "")
    memory, bridge = (
        item for item in drawing.items if isinstance(item, Line) and len(item.points) == 4 and item.width == 1.6
    )
    assert not shared(memory, bridge)


def test_columns_side_by_side_have_lines_of_their_own() -> None:
    found = diagram_of_size(["deep-att"], "small")
    drawing = stack_drawing(found.outline, found.source, found.read, "", "")
    columns = {label.x for label in drawing.labels if label.text.endswith("by layer")}
    upright = [item.points for item in drawing.items if isinstance(item, Line) and len(item.points) == 2]
    ends = {x: [a for a, b in upright if a[0] == b[0] == x] for x in columns}
    assert len(columns) == 2
    assert all(len(lines) == 3 for lines in ends.values())  # between the first layers, and at the frame of the others


@pytest.mark.parametrize("preset", ["tiny", "small", "sutskever"])
def test_the_state_of_each_layer_goes_to_the_same_layer(preset: str) -> None:
    found = diagram_of_size(["rnn"], preset)
    drawing = unrolled_drawing(found, found.outline)
    assert drawing is not None
    lines = [item.points for item in drawing.items if isinstance(item, Line) and item.stroke == WARM]
    ends = sorted((line[0][1], line[-1][1]) for line in lines if len(line) == 6)
    assert len(ends) == len(of_kind(found.outline, "Encoder", "recurrent"))
    assert all(a[1] < b[1] for a, b in pairwise(ends))


def test_a_reversed_source_is_drawn_reversed() -> None:
    found = diagram_of_size(["rnn"], "sutskever", "I love it", "Je l'aime")
    drawing = unrolled_drawing(found, found.outline)
    assert drawing is not None
    at = {label.text: label.x for label in drawing.labels}
    assert at["it"] < at["love"] < at["I"] < at["h(4)"] + 1


def test_states_are_named_in_the_layer_that_asks() -> None:
    found = diagram_of_size(["rnn-attention"], "small")
    drawing = unrolled_drawing(found, found.outline)
    assert drawing is not None
    heights = {label.text: label.y for label in drawing.labels}
    first = max(label.y for label in drawing.labels if label.text == "s(0)")
    assert heights["Combine"] < heights["s(1)"] < first


def test_every_column_of_bytenet_is_drawn() -> None:
    found = diagram_of_size(["bytenet"], "bytenet")
    drawing = reach_drawing(found.outline, "Encoder", found.source)
    assert drawing is not None
    places = {item.x for item in drawing.items if isinstance(item, Dot)}
    assert len(places) == of_kind(found.outline, "Encoder", "convolution")[0].shape[0] == 8
    assert [label.text for label in drawing.labels].count("blank") == 8 - len(found.source)


@pytest.mark.parametrize("preset", ["small", "moe"])
def test_experts_that_serve_read_the_token(preset: str) -> None:
    found = diagram_of_size(["moe"], preset)
    drawing = mixture_drawing(found.outline)
    ((chosen, _),) = {b.chosen for b in of_kind(found.outline, "Encoder", "mixture") if b.chosen}
    assert drawing is not None
    lines = [item.points for item in drawing.items if isinstance(item, Line) and item.stroke == ACCENT]
    ends = [line for line in lines if len(line) == 2]
    token = max(line[0] for line in ends if line[0][1] == max(point[1] for line in ends for point in line))
    assert sum(line[0] == token for line in ends) == len(ends) / 2 == chosen
