"""chrF against sacreBLEU, against what chrF++.py printed for real systems, and against counts done by hand."""

from __future__ import annotations

import csv
import json
import lzma
import re
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from regard.errors import InputError
from regard.metrics.chrf import CHUNK, EPSILON, Chrf, chrf, f_score, line_stats, sentence_chrf, words_of

WMT17 = Path(__file__).parents[3] / "shared" / "data" / "wmt17-en-de-systems"
needs_wmt17 = pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")


def read(name: str) -> list[str]:
    return lzma.decompress((WMT17 / f"{name}.xz").read_bytes()).decode("utf-8").split("\n")[:-1]


def expected() -> list[dict[str, str]]:
    rows = list(csv.DictReader((WMT17 / "expected_scores.tsv").read_text("utf-8").split("\n"), delimiter="\t"))
    assert len(rows) == 16
    return rows


# ------------------------------------------------------------------------------- sacreBLEU as the oracle

WORDS = ["the", "The", "cat", "a", "(hi)", "(hi", "hi)", "...", "!", "don't", "'tis", "3.14", "x-y", "&amp;", "ÇA", "İ"]
SCRIPTS = [
    "😀",
    "👩‍👩‍👧",
    "שלום",
    "مرحبا",
    "你好",
    "猫。",
    "कुत्ता",
    "e\u0301",
    "\u00a0",
    "\u2028",
    "\u3000",
    "\x1c",
    "\ufeff",
]
LINE = (
    st.lists(st.sampled_from(WORDS + SCRIPTS), max_size=8).map(" ".join)
    | st.text(max_size=10)
    | st.sampled_from(["", " ", "\t\n", "aaaaaaaa", "ab ab ab ab", "\ud800 lone"])
)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[str], list[list[str | None]]]:
    """Lines with their reference streams, some of them with gaps; a hypothesis is often a reference changed a bit."""
    lines, streams = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    references: list[list[str | None]] = [[draw(LINE) for _ in range(lines)] for _ in range(streams)]
    hypotheses = []
    for i in range(lines):
        words = str(draw(st.sampled_from(references))[i]).split(" ")
        hypotheses.append(draw(LINE | st.just(" ".join(words[:-1])) | st.just(" ".join(words + words[:2]))))
        kept = draw(st.integers(0, streams - 1))
        for stream in range(streams):
            if stream != kept and draw(st.integers(0, 3)) == 0:
                references[stream][i] = None
    return hypotheses, references


OPTIONS = st.fixed_dictionaries(
    {
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([1, 2, 3, 0.5, 2.0]),
        "lowercase": st.booleans(),
        "whitespace": st.booleans(),
        "eps_smoothing": st.booleans(),
    }
).flatmap(lambda some: st.integers(some["word_order"] == 0, 8).map(lambda order: {"char_order": order, **some}))


@settings(max_examples=60, deadline=None)
@given(corpora(), OPTIONS)
def test_equals_sacrebleu(corpus, options):
    hypotheses, references = corpus
    metric, oracle = Chrf(**options), CHRF(**options)
    stats, theirs = metric.stats(hypotheses, references), oracle.corpus_score(hypotheses, references)
    ours = metric.score(stats)
    assert stats.rows.tolist() == oracle._extract_corpus_statistics(hypotheses, references)
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.name == theirs.name
    assert ours.text(4) == theirs.format(width=4)
    assert ours.signature == str(oracle.get_signature())


@settings(max_examples=40, deadline=None)
@given(corpora(), OPTIONS)
def test_the_fast_twins_equal_the_definition(corpus, options):
    hypotheses, (reference, *_) = corpus
    references = [line or "" for line in reference]
    metric = Chrf(**options)
    stats = metric.stats(hypotheses, references)
    for i, (one, other) in enumerate(zip(hypotheses, references, strict=True)):
        pair = (one.lower(), other.lower()) if metric.lowercase else (one, other)
        counted = line_stats(*pair, metric.char_order, metric.word_order, metric.whitespace)
        assert stats.rows[i].tolist() == counted
        assert metric.score(stats[i]).score == f_score(counted, metric.beta, metric.eps_smoothing)
    line_by_line = [metric.score(stats[i]).score for i in range(len(stats))]
    assert metric.scores(stats.rows) == pytest.approx(line_by_line, abs=1e-9)
    assert metric.scores(stats.rows[None, :1])[0] == pytest.approx(line_by_line[:1], abs=1e-9)
    assert metric.scores(stats.total()) == pytest.approx(metric.score(stats).score, abs=1e-9)


