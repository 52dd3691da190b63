"""Numbers to take along."""

from __future__ import annotations

import json

import numpy as np

from maps import hard
from regard.explain.render.figure import grid_data
from regard.report.json import dumps, rounded


def test_a_map_comes_back() -> None:
    grid = hard("emoji")
    found = json.loads(dumps(rounded(grid_data(grid))))
    assert (tuple(found["rows"]), tuple(found["columns"])) == (grid.rows, grid.columns)
    np.testing.assert_allclose(found["values"], grid.values, atol=5e-7)
    np.testing.assert_allclose(found["hidden"], grid.hidden, atol=5e-7)


def test_a_broken_row_is_null_and_says_why() -> None:
    found = json.loads(dumps(rounded(grid_data(hard("words", broken=True)))))
    assert set(found["values"][0]) == {None}
    assert found["problems"][0] == "not drawn: contains NaN or infinity"
