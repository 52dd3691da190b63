"""JSON that every parser reads, in a form that a person can read too."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.report.json import dumps, rounded

VALUES = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5) | st.floats(allow_nan=False)
DATA = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner))


def test_six_decimals_no_minus_zero_no_surrogates() -> None:
    assert dumps(rounded([1 / 3, -1e-9, float("inf"), 1, "\ud800"])) == '[0.333333, 0.0, null, 1, "?"]\n'


@given(DATA.filter(lambda data: "inf" not in str(data)))
def test_data_comes_back(data: object) -> None:
    text = dumps(data)
    assert json.loads(text) == json.loads(json.dumps(data).replace("\\ud", "\\ud"))


def test_what_is_no_number_is_null_and_numpy_is_plain() -> None:
    found = json.loads(dumps({"a": np.array([[1.5, np.nan]]), "b": np.float64("inf"), "c": np.int64(3), "d": (1, 2)}))
    assert found == {"a": [[1.5, None]], "b": None, "c": 3, "d": [1, 2]}


def test_plain_lists_are_one_line() -> None:
    assert dumps({"a": [1, 2], "b": [[1], {}], "c": {}}) == (
        '{\n  "a": [1, 2],\n  "b": [\n    [1],\n    {}\n  ],\n  "c": {}\n}\n'
    )
