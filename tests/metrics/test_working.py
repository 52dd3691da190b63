"""The working of a score: its numbers are those of `Bleu`, its sums add up, and its reasons are true."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.metrics.bleu import REFERENCE_LENGTHS, SMOOTHING, Bleu, bleu, ngram_counts
from regard.metrics.bleu_steps import EXTREMES, explain_bleu, longest_matches
from regard.metrics.ngram_tables import NGramRow

DATA = Path(__file__).parents[3] / "shared" / "data"
WMT17, MULTEVAL = DATA / "wmt17-en-de-systems", DATA / "multeval-example"


def read(path, lines=500):
    return lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")[:lines]


def why(hypothesis, references, **options):
    """The reasons for one line's score, as one text."""
    return "\n".join(explain_bleu(Bleu(**options), [hypothesis], [[one] for one in references]).reasons)


# ------------------------------------------------------------------------------- the score is the score

LINE = st.lists(st.sampled_from(["a", "A", "b", "c", "d.", ".", "&quot;", "你好", "\ufeff"]), max_size=9).map(" ".join)


@st.composite
def corpora(draw):
    """Hypotheses and streams of references; streams after the first may lack lines."""
    lines, streams = draw(st.integers(1, 9)), draw(st.integers(0, 2))
    references = [[draw(LINE | st.none()) for _ in range(lines)] for _ in range(streams)]
    return [draw(LINE) for _ in range(lines)], [[draw(LINE) for _ in range(lines)], *references]


@st.composite
def metrics(draw):
    order = draw(st.integers(1, 5))
    parts = draw(st.none() | st.lists(st.integers(0, 4), min_size=order, max_size=order).filter(any))
    return Bleu(
        tokenize=draw(st.sampled_from(["13a", "none", "intl", "char"])),
        lowercase=draw(st.booleans()),
        smooth=draw(st.sampled_from(sorted(SMOOTHING))),
        smooth_value=draw(st.sampled_from([None, 0.0, 0.3, 2.0])),
        max_order=order,
        weights=None if parts is None else tuple(part / sum(parts) for part in parts),
        ref_length=draw(st.sampled_from(REFERENCE_LENGTHS)),
        effective_order=draw(st.booleans()),
    )


@settings(max_examples=40, deadline=None)
@given(metrics(), corpora(), st.integers(0, 3))
def test_a_corpus_adds_up_to_the_metrics_own_score(metric, corpus, most):
    hypotheses, references = corpus
    working = explain_bleu(metric, hypotheses, references, most=most)
    assert working.score == metric.score(metric.stats(hypotheses, references))
    assert working.score.score == working.score.bp * working.mean
    for order, correct, total in zip(working.orders, working.score.correct, working.score.total, strict=True):
        assert (order.correct, order.total) == (correct, total)
        assert 100 * order.matches == pytest.approx(order.precision * order.ngrams)
        listed = {table.kind: table for table in order.tables}
        if len(hypotheses) > 1:
            assert max(len(table.rows) for table in order.tables) <= most
            lost = sum(row.count - row.clipped for row in listed["lost"].rows) + listed["lost"].more_credit
            gained = sum(row.clipped for row in listed["gained"].rows) + listed["gained"].more_credit
            assert (lost, gained) == (total - correct, correct)


@settings(max_examples=40, deadline=None)
@given(metrics(), corpora(), st.data())
def test_a_line_adds_up_to_the_metrics_own_score(metric, corpus, data):
    hypotheses, references = corpus
    line = data.draw(st.integers(1, len(hypotheses)))
    working = explain_bleu(metric, hypotheses, references, line=line)
    alone = metric.stats([hypotheses[line - 1]], [[stream[line - 1]] for stream in references])
    assert working.score == metric.score(alone)
    assert working.score.score == working.score.bp * working.mean
    assert (working.line, working.lines) == (line, len(hypotheses))
    for order in working.orders:
        (table,) = order.tables
        assert sum(row.count for row in table.rows) == order.total
        assert sum(row.clipped for row in table.rows) == order.correct
        assert all(row.clipped == min(row.count, row.most) for row in table.rows)
    json.dumps(working.to_dict(), allow_nan=False)


@pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")
def test_a_real_system_is_explained_to_sacrebleus_number():
    hypotheses, reference = (
        read(WMT17 / "newstest2017.online-A.0.en-de.xz"),
        read(WMT17 / "newstest2017.reference.de.xz"),
    )
    working = explain_bleu(Bleu(), hypotheses, reference, most=5)
    assert working.score == bleu(hypotheses, reference)
    assert str(working.score) == str(sacrebleu.corpus_bleu(hypotheses, [reference]))
    assert all(len(table.rows) == 5 for order in working.orders for table in order.tables)


