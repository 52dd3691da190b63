"""What `translate` returns."""

from __future__ import annotations

from regard.translation.translation import Candidate, distinct


def test_an_n_best_list_has_no_two_equal_strings() -> None:
    texts = ["a", "b", "a", "c", "b", "d"]
    found = [Candidate(text, -float(i), -float(i), (i,)) for i, text in enumerate(texts)]
    assert [c.ids for c in distinct(found, 3)] == [(0,), (1,), (3,)]
    assert [c.text for c in distinct(found, 9)] == ["a", "b", "c", "d"]
    assert distinct([], 2) == ()