def test_many_scores_at_once_may_be_none_at_all():
    assert Chrf().scores(np.zeros((0, 18))).shape == (0,)


def test_lines_are_counted_in_pieces_without_a_seam():
    lines = [f"line {i} of many, (all) different" for i in range(2 * CHUNK + 1)]
    references = [f"line {i} of some, (all) different" for i in range(2 * CHUNK + 1)]
    stats = Chrf(word_order=2).stats(lines, references)
    assert len(stats) == 2 * CHUNK + 1
    assert stats.rows.tolist() == [line_stats(*pair, 6, 2) for pair in zip(lines, references, strict=True)]


def test_signature_is_sacrebleus_own():
    assert chrf(["a b"], ["a c"]).signature == (
        f"nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{sacrebleu.__version__}"
    )
    oracle = CHRF(word_order=2)
    oracle.corpus_score(["a b", "c d"], [["a b", "c d"], ["a", None]], n_bootstrap=10)
    ours = Chrf(word_order=2).signature(None, {"bs": 10, "seed": oracle.seed})
    assert ours == str(oracle.get_signature())


# ------------------------------------------------------------------------------- what was printed elsewhere


@needs_wmt17
def test_official_wmt17_scores():
    """chrF++.py's scores, to the four digits they were published with; it averages as `eps_smoothing` does."""
    reference = read("newstest2017.reference.de")
    printed = [row for row in expected() if row["CHRF"]]
    assert len(printed) == 2
    for row in printed:
        for column, word_order in (("CHRF", 0), ("CHRFPP", 2)):
            ours = chrf(read(row["system"]), reference, word_order=word_order, eps_smoothing=True)
            assert ours.score == pytest.approx(float(row[column]), abs=5e-5 + 1e-9), (row["system"], column)


@needs_wmt17
@pytest.mark.parametrize(
    "lines", [250, pytest.param(1000, marks=pytest.mark.long), pytest.param(3004, marks=pytest.mark.slow)]
)
def test_every_wmt17_system_as_sacrebleu(lines):
    """As a text and line by line. chrF++ counts what chrF does and more, so sacreBLEU counts once for both."""
    reference = read("newstest2017.reference.de")[:lines]
    counting = CHRF(word_order=2, references=[reference])
    for row in expected():
        hypotheses = read(row["system"])[:lines]
        counted = np.array(counting._extract_corpus_statistics(hypotheses, None))  # (lines, 24)
        for word_order, columns in ((0, 18), (2, 24)):
            metric, oracle = Chrf(word_order=word_order), CHRF(word_order=word_order)
            stats, theirs = metric.stats(hypotheses, reference), counted[:, :columns]
            assert np.array_equal(stats.rows, theirs), row["system"]
            corpus = oracle._compute_f_score(theirs.sum(axis=0).tolist())
            assert metric.score(stats).score == pytest.approx(corpus, abs=1e-9), row["system"]
            sentences = [oracle._compute_f_score(line) for line in theirs.tolist()]
            assert metric.scores(stats.rows) == pytest.approx(sentences, abs=1e-9), row["system"]


# ------------------------------------------------------------------------------- by hand


def test_one_order_by_hand():
    ours = chrf(["abcx"], ["abcdef"], char_order=1)
    assert (ours.precisions, ours.recalls) == ((75.0,), (50.0,))
    assert ours.score == pytest.approx(100 * 5 * 0.75 * 0.5 / (4 * 0.75 + 0.5))
    assert chrf(["abcx"], ["abcdef"], char_order=1, beta=1).score == pytest.approx(60)