@pytest.mark.skipif(not MULTEVAL.exists(), reason="the multi-reference example is not here")
def test_four_references_are_explained_to_sacrebleus_number():
    hypotheses = read(MULTEVAL / "set1_set1.out.0.xz")
    references = [read(MULTEVAL / f"set1_set1.ref{i}.xz") for i in range(4)]
    working = explain_bleu(Bleu(tokenize="none"), hypotheses, references)
    assert str(working.score) == str(sacrebleu.corpus_bleu(hypotheses, references, tokenize="none", force=True))
    lengths = tuple(sum(len(line.split()) for line in stream) for stream in references)
    assert working.ref_lens == lengths


# ------------------------------------------------------------------------------- n-grams, by hand


def test_ngrams_of_a_line_stand_in_order_of_appearance():
    references = [["The cat is on the mat"], ["There is a on the mat"]]
    working = explain_bleu(Bleu(tokenize="none"), ["the cat the cat on the mat"], references)
    assert [(" ".join(row.ngram), row.count, row.most, row.clipped) for row in working.orders[1].tables[0].rows] == [
        ("the cat", 2, 0, 0),
        ("cat the", 1, 0, 0),
        ("cat on", 1, 0, 0),
        ("on the", 1, 1, 1),
        ("the mat", 1, 1, 1),
    ]


def test_the_most_is_of_one_reference_not_of_their_sum():
    working = explain_bleu(Bleu(max_order=1), ["a a a b"], [["a a c c"], ["a b b b"]])
    assert working.orders[0].tables[0].rows == (NGramRow(("a",), 3, 2, 2), NGramRow(("b",), 1, 3, 1))


def test_a_corpus_is_clipped_line_by_line():
    """Summed first, 3 against 3 would lose nothing."""
    working = explain_bleu(Bleu(max_order=1), ["a a b", "a"], ["a b", "a a"])
    lost, gained = working.orders[0].tables
    assert lost.rows == (NGramRow(("a",), 3, 3, 2),)
    assert gained.rows == (NGramRow(("a",), 3, 3, 2), NGramRow(("b",), 1, 1, 1))


def test_what_is_not_listed_is_counted():
    working = explain_bleu(Bleu(max_order=1), ["a a b c", "x y"], ["a a b d", "z z"], most=1)
    lost, gained = working.orders[0].tables
    assert (lost.kind, lost.rows, lost.more, lost.more_credit) == ("lost", (NGramRow(("c",), 1, 0, 0),), 2, 2)
    assert (gained.kind, gained.rows, gained.more, gained.more_credit) == ("gained", (NGramRow(("a",), 2, 2, 2),), 1, 1)


def test_smoothed_fractions():
    lines = ["the the the the the the"], ["the cat is on the mat"]
    exp = explain_bleu(Bleu(), *lines).orders
    assert [(order.matches, order.ngrams) for order in exp] == [(2, 6), (0.5, 5), (0.25, 4), (0.125, 3)]
    added = explain_bleu(Bleu(smooth="add-k"), *lines).orders
    assert [(order.matches, order.ngrams) for order in added] == [(2, 6), (1, 6), (1, 5), (1, 4)]
    nothing = explain_bleu(Bleu(smooth="add-k", max_order=2), ["x y"], ["a b"]).orders
    assert [(order.matches, order.ngrams) for order in nothing] == [(0, 2), (0, 1)]


def test_weights_are_those_of_the_orders_in_the_mean():
    working = explain_bleu(Bleu(effective_order=True), ["a b"], ["a b c"])
    assert [order.weight for order in working.orders] == [0.5, 0.5, 0, 0]
    assert [order.left_out for order in working.orders] == [False, False, True, True]
    weighed = explain_bleu(Bleu(effective_order=True, weights=(0.1, 0.3, 0.3, 0.3)), ["a b"], ["a b c"])
    assert [order.weight for order in weighed.orders] == pytest.approx([0.25, 0.75, 0, 0])


# ------------------------------------------------------------------------------- which tokens are lit


@pytest.mark.parametrize(
    ("hypothesis", "reference", "hypothesis_lit", "reference_lit"),
    [
        ("The cat is on mat", "The cat is on the mat", (4, 4, 4, 4, 1), (4, 4, 4, 4, 0, 1)),
        ("the the the", "the cat the", (1, 1, 0), (1, 0, 1)),
        ("the the cat", "the cat", (0, 2, 2), (2, 2)),  # one "the" is credited: the one of "the cat"
        ("a x b a", "b a", (0, 0, 2, 2), (2, 2)),  # and the one of "b a"
        ("x y", "a b", (0, 0), (0, 0)),
        ("", "a", (), (0,)),
    ],
)
def test_lit_by_hand(hypothesis, reference, hypothesis_lit, reference_lit):
    (shown,) = explain_bleu(Bleu(tokenize="none"), [hypothesis], [reference]).shown
    assert [text.longest for text in shown.texts] == [hypothesis_lit, reference_lit]


