"""The pictures of models: no label overlaps another one, leaves its box or the picture, for every preset."""

from __future__ import annotations

from itertools import combinations

import pytest

from regard.explain.diagram import ModelDiagram, diagram_of, diagram_of_size
from regard.explain.render.model_figure import model_output, panels
from regard.models.table import ARCHITECTURES
from regard.report.drawing import Box, Drawing, Label, framed
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
