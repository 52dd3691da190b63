"""BLEU against sacreBLEU, against what was printed for real systems, and against sums done by hand."""

from __future__ import annotations

import csv
import json
import lzma
import math
import re
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from regard.errors import InputError
from regard.metrics.bleu import (
    REFERENCE_LENGTHS,
    SMOOTHING,
    Bleu,
    bleu,
    brevity_penalty,
    effective_length,
    line_stats,
    sentence_bleu,
)
from regard.metrics.ngrams import tokens_of

DATA = Path(__file__).parents[3] / "shared" / "data"
WMT17, MULTEVAL = DATA / "wmt17-en-de-systems", DATA / "multeval-example"


def read(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


# ------------------------------------------------------------------------------- sacreBLEU as the oracle

WORDS = ["the", "The", "cat", "a", "mat", ".", ",", "don't", "3.14", "l'homme", "&amp;", "x-y", "&", "ça"]
SCRIPTS = ["😀", "👩‍👩‍👧", "שלום", "مرحبا", "你好", "猫", "कुत्ता", "e\u0301", "\u00a0", "\u2028", "\ufeff"]
LINE = st.lists(st.sampled_from(WORDS + SCRIPTS), max_size=12).map(" ".join) | st.text(max_size=10)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Lines with their reference streams; a hypothesis is often a reference with something changed."""
    lines, streams = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    references = [[draw(LINE) for _ in range(lines)] for _ in range(streams)]
    hypotheses = []
    for i in range(lines):
        words = draw(st.sampled_from(references))[i].split(" ")
        hypotheses.append(draw(LINE | st.just(" ".join(words[:-1])) | st.just(" ".join(words + words[:2]))))
    return hypotheses, references


@settings(max_examples=50, deadline=None)
@given(
    corpora(),
    st.sampled_from(["13a", "intl", "char", "none"]),
    st.sampled_from(sorted(SMOOTHING)),
    st.sampled_from([None, 0.01, 0.5, 2.0]),
    st.integers(1, 6),
    st.booleans(),
    st.booleans(),
)
def test_equals_sacrebleu(corpus, tokenize, smooth, value, order, effective, lowercase):
    hypotheses, references = corpus
    ours = bleu(
        hypotheses,
        references,
        tokenize=tokenize,
        smooth=smooth,
        smooth_value=value,
        max_order=order,
        effective_order=effective,
        lowercase=lowercase,
    )
    metric = BLEU(
        tokenize=tokenize,
        smooth_method=smooth,
        smooth_value=value,
        max_ngram_order=order,
        effective_order=effective,
        lowercase=lowercase,
    )
    theirs = metric.corpus_score(hypotheses, references)
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert ours.precisions == pytest.approx(theirs.precisions, abs=1e-9)
    assert (ours.hyp_len, ours.ref_len) == (theirs.sys_len, theirs.ref_len)
    assert ours.bp == pytest.approx(theirs.bp, abs=1e-12)
    assert str(ours) == str(theirs)
    assert re.sub(r"order:\d\|", "", ours.signature) == str(metric.get_signature())
    assert ("order:" in ours.signature) == (order != 4)


def test_signature_is_sacrebleus_own():
    assert bleu(["a b"], ["a c"]).signature == (
        f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{sacrebleu.__version__}"
    )


# ------------------------------------------------------------------------------- what was printed elsewhere


@pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")
def test_official_wmt17_scores():
    """mteval-v13a.pl's scores of the sixteen systems, to the two digits they were published with."""
    reference = read(WMT17 / "newstest2017.reference.de.xz")
    rows = list(csv.DictReader((WMT17 / "expected_scores.tsv").read_text("utf-8").split("\n"), delimiter="\t"))
    assert len(rows) == 16
    for row in rows:
        ours = bleu(read(WMT17 / f"{row['system']}.xz"), reference)
        assert ours.score == pytest.approx(float(row["MTEVAL"]), abs=0.005 + 1e-9), row["system"]


@pytest.mark.skipif(not MULTEVAL.exists(), reason="the multi-reference example is not here")
@pytest.mark.parametrize("system", [0, 3])
def test_moses_multi_bleu_with_four_references(system):
    printed = {tuple(line.split("\t")[:2]): line for line in read(MULTEVAL / "expected_multi-bleu.tsv.xz")}
    expected = [float(x) for x in re.findall(r"\d+\.?\d*", printed[f"set1.out.{system}", "ref0-3"].split("=", 1)[1])]
    ours = bleu(
        read(MULTEVAL / f"set1_set1.out.{system}.xz"),
        [read(MULTEVAL / f"set1_set1.ref{i}.xz") for i in range(4)],
        tokenize="none",
        smooth="none",
    )
    found = [ours.score, *ours.precisions, ours.bp, ours.ratio, ours.hyp_len, ours.ref_len]
    for one, other, half in zip(found, expected, [0.005] + [0.05] * 4 + [0.0005] * 2 + [0] * 2, strict=True):
        assert one == pytest.approx(other, abs=half + 1e-9)


# ------------------------------------------------------------------------------- by hand


def test_repeated_words_are_clipped():
    # One set of course notes gives 1/5 for the bigrams, but "the the" is nowhere in the reference: it is 0/5.
    ours = bleu(["the the the the the the"], ["the cat is on the mat"], smooth="none")
    assert (ours.correct, ours.total) == ((2, 0, 0, 0), (6, 5, 4, 3))
    assert ours.precisions[0] == pytest.approx(100 * 2 / 6)
    assert ours.score == 0


def test_a_word_left_out():
    # The notes "suppose" 1/3 for the trigrams. Counted, it is 2/3: "The cat is" and "cat is on".
    ours = bleu(["The cat is on mat"], ["The cat is on the mat"], max_order=3)
    assert (ours.correct, ours.total) == ((5, 3, 2), (5, 4, 3))
    assert ours.bp == pytest.approx(math.exp(-0.2)) == pytest.approx(0.818731, abs=1e-6)
    assert ours.score == pytest.approx(100 * math.exp(-0.2) * (1 * 3 / 4 * 2 / 3) ** (1 / 3))


def test_clipping_takes_the_largest_count_of_any_one_reference():
    ours = bleu(["a a a b"], [["a a c c"], ["a b b b"]], max_order=1)
    assert ours.correct == (3,)  # two of "a" (first reference), one "b" (second); counts are not added up


def test_closest_reference_length_and_penalty():
    assert effective_length(5, [4, 6]) == 4  # equally near: the shorter
    assert effective_length(5, [9, 6, 1]) == 6
    assert brevity_penalty(6, 6) == brevity_penalty(7, 6) == 1
    assert brevity_penalty(0, 6) == 0
    assert brevity_penalty(3, 6) == pytest.approx(math.exp(-1))


def test_statistics_add_up():
    hypotheses, references = ["a b c d", "a b", "", "d c b a"], ["a b c d", "a c", "x", "d c b"]
    metric = Bleu()
    stats = metric.stats(hypotheses, references)
    assert stats.rows.shape == (4, 10)
    assert len(stats) == 4
    assert metric.score(stats) == bleu(hypotheses, references)
    assert metric.score(stats[[0, 3]]) == bleu(["a b c d", "d c b a"], ["a b c d", "d c b"])
    assert metric.score(stats[1]) == bleu(["a b"], ["a c"])
    assert np.array_equal(stats[[0, 0]].total(), 2 * stats[0].total())


def test_printed_and_as_json():
    ours = bleu(["the cat sat on the mat"], ["the cat is on the mat"])
    assert str(ours) == "BLEU = 37.99 83.3/60.0/25.0/16.7 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)"
    fields = json.loads(json.dumps(ours.to_dict()))
    assert fields["score"] == ours.score
    assert fields["correct"] == [5, 3, 1, 0]
    assert fields["signature"] == ours.signature


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (["a", "b", "c"], ["a", "b"], "3 hypotheses, 2 references"),
        (["a", "b", "c"], [["a", "b", "c"], ["a"]], "3 hypotheses, 1 lines in reference stream 2"),
        (["a", "b", "c"], [["a", "b"]] * 3, "stream by stream"),
        ([], [], "no hypotheses"),
        (["a"], [], "no references"),
        (["a"], [[]], "no references"),
        ("a b", ["a b"], "hypotheses must be a list of lines, but is a single string"),
        (["a b"], "a b", "references must be a list of lines, but is a single string"),
        (["a", None], ["a", "b"], "hypotheses must be text, but line 2 is NoneType"),
        (["a"], [None], "reference stream 1 must be a list of lines, but is None"),
    ],
)
def test_lines_that_cannot_be_scored(hypotheses, references, message):
    with pytest.raises(InputError, match=re.escape(message)):
        bleu(hypotheses, references)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenize": "13b"}, 'unknown tokenizer "13b"; did you mean "13a"?'),
        ({"tokenize": "13b"}, "intl, char"),
        ({"smooth": "ex"}, 'did you mean "exp"?'),
        ({"smooth": "floor", "smooth_value": -1.0}, "0 or more, but is -1"),
        ({"max_order": 0}, "1 or more, but is 0"),
    ],
)
def test_options_that_do_not_exist(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        bleu(["a"], ["a"], **options)


@settings(max_examples=40, deadline=None)
@given(
    corpora(), st.sampled_from(["13a", "intl", "zh", "char", "none"]), st.sampled_from(sorted(SMOOTHING)), st.booleans()
)
def test_many_scores_at_once_equal_single_ones(corpus, tokenize, smooth, effective):
    hypotheses, references = corpus
    metric = Bleu(tokenize, smooth=smooth, effective_order=effective)
    stats = metric.stats(hypotheses, references)
    sums = np.concatenate([stats.rows, stats.total()[None]])
    singles = [metric.score(stats[i]).score for i in range(len(stats))]
    assert metric.scores(sums) == pytest.approx([*singles, metric.score(stats).score], abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(corpora(), st.sampled_from(REFERENCE_LENGTHS), st.integers(1, 5), st.data())
def test_fast_counts_equal_the_definition(corpus, ref_length, order, data):
    """With gaps among the references, and every way to choose the reference length."""
    hypotheses, references = corpus
    for i in range(len(hypotheses)):
        for stream in data.draw(st.sets(st.sampled_from(range(len(references))), max_size=len(references) - 1)):
            references[stream][i] = None
    metric = Bleu(max_order=order, ref_length=ref_length)
    expected = [
        line_stats(tokens_of(line, "13a"), [tokens_of(r, "13a") for r in refs if r is not None], order, ref_length)
        for line, *refs in zip(hypotheses, *references, strict=True)
    ]
    assert metric.stats(hypotheses, references).rows.tolist() == expected
    if ref_length == "closest":
        theirs = BLEU(max_ngram_order=order)
        assert metric.score(metric.stats(hypotheses, references)).score == pytest.approx(
            theirs.corpus_score(hypotheses, references).score, abs=1e-9
        )
        assert re.sub(r"order:\d\|", "", metric.score(metric.stats(hypotheses, references)).signature) == str(
            theirs.get_signature()
        )


def test_weights():
    """BP · exp(Σ w_n log p_n), by hand; an order with weight 0 does not count, even without a match."""
    hypothesis, reference = ["a b c d e"], ["a b c x e"]
    ours = bleu(hypothesis, reference, max_order=2, weights=(0.75, 0.25))
    assert ours.score == pytest.approx(100 * (4 / 5) ** 0.75 * (2 / 4) ** 0.25)
    assert "|order:2|weights:0.75,0.25|" in ours.signature
    assert bleu(["a x"], ["a b"], weights=(1, 0), max_order=2, smooth="none").score == pytest.approx(50)
    equal = bleu(hypothesis, reference, weights=(0.25,) * 4)
    assert equal.score == pytest.approx(bleu(hypothesis, reference).score)
    metric = Bleu(max_order=2, weights=(0.75, 0.25))
    assert metric.scores(metric.stats(hypothesis, reference).rows) == pytest.approx([ours.score])


def test_shortest_and_average_reference_length():
    hypothesis, references = ["a b c d"], [["a b c d e f"], ["a b c"], ["a b c d e"]]
    assert bleu(hypothesis, references).ref_len == 3  # 3 and 5 are equally near
    assert bleu(hypothesis, references, ref_length="shortest").ref_len == 3
    average = bleu(hypothesis, references, ref_length="average")
    assert average.ref_len == pytest.approx(14 / 3)
    assert average.bp == pytest.approx(math.exp(1 - 14 / 3 / 4))
    assert average.signature.endswith(f"|reflen:average|version:{sacrebleu.__version__}")


@pytest.mark.parametrize("smooth", SMOOTHING)
def test_one_sentence_as_sacrebleu_scores_it(smooth):
    for hypothesis in ("the cat", "the cat sat on a mat", "", "nothing"):
        references = ["the cat is on the mat", "there is a cat on the mat"]
        theirs = sacrebleu.sentence_bleu(hypothesis, references, smooth_method=smooth)
        assert sentence_bleu(hypothesis, references, smooth=smooth).score == pytest.approx(theirs.score, abs=1e-9)
    with pytest.raises(InputError, match="references must be a list of texts, but is a single string"):
        sentence_bleu("a", "a")


def test_a_line_without_any_reference():
    with pytest.raises(InputError, match=r"line 2 has no reference in any of 2 streams"):
        bleu(["a", "b"], [["a", None], ["a", None]])