TOKENS = st.lists(st.sampled_from("abc"), max_size=8)


@given(TOKENS, TOKENS, st.integers(1, 4))
def test_lit_tokens_are_in_a_match_of_that_length(hypothesis, reference, order):
    both = [ngram_counts(hypothesis, n) & ngram_counts(reference, n) for n in range(1, order + 1)]
    longest = longest_matches(hypothesis, both)
    assert sum(n > 0 for n in longest) >= both[0].total()
    assert max(longest, default=0) == sum(bool(counts) for counts in both)
    for i, n in enumerate(longest):
        windows = [tuple(hypothesis[j : j + n]) for j in range(max(0, i - n + 1), min(i, len(hypothesis) - n) + 1)]
        assert n == 0 or any(window in both[n - 1] for window in windows)


def test_a_text_against_itself_is_lit_throughout():
    tokens = list("ababc")
    assert longest_matches(tokens, [ngram_counts(tokens, n) for n in (1, 2, 3)]) == (3, 3, 3, 3, 3)


def test_extreme_lines_are_shown_once_and_of_equals_the_longer_first():
    hypotheses = ["a b c d e", "x y", "x y z", "a b", "a c", "x", "a b c d", "a b c x"]
    references = ["a b c d e", "u v", "u v w", "a b", "a b", "u", "a b c d", "a b c d"]
    shown = explain_bleu(Bleu(), hypotheses, references).shown
    assert [(one.why, one.line) for one in shown] == [
        ("lowest", 3),
        ("lowest", 2),
        ("lowest", 6),
        ("highest", 1),
        ("highest", 7),
        ("highest", 4),
    ]
    assert [one.score for one in shown] == pytest.approx([0, 0, 0, 100, 100, 100])
    few = explain_bleu(Bleu(), hypotheses[:4], references[:4]).shown
    assert sorted(one.line for one in few) == [1, 2, 3, 4]
    assert sum(one.why == "lowest" for one in few) == EXTREMES


def test_a_gap_is_no_reference():
    streams = [["a b", "c d"], [None, "c e f"]]
    first, second = (explain_bleu(Bleu(), ["a b", "c e"], streams, line=line) for line in (1, 2))
    assert [text.name for text in first.shown[0].texts] == ["hypothesis", "reference 1"]
    assert [text.name for text in second.shown[0].texts] == ["hypothesis", "reference 1", "reference 2"]
    assert (first.ref_lens, second.ref_lens) == ((2, None), (2, 3))
    assert explain_bleu(Bleu(), ["a b", "c e"], streams).ref_lens == (4, 3)


# ------------------------------------------------------------------------------- reasons


def test_zero_because_nothing_smooths_a_missing_order():
    hypothesis, reference = "the cat sat on the mat", "the cat is on the mat"
    would_be = bleu([hypothesis], [reference]).score
    said = why(hypothesis, [reference], smooth="none")
    assert "No 4-gram is in a reference, and smoothing is none" in said
    assert f"exactly zero; with smooth = exp it would be {would_be:.2f}" in said
    assert would_be > 0
    assert "smoothing (floor) has the value 0" in why(hypothesis, [reference], smooth="floor", smooth_value=0.0)


def test_smoothing_that_lifted_a_zero():
    said = why("the the the the", ["the cat is on the mat"])
    assert "No 2-gram or longer is in a reference; exp smoothing counts 0/3 as 0.5/3, 0/2 as 0.25/2" in said
    assert "Without it BLEU would be exactly zero" in said
    assert "Without it" not in why("a cat x", ["a cat y"])  # three tokens have no 4-gram: it is zero anyway
    assert "add-k smoothing counts 0/3 as 1/4" in why("the the the the", ["the cat is on the mat"], smooth="add-k")


def test_add_k_is_told_where_it_lifts_no_zero():
    would_be = bleu(["a b c d e"], ["a b c d x"], smooth="none").score
    assert f"without it BLEU would be {would_be:.2f}" in why("a b c d e", ["a b c d x"], smooth="add-k")


def test_not_a_single_token():
    assert "Not a single token of the hypothesis is in a reference" in why("x y z", ["a b c"])
    corpus = explain_bleu(Bleu(), ["x", "y"], ["a", "b"]).reasons
    assert "Not a single token of the hypotheses" in corpus[0]


