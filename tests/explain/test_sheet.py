"""All heads on one sheet."""

from __future__ import annotations

import math

import numpy as np
import pytest

from regard.align.attention import View
from regard.explain.alignment import Trust
from regard.explain.explanation import explain
from regard.explain.grid import Grid
from regard.explain.heads import entropy, sheet_of
from regard.explain.trace import Kind
from regard.translator import Translator


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_every_head_has_its_place(translator: Translator, kind: Kind) -> None:
    seen = explain(translator.bundle, "The dog sees the cat.").trace
    sheet = sheet_of(seen, kind, known={View(0, 1): Trust(0.25, "ten pairs")})
    assert [[t.view for t in layer] for layer in sheet.layers] == [
        [View(layer, head) for head in range(len(maps))] for layer, maps in enumerate(getattr(seen, kind))
    ]
    assert [t.trust for layer in sheet.layers for t in layer].count(Trust(0.25, "ten pairs")) == 1


def test_entropy_is_that_of_the_whole_row() -> None:
    values, hidden = np.array([[0.25, 0.25], [1.0, 0.0]]), np.array([0.5, 0.0])
    assert entropy(Grid(("a", "b"), ("c", "d"), values, hidden, "", "", (None, None))) == pytest.approx(0.75)
    broken = Grid(("a",), ("b",), np.array([[np.nan]]), np.zeros(1), "", "", ("not drawn",))
    assert math.isnan(entropy(broken))