def test_repeated_letters_are_clipped():
    assert Chrf(char_order=2).stats(["aaaa"], ["aab"]).rows.tolist() == [[4, 3, 2, 3, 2, 1]]


def test_an_order_the_reference_is_too_short_for_does_not_count():
    assert Chrf(char_order=3).stats(["abcd"], ["ab"]).rows.tolist() == [[4, 2, 2, 3, 1, 1, 0, 0, 0]]
    assert chrf(["ab"], ["ab"], char_order=6).score == 100
    assert chrf([""], [""]).score == 0


def test_a_word_loses_a_mark_at_one_side_only():
    assert " ".join(words_of("(hi) (hi hi) ! -- a. ¿qué?")) == "(hi ) ( hi hi ) ! - - a . ¿qué ?"


def test_the_best_reference_counts_and_of_equals_the_first():
    assert chrf(["a cat"], [["a dog"], ["a cat"]]).score == 100
    assert chrf(["a cat"], [["a cat"], ["a dog"]]).score == 100
    rows = Chrf(char_order=1).stats(["x"], [["abc"], ["de"]]).rows
    assert rows.tolist() == [[1, 3, 0]]


def test_the_last_bit_of_the_sum_decides_as_in_sacrebleu():
    line, references = ["ba ba b aab a b"], [["ba b b aab a ba"], ["a ba b aab ba b"]]
    theirs = CHRF(word_order=2)._extract_corpus_statistics(line, references)
    assert Chrf(word_order=2).stats(line, references).rows.tolist() == theirs


def test_epsilon_stands_for_what_is_not_there():
    assert f_score([4, 3, 0], eps_smoothing=True) == 100 * EPSILON  # nothing matches
    assert f_score([0, 0, 0], eps_smoothing=True) == pytest.approx(100 * EPSILON, rel=1e-9, abs=0)
    assert f_score([0, 3, 0], eps_smoothing=True) == 0  # recall is a real zero here, so F is one too
    assert f_score([4, 3, 0]) == f_score([0, 0, 0]) == f_score([0, 3, 0]) == 0


def test_a_gap_is_no_reference_but_an_empty_line_is():
    metric = Chrf(char_order=1, eps_smoothing=True)
    assert metric.stats([""], [["a"], [None]]).rows.tolist() == [[0, 1, 0]]
    assert metric.stats([""], [["a"], [""]]).rows.tolist() == [[0, 0, 0]]
    assert metric.stats(["a", "b"], [["a", "b"], [None, "c"]]).references is None


def test_a_sentence():
    ours = sentence_chrf("the cat sat", ["a cat sat", "the cat sits"], word_order=2)
    theirs = CHRF(word_order=2).sentence_score("the cat sat", ["a cat sat", "the cat sits"])
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.name == "chrF2++"
    with pytest.raises(InputError, match=re.escape("is a single string; write ['the cat']")):
        sentence_chrf("the cat", "the cat")


def test_as_json():
    ours = chrf(["the cat sat on the mat"], ["the cat is on the mat"], word_order=1)
    fields = json.loads(json.dumps(ours.to_dict()))
    assert fields["score"] == ours.score
    assert fields["precisions"] == list(ours.precisions)
    assert (fields["name"], fields["signature"]) == ("chrF2+", ours.signature)
    assert (len(fields["recalls"]), fields["char_order"], fields["word_order"], fields["beta"]) == (7, 6, 1, 2)


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"char_order": -1}, "char_order must be 0 or more, but is -1"),
        ({"word_order": -2}, "word_order must be 0 or more, but is -2"),
        ({"char_order": 0}, "both 0, so nothing is counted"),
        ({"beta": 0}, "beta must be more than 0, but is 0"),
        ({"beta": float("nan")}, "beta must be more than 0, but is nan"),
    ],
)
def test_options_that_do_not_exist(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        chrf(["a"], ["a"], **options)


def test_lines_that_cannot_be_scored():
    with pytest.raises(InputError, match="2 hypotheses, 1 references"):
        chrf(["a", "b"], ["a"])