def test_the_penalty_has_a_price():
    free, paid = 100 * (3 / 4 * 2 / 3) ** (1 / 3), bleu(["The cat is on mat"], ["The cat is on the mat"], max_order=3)
    said = why("The cat is on mat", ["The cat is on the mat"], max_order=3)
    assert "is 1 token shorter than the reference length (5 against 6): the penalty of 0.8187" in said
    assert f"costs {free - paid.score:.2f} points; without it BLEU would be {free:.2f}" in said
    assert "shorter" not in why("The cat is on the mat today", ["The cat is on the mat"])
    assert "comes on top of a mean of zero" in why("x", ["a b"])


def test_too_few_tokens_for_an_order():
    effective, shorter = (
        bleu(["a b"], ["a b c"], **one).score for one in ({"effective_order": True}, {"max_order": 2})
    )
    assert effective == pytest.approx(shorter)
    said = why("a b", ["a b c"])
    assert "has 2 tokens, so there is no 3-gram at all" in said
    assert f"max_order = 2 does not need them; BLEU would be {shorter:.2f}" in said
    assert "effective order leaves longer n-grams out" in why("a b", ["a b c"], effective_order=True)
    assert "as 1/1, the full 100" in why("a b", ["a b c"], smooth="add-k")
    assert "max_order" not in why("a b", ["a b c"], weights=(0.4, 0.2, 0.2, 0.2))
    assert "its weight is 0" in why("a b", ["a b c"], weights=(0.5, 0.5, 0.0, 0.0))
    assert "No hypothesis has more than 2 tokens" in explain_bleu(Bleu(), ["a b", "c"], ["a b", "d"]).reasons[0]


def test_repeated_tokens_were_clipped():
    assert '"the" is said 6 times and credited twice' in why("the the the the the the", ["the cat is on the mat"])
    assert "credited only as often" not in why("the cat", ["the cat is on the mat"])
    corpus = explain_bleu(Bleu(), ["a a a b b", "a a x"], ["a b", "a y"]).reasons
    assert any("Clipping took 4 of 8 tokens" in one and '"a" (3), "b" (1)' in one for one in corpus)


def test_case_alone():
    would_be = bleu(["the Cat is on the mat"], ["The cat is on the mat"], lowercase=True).score
    said = why("the Cat is on the mat", ["The cat is on the mat"])
    assert f"Only case keeps 2 tokens from matching: with lowercase, BLEU would be {would_be:.2f}" in said
    assert "Case" not in why("the Cat is on the", ["The cat is on the mat"], lowercase=True)
    assert "Case" not in why("a b c d x", ["a b c d e"])


def test_text_in_pieces_on_one_side():
    assert "The hypothesis looks tokenized" in why("The cat sleeps .", ["The cat sleeps."], tokenize="none")
    assert "The reference looks tokenized" in why("The cat sits.", ["The cat sleeps ."])
    assert "looks tokenized" not in why("The cat sits .", ["The cat sleeps ."])
    assert "The hypothesis looks tokenized" in why("un@@ known words here", ["unknown words there"])
    corpus = explain_bleu(Bleu(), ["a b .", "c d."], ["a x.", "c x."]).reasons
    assert any(one.startswith("In 1 of 2 lines the hypothesis looks tokenized") for one in corpus)


def test_an_empty_hypothesis():
    assert why("", ["a b"]) == "The hypothesis is empty: there is nothing to credit, so BLEU is zero."
    corpus = explain_bleu(Bleu(), ["a b", "", "c", "", "", ""], ["a b", "x", "c", "x", "x", "x"]).reasons
    assert corpus[0] == "4 of 6 hypotheses are empty (line 2, 4, 5, …)."


def test_the_order_that_pulls_most():
    said = why("The cat is on mat", ["The cat is on the mat"], max_order=3)
    assert "The 3-grams pull the mean down most: their precision is 66.67" in said
    assert f"the mean of the other orders is {75**0.5 * 10:.2f}" in said
    weighed = why("The cat is on mat", ["The cat is on the mat"], max_order=3, weights=(0.1, 0.8, 0.1))
    assert "The 2-grams pull" in weighed
    assert "pull" not in why("a b", ["a b c"], effective_order=True)  # the penalty alone costs


def test_nothing_is_lost():
    assert why("a b c d", ["a b c d"]).startswith("Nothing is lost")
    assert "Nothing is lost" not in why("b a", ["a b"], max_order=2, weights=(1.0, 0.0))  # 100, but for no good reason


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("line", [0, -1, 3])
def test_a_line_that_is_not_there(line):
    with pytest.raises(InputError, match=re.escape(f"there is no line {line}; the text has 2 lines")):
        explain_bleu(Bleu(), ["a", "b"], ["a", "b"], line=line)


def test_lines_that_do_not_pair():
    with pytest.raises(InputError, match="1 hypotheses, 2 references"):
        explain_bleu(Bleu(), ["a"], ["a", "b"])
