"""Buckets against sacreBLEU on the lines of each, and against plain counting."""

from __future__ import annotations

import json
import lzma
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.course.grammar import write_corpus
from regard.errors import InputError
from regard.metrics import buckets as module
from regard.metrics.bleu import Bleu
from regard.metrics.buckets import (
    FREQUENCY_EDGES,
    LENGTH_EDGES,
    bucket_scores,
    by_length,
    by_tags,
    interval_labels,
    word_counts,
    word_frequency,
)
from regard.metrics.chrf import Chrf
from regard.metrics.ngrams import tokens_of
from regard.metrics.ter import Ter
from support import grammar

DATA = Path(__file__).parents[3] / "shared" / "data"
WMT17 = DATA / "wmt17-en-de-systems"


def read(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


WORDS = st.sampled_from(["a", "a", "a", "b", "b", "c", "A", "d.", "e,f", "猫", "l'homme", "&amp;", "3.14"])
LINE = st.lists(WORDS, max_size=8).map(" ".join)


@st.composite
def texts(draw: st.DrawFn, count: int) -> list[list[str]]:
    """Several texts with as many lines as each other."""
    lines = draw(st.integers(1, 6))
    return [draw(st.lists(LINE, min_size=lines, max_size=lines)) for _ in range(count)]


EDGES = st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True).map(sorted)

# ------------------------------------------------------------------------------- kinds of lines


def test_default_labels_of_lengths_and_frequencies():
    assert interval_labels(LENGTH_EDGES) == ("0–9", "10–19", "20–29", "30–39", "40–49", "50–59", "60+")
    assert interval_labels(FREQUENCY_EDGES) == ("0", "1", "2", "3", "4", "5–9", "10–99", "100–999", "1000+")


def test_a_line_as_long_as_an_edge_begins_the_next_bucket():
    found = by_length([" ".join("x" * n) for n in (9, 10, 19, 20, 60, 61)])
    assert [some.tolist() for some in found.members] == [[0], [1, 2], [3], [], [], [], [4, 5]]


@settings(deadline=None)
@given(st.lists(LINE, max_size=12), EDGES)
def test_every_line_is_in_the_one_bucket_its_length_belongs_to(lines, edges):
    found = by_length(lines, edges)
    assert sorted(np.concatenate(found.members).tolist()) == list(range(len(lines)))
    for label, members in zip(found.labels, found.members, strict=True):
        low, high = (label[:-1], 99) if label.endswith("+") else (label.split("–") * 2)[:2]
        assert all(int(low) <= len(lines[i].split()) <= int(high) for i in members)


def test_tags_by_spaces_or_commas_each_once_a_line():
    found = by_tags(["b a", "a,b , c", "", "a a", "  "])
    assert found.labels == ("a", "b", "c", "(none)")
    assert [some.tolist() for some in found.members] == [[0, 1, 3], [0, 1], [1], [2, 4]]


def test_tag_files_of_the_grammar_corpus(tmp_path):
    made = grammar(seed=5)
    write_corpus(tmp_path / "corpus", made)
    examples = made["test"].examples
    found = by_tags((tmp_path / "corpus" / "test.tags").read_text("utf-8").splitlines())
    assert found.lines == len(examples)
    for label, members in zip(found.labels, found.members, strict=True):
        tagged = [i for i, example in enumerate(examples) if label in (example.tags or ["(none)"])]
        assert members.tolist() == tagged
    assert {tag for example in examples for tag in example.tags} <= set(found.labels)


@pytest.mark.parametrize("edges", [[10, 5], [10, 10], [0, 5], [-1], []])
def test_edges_must_rise(edges):
    said = ",".join(map(str, edges)) or "none"
    with pytest.raises(InputError, match=f"each larger than the last, but are {said}; try 10,20,30"):
        by_length(["a"], edges)
    with pytest.raises(InputError, match="each larger than the last"):
        word_frequency({"A": ["a"]}, ["a"], edges=edges)


def test_edges_beyond_all_numbers_are_just_never_reached():
    found = by_length(["a", "a b"], [1, 2**62, 10**30])
    assert [some.tolist() for some in found.members] == [[], [0, 1], [], []]


