"""One word and what it has to do with the others."""

from __future__ import annotations

import numpy as np
import pytest

from regard.align.attention import View
from regard.errors import InputError
from regard.explain.explanation import explain
from regard.explain.grid import trace_grid
from regard.explain.heads import arcs_of, find_word
from regard.explain.trace import Trace
from regard.translator import Translator

HEADS = [View(0, 0), View(0, 1)]


@pytest.fixture(scope="module")
def seen(translator: Translator) -> Trace:
    return explain(translator.bundle, "The dog sees the cat.").trace


def test_a_row_and_a_column_of_each_head(seen: Trace) -> None:
    arcs = arcs_of(seen, "dog", HEADS)
    assert arcs.word == 1
    for i, view in enumerate(HEADS):
        grid = trace_grid(seen, view, "encoder")
        np.testing.assert_array_equal(arcs.attends_to[i], grid.values[1])
        np.testing.assert_array_equal(arcs.attended_by[i], grid.values[:, 1])
    np.testing.assert_allclose(arcs.attends_to.sum(axis=1) + arcs.hidden, 1, atol=1e-5)


def test_cross_attention_has_one_of_the_two(seen: Trace) -> None:
    grid = trace_grid(seen, HEADS[1])
    target = arcs_of(seen, "chien", HEADS, "cross")
    assert (target.attended_by, target.others) == (None, grid.columns)
    np.testing.assert_array_equal(target.attends_to[1], grid.values[1])
    source = arcs_of(seen, "dog", HEADS, "cross", "source")
    assert (source.attends_to, source.others) == (None, grid.rows)
    np.testing.assert_array_equal(source.attended_by[1], grid.values[:, 1])
    assert "The dog" in source.title


def test_a_word_is_found_by_itself_by_its_turn_or_by_its_number() -> None:
    words = ("The", "cat", "saw", "the", "2")
    assert [find_word(words, w) for w in ("the", "The", "the:2", "CAT", "3", "2")] == [3, 0, 3, 1, 2, 4]
    for wrong, said in (("dog", "the words are: The cat"), ("the:3", "stands 2 times"), ("9", "1 to 5")):
        with pytest.raises(InputError, match=said):
            find_word(words, wrong)


def test_no_heads_no_arcs(seen: Trace) -> None:
    with pytest.raises(InputError, match="none is named"):
        arcs_of(seen, "dog", [])
