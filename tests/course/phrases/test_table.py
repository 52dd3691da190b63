"""The scores of phrases, by hand."""

from __future__ import annotations

import math

import pytest

from regard.align.numbered import NumberedPairs
from regard.course.phrases.table import SCORES, PhraseTable, build_table
from regard.errors import InputError

PAIRS = NumberedPairs.of([("the house", "la maison"), ("the house", "maison"), ("house", "maison")])
LINKS = [[(0, 0), (1, 1)], [(1, 0)], [(0, 0)]]


def scores(table: PhraseTable, source: str) -> dict[str, dict[str, float]]:
    numbers = [PAIRS.source_words.index(word) for word in source.split()]
    return {
        " ".join(PAIRS.target_words[n] for n in words): dict(zip(SCORES, map(math.exp, found), strict=True))
        for words, found in table.lookup(numbers)
    }


def test_the_four_scores_of_small_pairs() -> None:
    """Extracted: the – la; house – maison ×3; the house – la maison; the house – maison.

    w(la|the) = 1, w(maison|house) = 1, w(the|la) = 1, w(house|maison) = 1, w(the|NULL) = 1.
    """
    table = build_table(PAIRS, LINKS)
    assert set(scores(table, "the")) == {"la"}
    both = scores(table, "the house")
    assert set(both) == {"la maison", "maison"}
    assert both["maison"]["p(t|s)"] == pytest.approx(1 / 2)
    assert both["maison"]["p(s|t)"] == pytest.approx(1 / 4)
    assert both["la maison"]["p(s|t)"] == pytest.approx(1)
    assert scores(table, "house")["maison"]["p(s|t)"] == pytest.approx(3 / 4)
    assert table.lookup([1, 0]) == []


def test_lexical_weights_average_over_links_and_take_null_for_a_free_word() -> None:
    """a b – x y with a–x, b–x and y free; a – z. w(x|a) = 1/2, w(x|b) = 1, w(y|NULL) = 1; so lex(x y | a b) = 3/4."""
    pairs = NumberedPairs.of([("a b", "x y"), ("a", "z")])
    found = build_table(pairs, [[(0, 0), (1, 0)], [(0, 0)]]).lookup([0, 1])
    by_words = {tuple(words): dict(zip(SCORES, map(math.exp, some), strict=True)) for words, some in found}
    assert set(by_words) == {(0,), (0, 1)}  # y may belong to it or not
    assert by_words[0, 1]["lex(t|s)"] == pytest.approx((1 / 2 + 1) / 2)
    assert by_words[0, 1]["lex(s|t)"] == pytest.approx(1 / 2 * 1 / 2)  # w(a|x) = w(b|x) = 1/2


def test_pairs_without_a_link_are_refused() -> None:
    with pytest.raises(InputError, match="no link"):
        build_table(PAIRS, [[], [], []])


def test_only_the_best_translations_are_kept() -> None:
    pairs = NumberedPairs.of([("a", "x"), ("a", "y"), ("a", "y"), ("a", "z")])
    table = build_table(pairs, [[(0, 0)]] * 4, kept=2)
    assert next(pairs.target_words[words[0]] for words, _ in table.lookup([0])) == "y"
    assert len(table) == 2