# ------------------------------------------------------------------------------- scores of lines

METRICS = [(Bleu(), BLEU()), (Bleu(tokenize="char", lowercase=True), BLEU(tokenize="char", lowercase=True))]
METRICS += [(Chrf(), CHRF()), (Ter(), TER())]


@pytest.mark.parametrize(("metric", "theirs"), METRICS, ids=["BLEU", "BLEU of letters", "chrF", "TER"])
@settings(max_examples=30, deadline=None)
@given(texts(4), EDGES)
def test_scores_are_sacrebleus_of_the_lines_in_the_bucket(metric, theirs, some, edges):
    one, other, *references = some
    buckets = by_length(references[0], edges, by="reference length")
    stats = {"A": metric.stats(one, references), "B": metric.stats(other, references)}
    table = bucket_scores(metric, stats, buckets)
    full = [(label, members) for label, members in zip(buckets.labels, buckets.members, strict=True) if len(members)]
    assert [row.label for row in table.rows] == [label for label, _ in full]
    for row, (_, members) in zip(table.rows, full, strict=True):
        assert row.lines == len(members)
        for hypotheses, score in zip((one, other), row.scores, strict=True):
            expected = theirs.corpus_score(
                [hypotheses[i] for i in members], [[stream[i] for i in members] for stream in references]
            )
            assert score.score == pytest.approx(expected.score, abs=1e-9)
    assert sum(row.lines for row in table.rows) == table.whole.lines == len(one)
    assert table.whole.scores == (metric.score(stats["A"]), metric.score(stats["B"]))
    assert np.array_equal(sum(stats["A"][members].total() for _, members in full), stats["A"].total())


class Uncountable:
    """A metric that can score rows but not count lines."""

    name, higher_is_better = "BLEU", True
    score = Bleu().score

    def stats(self, hypotheses, references):
        raise AssertionError("counted again")


def test_nothing_is_counted_again():
    stats = Bleu().stats(["a b", "c"], ["a b", "d"])
    table = bucket_scores(Uncountable(), {"A": stats}, by_tags(["x y", "y"]))
    assert [(row.label, row.lines) for row in table.rows] == [("x", 1), ("y", 2)]
    assert table.rows[1].scores == table.whole.scores


def test_buckets_of_another_text_name_both_numbers():
    stats = Bleu().stats(["a", "b", "c"], ["a", "b", "c"])
    message = '"out.fr" has 3 lines, but the text that buckets are made from (tags) has 2'
    with pytest.raises(InputError, match=re.escape(message)):
        bucket_scores(Bleu(), {"out.fr": stats}, by_tags(["x", "y"]))
    with pytest.raises(InputError, match=r"\(source length\) has 4"):
        bucket_scores(Bleu(), {"out.fr": stats}, by_length(["a"] * 4, by="source length"))


def test_table_as_json():
    stats = Bleu().stats(["a b c d", "x"], ["a b c d", "y"])
    table = bucket_scores(Bleu(), {"A": stats}, by_tags(["p", "q"]))
    read_back = json.loads(json.dumps(table.to_dict()))
    assert [(row["label"], row["lines"]) for row in read_back["buckets"]] == [("p", 1), ("q", 1)]
    assert read_back["buckets"][0]["scores"]["A"]["score"] == pytest.approx(100)
    assert read_back["whole"]["scores"]["A"]["signature"] == Bleu().signature(1)
    assert (read_back["metric"], read_back["by"], read_back["systems"]) == ("BLEU", "tags", ["A"])


# ------------------------------------------------------------------------------- kinds of words


