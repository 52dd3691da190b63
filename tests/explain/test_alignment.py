"""Links and their error rate: by hand, and for aligners whose rates on hand-aligned text are known."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.align.attention import View, WordAttention, hard_links
from regard.errors import InputError
from regard.explain.alignment import (
    aer,
    aer_score,
    aer_stats,
    choose_view,
    diagonal,
    format_links,
    parse_links,
    precision_and_recall,
    transpose,
    view_aer,
)

GOLD = Path(__file__).parents[3] / "shared" / "data" / "gold-alignments"
LINKS = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)))


def attention(weights: list[list[float]]) -> WordAttention:
    table = np.array(weights, dtype=float)
    words, sources = table.shape
    return WordAttention(("s",) * sources, ("t",) * words, table, 1 - table.sum(axis=1))


# ------------------------------------------------------------------------------- links


def test_hard_links_take_the_most_looked_at():
    assert hard_links(attention([[0.1, 0.7], [0.6, 0.3]])) == {(1, 0), (0, 1)}


def test_rows_that_say_nothing_give_no_link():
    assert hard_links(attention([[0.0, 0.0], [np.nan, 0.5], [0.2, 0.1]])) == {(0, 2)}
    assert hard_links(WordAttention((), ("t",), np.zeros((1, 0)), np.ones(1))) == set()


def test_diagonal():
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(4, 2) == {(1, 0), (3, 1)}
    assert diagonal(0, 2) == diagonal(2, 0) == set()


def test_pharaoh():
    assert parse_links("") == (set(), set())
    assert parse_links("0-0 10-2\n") == ({(0, 0), (10, 2)}, {(0, 0), (10, 2)})
    assert parse_links("1-1 2p1", first=1) == ({(0, 0)}, {(0, 0), (1, 0)})
    assert format_links({(10, 2), (2, 1)}) == "2-1 10-2"
    assert format_links(set()) == ""


@given(LINKS)
def test_pharaoh_round_trip(links):
    assert parse_links(format_links(links))[0] == links
    assert transpose(transpose(links)) == links


@pytest.mark.parametrize(
    ("line", "first"), [("0:1", 0), ("0-", 0), ("a-b", 0), ("0-0 -1-2", 0), ("0-1", 1), ("²-1", 0)]
)
def test_links_that_are_none(line, first):
    with pytest.raises(InputError, match=f"counted from {first}, but is"):
        parse_links(line, first)


# ------------------------------------------------------------------------------- AER


def test_aer_by_hand():
    # three found, of which one sure and one more possible; two sure: 1 − (1 + 2) / (3 + 2)
    found, sure, possible = {(0, 0), (1, 1), (2, 2)}, {(0, 0), (3, 3)}, {(1, 1)}
    assert aer([found], [sure], [possible]) == pytest.approx(1 - 3 / 5)
    assert aer([found], [sure]) == pytest.approx(1 - 2 / 5)
    assert aer([set()], [sure]) == 1
    assert aer([set()], [set()]) == 0


def test_aer_is_of_the_sum_and_not_the_mean_of_sentences():
    links, sure = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}], [{(1, 1)}, {(0, 0), (1, 1), (2, 2)}]
    stats = aer_stats(links, sure)
    assert stats.tolist() == [[0, 0, 1, 1], [3, 3, 3, 3]]
    assert aer_score(stats) == pytest.approx(1 - 6 / 8)
    assert aer_score(stats[1:]) == 0


@given(st.lists(st.tuples(LINKS, LINKS), min_size=1, max_size=4))
def test_gold_against_itself_is_without_error(sentences):
    sure, possible = [s for s, _ in sentences], [p for _, p in sentences]
    assert aer(sure, sure) == 0
    assert aer(sure, sure, possible) == 0
    assert 0 <= aer(possible, sure, possible) <= 1


def test_alignments_of_different_sentences():
    with pytest.raises(InputError, match="1 found, 2 sure and 2 possible"):
        aer([set()], [set(), set()])


def read(name: str) -> list[str]:
    return lzma.decompress((GOLD / f"{name}.xz").read_bytes()).decode().split("\n")[:-1]


@pytest.mark.skipif(not GOLD.exists(), reason="the hand-aligned sentences are not here")
@pytest.mark.parametrize(
    ("system", "percent"),
    [
        ("enfr.fastalign.forward", 16.4),
        ("enfr.fastalign.reverse", 15.9),
        ("enfr.fastalign.grow-diagonal", 10.5),
        ("enfr.giza.forward", 8.0),
        ("enfr.giza.reverse", 9.8),
        ("enfr.giza.grow-diagonal", 5.9),
        ("roen.fastalign.grow-diagonal", 32.1),
    ],
)
def test_known_aligners(system, percent):
    gold = [parse_links(line, first=1) for line in read(f"{system[:4]}.gold.1indexed.talp")]
    found = [parse_links(line)[0] for line in read(f"systems/{system}.talp")]
    if system.endswith("reverse"):
        found = [transpose(links) for links in found]
    rate = aer(found, [sure for sure, _ in gold], [possible for _, possible in gold])
    assert 100 * rate == pytest.approx(percent, abs=0.05)


def test_precision_and_recall():
    """Och and Ney's: precision asks for possible links, recall for sure ones."""
    stats = aer_stats([{(0, 0), (1, 1), (2, 2)}], [{(0, 0), (3, 3)}], [{(0, 0), (3, 3), (1, 1)}])
    assert precision_and_recall(stats) == (2 / 3, 1 / 2)
    assert aer_score(stats) == 1 - (1 + 2) / (3 + 2)
    assert precision_and_recall(aer_stats([set()], [set()])) == (1, 1)


# ------------------------------------------------------------------------------- views


def test_the_view_with_the_fewest_errors_is_chosen():
    straight, crossed = {(0, 0), (1, 1)}, {(1, 0), (0, 1)}
    good, bad = View(1, 2, "having-read"), View(0)
    maps = [{bad: crossed, good: straight}, {bad: straight, good: straight}]
    gold = [{(0, 0), (1, 1)}] * 2
    choice = choose_view(maps, gold)
    assert choice.view == good
    assert choice.aer == 0
    assert choice.by_view == {bad: 0.5, good: 0.0}
    assert view_aer(maps[:1], bad, gold[:1]) == 1
    assert choose_view(maps, gold, row="predicting").view == bad


def test_of_equal_views_the_simplest():
    views = [View(0, 1), View(1, None, "having-read"), View(1, None), View(2, None)]
    assert choose_view([{view: {(0, 0)} for view in views}], [{(0, 0)}]).view == View(1, None)


def test_no_sentences_to_choose_on():
    with pytest.raises(InputError, match="there are none"):
        choose_view([], [])
