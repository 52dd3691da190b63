"""The fast counting against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.metrics.bleu import clipped_matches, most_in_one_reference, ngram_counts
from regard.metrics.ngrams import Ragged, matching

LINE = st.lists(st.integers(0, 3), max_size=14)  # few words, so that n-grams repeat


def ragged(lines: list[list[int]]) -> Ragged:
    return Ragged(np.array([token for line in lines for token in line], dtype=np.int64), np.array([*map(len, lines)]))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 6), st.data())
def test_equals_the_definition(lines, streams, order, data):
    hypotheses, *references = [[data.draw(LINE) for _ in range(lines)] for _ in range(1 + streams)]
    expected = [
        [
            clipped_matches(
                ngram_counts([*map(str, line)], n),
                most_in_one_reference(ngram_counts([*map(str, stream[i])], n) for stream in references),
            )
            for n in range(1, order + 1)
        ]
        for i, line in enumerate(hypotheses)
    ]
    assert matching(ragged(hypotheses), [ragged(stream) for stream in references], order).tolist() == expected


def test_an_ngram_does_not_run_over_the_end_of_a_line():
    hypotheses, reference = ragged([[1, 2], [3, 4]]), ragged([[1], [2, 3, 4]])
    assert matching(hypotheses, [reference], 2).tolist() == [[1, 0], [2, 1]]


def test_nothing_at_all():
    nothing = ragged([[], []])
    assert matching(nothing, [nothing], 3).tolist() == [[0, 0, 0], [0, 0, 0]]
