"""Counts and examples of what was dropped."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.data.clean_report import CleanReport, Examples
from regard.data.clean_rules import CleanConfig, Rule


@given(st.lists(st.integers(0, 50), unique=True), st.integers(0, 4))
def test_examples_are_those_of_the_least_order(orders: list[int], most: int) -> None:
    kept = Examples(most)
    for order in orders:
        kept.offer(order, (str(order),))
    assert [example["texts"] for example in kept.to_list()] == [[str(order)] for order in sorted(orders)[:most]]


def test_table_and_text() -> None:
    report = CleanReport(CleanConfig(), ("en", "fr"), show=1, read=10, kept=7)
    report.drop(Rule.LOOSE, 2, ("b", "c"), 0.25)
    report.drop(Rule.EMPTY, 2, ("", "second"))
    report.drop(Rule.EMPTY, 1, ("", "first"))
    report.scores(np.array([1, 2, 3, np.nan], np.float32))
    assert [row[:3] for row in report.table().rows] == [
        ["read", "10", ""],
        ["empty", "−2", "20.00%"],
        ["loose", "−1", "12.50%"],
        ["kept", "7", "70.00%"],
    ]
    text = report.text()
    assert "first" in text
    assert "second" not in text
    assert "b ⇥ c   (0.25)" in text
    assert report.figures["scores"]["0.5"] == 2
    assert report.figures["not_scored"] == 1
