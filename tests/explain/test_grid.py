"""One labelled map: labels and numbers agree, mass is accounted for, and no row that cannot be true gets through."""

from __future__ import annotations

import numpy as np
import pytest

from maps import hard
from regard.align.attention import View
from regard.errors import InputError
from regard.explain.alignment import Trust
from regard.explain.explanation import explain
from regard.explain.grid import BOS, EOS, Grid, make_grid, trace_grid
from regard.explain.trace import Kind, Trace
from regard.translator import Translator


@pytest.fixture(scope="module")
def seen(translator: Translator) -> Trace:
    return explain(translator.bundle, "The dog sees the cat.").trace


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
@pytest.mark.parametrize("row", ["predicting", "having-read"])
@pytest.mark.parametrize("words", [True, False])
def test_what_is_shown_and_what_is_hidden_sum_to_1(seen: Trace, kind: Kind, row: str, words: bool) -> None:
    grid = trace_grid(seen, View(0, 1, row), kind, words=words)  # type: ignore[arg-type]
    np.testing.assert_allclose(grid.values.sum(axis=1) + grid.hidden, 1, atol=1e-5)
    assert grid.problems == (None,) * len(grid.rows)
    assert grid.hidden_name == ("BOS" if kind == "decoder" else "EOS")
    assert not {BOS, EOS} & {*grid.rows, *grid.columns}


def test_labels_stand_where_their_numbers_are(seen: Trace) -> None:
    """Row by row against the trace's own arrays, EOS and BOS shown."""
    view, source, target = View(1, 0), (*seen.source_pieces[:-1], EOS), (*seen.target_pieces[:-1], EOS)
    cross = trace_grid(seen, view, words=False, specials=True)
    assert (cross.rows, cross.columns) == (target, source)
    np.testing.assert_allclose(cross.values, seen.cross[1][0])
    read = trace_grid(seen, View(1, 0, "having-read"), words=False, specials=True)
    assert read.rows == target[:-1]
    np.testing.assert_allclose(read.values, seen.cross[1][0][1:])  # row 1 has read the first piece
    own = trace_grid(seen, view, "decoder", words=False, specials=True)
    assert own.columns == (*target[:-1], BOS)
    np.testing.assert_allclose(own.values[:, -1], seen.decoder[1][0][:, 0])  # BOS is what position 0 has read
    np.testing.assert_allclose(own.values[2, 0], seen.decoder[1][0][2, 1])  # position 1 has read the first piece


def test_nobody_looks_ahead(seen: Trace) -> None:
    grid = trace_grid(seen, View(0), "decoder", words=False)
    assert np.triu(grid.values).max() == 0  # predicting a word, it has not been read


def test_an_alignment_error_rate_is_said_of_cross_attention_alone(seen: Trace) -> None:
    assert "AER 12.5% on ten pairs" in trace_grid(seen, View(0), trust=Trust(0.125, "ten pairs")).caption
    assert "AER" not in trace_grid(seen, View(0), "encoder", trust=Trust(0.125)).caption
    assert "predicting" not in trace_grid(seen, View(0), "encoder").caption


def test_a_row_with_a_problem_is_marked_and_others_are_not() -> None:
    grid = hard("words", broken=True)
    assert grid.problems[:3] == ("not drawn: contains NaN or infinity", "not drawn: sums to 1.300", None)


def test_a_map_that_hides_its_problem_is_refused() -> None:
    with pytest.raises(InputError, match="without a stated problem"):
        Grid(("a",), ("b",), np.array([[np.nan]]), np.zeros(1), "", "", (None,))
    with pytest.raises(InputError, match="1 × 2 labels must have as many values, but has 1 × 1"):
        make_grid(["a"], ["b", "c"], np.ones((1, 1)), np.zeros(1), "", "")