@settings(max_examples=25, deadline=None)
@given(
    texts(4),
    EDGES,
    st.none() | st.lists(LINE, max_size=5),
    st.sampled_from(["13a", "char", "none"]),
    st.booleans(),
    st.sampled_from([1, 2, 2048]),
)
def test_word_frequency_is_plain_counting(some, edges, counting_text, tokenize, lowercase, chunk):
    one, other, *references = some
    counted = references[0] if counting_text is None else counting_text

    def cut(lines):
        return [tokens_of(line, tokenize, lowercase) for line in lines]

    frequency = Counter(token for tokens in cut(counted) for token in tokens)
    systems = {"A": one, "B": other}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        if not frequency:
            with pytest.raises(InputError, match=r"there are no words in the (references|text given)"):
                word_frequency(systems, references, counting_text, edges, tokenize, lowercase)
            return
        table = word_frequency(systems, references, iter(counted), edges, tokenize, lowercase)
        if counting_text is None:
            same = word_frequency(systems, references, None, edges, tokenize, lowercase)
            assert same.rows == table.rows
    expected = {
        system: word_counts(cut(lines), cut(references[0]), frequency, edges) for system, lines in systems.items()
    }
    rows = zip(interval_labels(edges), zip(*expected.values(), strict=True), strict=True)
    used = [(label, row) for label, row in rows if any(c.reference or c.hypothesis for c in row)]
    assert list(table.rows) == used


@settings(max_examples=25, deadline=None)
@given(texts(2))
def test_words_of_all_buckets_add_up_to_sacrebleus_unigrams(some):
    hypotheses, references = some
    assume("".join(references))
    table = word_frequency({"A": hypotheses}, references)
    theirs = BLEU().corpus_score(hypotheses, [references])
    counts = [row for _, (row,) in table.rows]
    assert sum(one.matches for one in counts) == theirs.counts[0]
    assert sum(one.hypothesis for one in counts) == theirs.sys_len
    assert sum(one.reference for one in counts) == theirs.ref_len


def test_rates_by_hand():
    table = word_frequency({"A": ["the the cat"]}, ["the cat sat"], ["the the the", "the cat"], edges=(1, 2))
    labels = [label for label, _ in table.rows]
    (new,), (once,), (often,) = [counts for _, counts in table.rows]
    assert labels == ["0", "1", "2+"]
    assert (new.precision, new.recall, new.f1) == (0, 0, 0)
    assert (once.precision, once.recall, once.f1) == (100, 100, 100)
    assert (often.hypothesis, often.reference, often.matches) == (2, 1, 1)
    assert (often.precision, often.recall) == (50, 100)
    assert often.f1 == pytest.approx(200 / 3)
    read_back = json.loads(json.dumps(table.to_dict()))
    assert read_back["buckets"][2]["words"]["A"]["f1"] == often.f1
    assert read_back["counted_in"] == "the text given"


def test_first_reference_that_is_there_is_taken():
    table = word_frequency({"A": ["a", "b"]}, [[None, "b"], ["a", "x x"]])
    assert table.rows == (("1", (module.WordCounts(2, 2, 2),)),)


def test_words_that_cannot_be_counted():
    with pytest.raises(InputError, match=r"there are no words in train\.fr"):
        word_frequency({"A": ["a"]}, ["a"], [], counted_in="train.fr")
    with pytest.raises(InputError, match="no systems"):
        word_frequency({}, ["a"])
    with pytest.raises(InputError, match="1 hypotheses, 2 references"):
        word_frequency({"A": ["a"]}, ["a", "b"])


# ------------------------------------------------------------------------------- real systems


@pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")
def test_real_systems_by_length_and_by_frequency():
    reference = read(WMT17 / "newstest2017.reference.de.xz")
    lines = read(WMT17 / "newstest2017.online-A.0.en-de.xz")
    metric = Bleu()
    buckets = by_length(reference)
    table = bucket_scores(metric, {"online-A": metric.stats(lines, reference)}, buckets)
    for row, members in zip(table.rows, buckets.members, strict=True):
        theirs = BLEU().corpus_score([lines[i] for i in members], [[reference[i] for i in members]])
        assert row.scores[0].score == pytest.approx(theirs.score, abs=1e-9)
    tokens = [[tokens_of(line, "13a") for line in text] for text in (lines, reference)]
    frequency = Counter(token for line in tokens[1] for token in line)
    found = word_frequency({"online-A": lines}, reference)
    assert [row for _, (row,) in found.rows] == word_counts(*tokens, frequency, FREQUENCY_EDGES)
