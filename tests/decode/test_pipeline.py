"""From units to translations."""

from __future__ import annotations

from regard.decode.pipeline import distinct_candidates
from regard.decode.translation import Candidate


def test_an_n_best_list_has_no_two_equal_strings() -> None:
    texts = ["a", "b", "a", "c", "b", "d"]
    found = [Candidate(text, -float(i), -float(i), (i,)) for i, text in enumerate(texts)]
    assert [c.ids for c in distinct_candidates(found)] == [(0,), (1,), (3,), (5,)]
    assert distinct_candidates([]) == []
