"""Two systems side by side, against sacreBLEU's score of each line and against plain counting."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.metrics.base import Stats
from regard.metrics.bleu import Bleu
from regard.metrics.chrf import Chrf
from regard.metrics.differences import differences, different_ngrams, matched_spans, ngram_matches
from regard.metrics.ngrams import tokens_of
from regard.metrics.ter import Ter

DATA = Path(__file__).parents[3] / "shared" / "data"
WMT17, MULTEVAL = DATA / "wmt17-en-de-systems", DATA / "multeval-example"


def read(path: Path) -> list[str]:
    return lzma.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]


WORDS = st.sampled_from(["a", "a", "b", "c", "A", "d.", "e,f", "猫", "l'homme", "&amp;"])
LINE = st.lists(WORDS, max_size=7).map(" ".join)


@st.composite
def texts(draw: st.DrawFn, count: int) -> list[list[str]]:
    """Several texts with as many lines as each other; the later ones may lack lines that the third has."""
    lines = draw(st.integers(1, 6))
    some = [draw(st.lists(LINE, min_size=lines, max_size=lines)) for _ in range(min(3, count))]
    return some + [draw(st.lists(LINE | st.none(), min_size=lines, max_size=lines)) for _ in range(count - 3)]


def compare(metric, one, other, references, names=("A", "B"), **options):
    stats = (metric.stats(one, references), metric.stats(other, references))
    return differences(metric, names, (one, other), stats, references, **options)


# ------------------------------------------------------------------------------- lines

SENTENCE_SCORES = [
    (Bleu(), sacrebleu.sentence_bleu),
    (Chrf(), sacrebleu.sentence_chrf),
    (Ter(), sacrebleu.sentence_ter),
]


@pytest.mark.parametrize(("metric", "sentence_score"), SENTENCE_SCORES, ids=["BLEU", "chrF", "TER"])
@settings(max_examples=25, deadline=None)
@given(texts(4), st.integers(0, 4))
def test_lines_are_ordered_by_sacrebleus_sentence_scores(metric, sentence_score, some, most):
    one, other, *references = some
    sign = 1 if metric.higher_is_better else -1
    leads = {}
    for i in range(len(one)):
        there = [stream[i] for stream in references if stream[i] is not None]
        scores = [sentence_score(lines[i], there).score for lines in (one, other)]
        leads[i + 1] = (round(sign * (scores[0] - scores[1]), 7), scores, there)
    found = compare(metric, one, other, references, most=most)
    gaps = [lead for lead, _, _ in leads.values()]
    assert found.wins == sum(gap > 0 for gap in gaps)
    assert found.losses == sum(gap < 0 for gap in gaps)
    assert found.ties == sum(gap == 0 for gap in gaps)
    for side, lines in zip((1, -1), found.lines, strict=True):
        expected = sorted((n for n in leads if leads[n][0] * side > 0), key=lambda n: (-leads[n][0] * side, n))[:most]
        assert [line.number for line in lines] == expected
        for line in lines:
            _, scores, there = leads[line.number]
            assert line.scores == pytest.approx(scores, abs=1e-9)
            assert line.hypotheses == (one[line.number - 1], other[line.number - 1])
            assert list(line.references) == there


@pytest.mark.parametrize("metric", [Bleu(), Ter()], ids=["BLEU", "TER"])
@settings(max_examples=25, deadline=None)
@given(texts(4))
def test_swapping_the_systems_mirrors_everything(metric, some):
    one, other, *references = some
    forth = compare(metric, one, other, references, most=3)
    back = compare(metric, other, one, references, names=("B", "A"), most=3)
    assert (forth.wins, forth.ties, forth.losses) == (back.losses, back.ties, back.wins)
    for side in (0, 1):
        mirrored = back.lines[1 - side]
        assert [line.number for line in forth.lines[side]] == [line.number for line in mirrored]
        assert [line.scores for line in forth.lines[side]] == [line.scores[::-1] for line in mirrored]
        assert [line.matched for line in forth.lines[side]] == [line.matched[::-1] for line in mirrored]
        assert [(n.words, n.matches[::-1]) for n in forth.ngrams[side]] == [
            (n.words, n.matches) for n in back.ngrams[1 - side]
        ]


def test_equal_lines_are_ties_and_shown_nowhere():
    found = compare(Bleu(), ["a b", "c"], ["a b", "c"], ["a c", "c"])
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)
    assert found.lines == found.ngrams == ((), ())


class FirstColumn:
    """A metric whose score of a line is the row itself."""

    name, higher_is_better = "first", True

    def scores(self, sums):
        return sums[..., 0]

    def signature(self, references, test=None):
        return "first"


def test_the_last_bit_of_a_score_makes_no_winner():
    lines = ["a", "b", "c"]
    stats = tuple(
        Stats(np.array(column)[:, None], 1) for column in ([0.1 + 0.2, 2.0, 1.0], [0.3, 1.0, 0.1 + 0.2 - 0.3])
    )
    found = differences(FirstColumn(), ("A", "B"), (lines, lines), stats, lines)
    assert (found.wins, found.ties, found.losses) == (2, 1, 0)
    assert [line.number for line in found.lines[0]] == [2, 3]  # 1 and almost 1: in the order of the text


def test_bleu_of_a_line_has_effective_order():
    found = compare(Bleu(), ["a b", "x"], ["x", "a"], ["a b", "a"])
    assert "eff:yes" in found.signature
    assert found.lines[0][0].scores[0] == pytest.approx(100)  # two words of two, although there is no 4-gram


def test_lines_come_with_their_source_and_as_json():
    found = compare(Bleu(), ["a b", "x"], ["a c", "x"], ["a b", "y"], source=["un deux", "trois"])
    assert found.lines[0][0].source == "un deux"
    read_back = json.loads(json.dumps(found.to_dict()))
    assert read_back["lines"][0][0]["references"] == ["a b"]
    assert read_back["ngrams"][0][0] == {"words": "b", "matches": [1, 0]}
    assert (read_back["systems"], read_back["wins"]) == (["A", "B"], 1)


# ------------------------------------------------------------------------------- n-grams


@settings(max_examples=30, deadline=None)
@given(texts(5), st.integers(0, 6), st.sampled_from(["13a", "none"]), st.booleans())
def test_ngrams_are_plain_counting(some, most, tokenize, lowercase):
    one, other, *references = some

    def cut(lines):
        return [tokens_of(line or "", tokenize, lowercase) for line in lines]

    streams = [cut(stream) for stream in references]
    a, b = ngram_matches(cut(one), streams), ngram_matches(cut(other), streams)
    found = different_ngrams((one, other), references, most, tokenize, lowercase)
    for ours, theirs, side in ((a, b, 0), (b, a, 1)):
        more = [ngram for ngram in ours if ours[ngram] > theirs[ngram]]
        more.sort(key=lambda g: (-(ours[g] + 1) / (theirs[g] + 1), theirs[g] - ours[g], len(g), g))
        assert [(n.words, n.matches) for n in found[side]] == [(" ".join(g), (a[g], b[g])) for g in more[:most]]


def test_ngrams_by_hand():
    references = ["the cat sat", "the cat ran", "a dog"]
    found = different_ngrams((["the cat", "the cat ran", "the"], ["cat the sat", "ran cat the", "a"]), [references], 3)
    assert [(n.words, n.matches) for n in found[0]] == [
        ("the cat", (2, 0)),
        ("cat ran", (1, 0)),
        ("the cat ran", (1, 0)),
    ]
    assert [(n.words, n.matches) for n in found[1]] == [("a", (0, 1)), ("sat", (0, 1))]


# ------------------------------------------------------------------------------- words to be lit


def lit(line, references, **options):
    return [line[begin:end] for begin, end in matched_spans(line, references, **options)]


def test_matched_words_are_clipped_and_found_in_the_line_as_it_is():
    assert lit("the the  cat.", ["the cat sat."]) == ["the", "cat."]
    assert lit("the the cat", ["the cat", "the the"]) == ["the", "the", "cat"]
    assert lit("The Cat", ["the cat"]) == []
    assert lit("The Cat", ["the cat"], lowercase=True) == ["The", "Cat"]
    assert lit("猫が好き", ["猫は好き"], tokenize="char") == ["猫", "好き"]
    assert lit("", ["a"]) == []


def test_words_after_an_entity_are_still_found():
    assert lit("x &quot;cat&quot; &amp; dog", ['"cat" & dog']) == ["&quot;cat&quot;", "&amp;", "dog"]
    assert lit("x &quot;cat&quot; & dog", ["cat & dog"]) == ["cat", "&", "dog"]
    assert lit("x &quot;cat&quot; y", ["&quot;cat&quot;"], tokenize="none") == ["&quot;cat&quot;"]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=1, max_size=2), st.booleans())
def test_spans_are_in_order_and_inside_the_line(line, references, lowercase):
    spans = matched_spans(line, references, lowercase=lowercase)
    flat = [place for span in spans for place in span]
    assert flat == sorted(flat)
    assert all(begin < end for begin, end in spans)
    assert all(0 <= place <= len(line) for place in flat)


# ------------------------------------------------------------------------------- real systems


@pytest.mark.skipif(not MULTEVAL.exists(), reason="the multi-reference example is not here")
def test_ngrams_of_real_systems_with_four_references():
    hypotheses = [read(MULTEVAL / f"set1_set1.out.{i}.xz") for i in (0, 3)]
    references = [read(MULTEVAL / f"set1_set1.ref{i}.xz") for i in range(4)]
    found = different_ngrams((hypotheses[0], hypotheses[1]), references, 20, "none")
    streams = [[line.split() for line in stream] for stream in references]
    a, b = (ngram_matches([line.split() for line in lines], streams) for lines in hypotheses)
    for side in found:
        for ngram in side:
            words = tuple(ngram.words.split())
            assert ngram.matches == (a[words], b[words])
    assert min(min(n.matches[0] for n in found[0]), min(n.matches[1] for n in found[1])) > 0


@pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")
def test_lines_of_real_systems():
    names = ("uedin-nmt.4722.en-de", "xmu.4910.en-de", "reference.de")
    one, other, reference = (read(WMT17 / f"newstest2017.{name}.xz")[:1000] for name in names)
    found = compare(Bleu(), one, other, reference, most=5)
    assert found.wins + found.ties + found.losses == 1000
    leads = [
        sacrebleu.sentence_bleu(a, [r]).score - sacrebleu.sentence_bleu(b, [r]).score
        for a, b, r in zip(one, other, reference, strict=True)
    ]
    assert found.wins == sum(lead > 1e-9 for lead in leads)
    assert found.losses == sum(lead < -1e-9 for lead in leads)
    for side, lines in zip((1, -1), found.lines, strict=True):
        best = sorted((lead * side for lead in leads), reverse=True)[:5]
        assert [(line.scores[0] - line.scores[1]) * side for line in lines] == pytest.approx(best)


# ------------------------------------------------------------------------------- bad input


def test_texts_that_do_not_belong_together():
    metric, lines = Bleu(), ["a", "b", "c"]
    stats = metric.stats(lines, lines)
    with pytest.raises(InputError, match=re.escape('the source has 2 lines, but "A" has 3')):
        differences(metric, ("A", "B"), (lines, lines), (stats, stats), lines, source=["a", "b"])
    with pytest.raises(InputError, match=re.escape('"B" as it was counted has 2 lines, but "A" has 3')):
        differences(metric, ("A", "B"), (lines, lines), (stats, stats[:2]), lines)
    with pytest.raises(InputError, match="2 hypotheses, 3 references"):
        differences(metric, ("A", "B"), (lines, lines[:2]), (stats, stats), lines)
    with pytest.raises(InputError, match="0 or more, but is -1"):
        differences(metric, ("A", "B"), (lines, lines), (stats, stats), lines, most=-1)
