"""TER: that what sacreBLEU counts arrives here unchanged, adds up, and gives the rates Tercom printed."""

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
from sacrebleu.metrics.ter import TER

from regard.errors import InputError
from regard.metrics.ter import Ter, ter

WMT17 = Path(__file__).parents[3] / "shared" / "data" / "wmt17-en-de-systems"
needs_wmt17 = pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")


def read(name: str) -> list[str]:
    return lzma.decompress((WMT17 / f"{name}.xz").read_bytes()).decode("utf-8").split("\n")[:-1]


def printed() -> dict[str, float]:
    rows = csv.DictReader((WMT17 / "expected_scores.tsv").read_text("utf-8").split("\n"), delimiter="\t")
    return {row["system"]: float(row["TER"]) for row in rows}


# ------------------------------------------------------------------------------- sacreBLEU as the oracle

WORDS = ["the", "The", "cat", "sat", "on", "mat.", "don't", "(hi)", "3.14", "&quot;", "x-y", "!"]
SCRIPTS = ["😀", "שלום", "你好。", "カタカナ", "ﾊﾟ！", "e\u0301", "\u00a0", "\u2028"]
LINE = st.lists(st.sampled_from(WORDS + SCRIPTS), max_size=10).map(" ".join) | st.text(max_size=8)


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[str], list[list[str | None]]]:
    """Lines with their reference streams, some with gaps; a hypothesis is often a reference in another order."""
    lines, streams = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    references: list[list[str | None]] = [[draw(LINE) for _ in range(lines)] for _ in range(streams)]
    hypotheses = []
    for i in range(lines):
        words = str(references[0][i]).split(" ")
        hypotheses.append(draw(LINE | st.permutations(words).map(" ".join)))
        kept = draw(st.integers(0, streams - 1))
        for stream in range(streams):
            if stream != kept and draw(st.integers(0, 3)) == 0:
                references[stream][i] = None
    return hypotheses, references


OPTIONS = st.fixed_dictionaries(
    {name: st.booleans() for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}
)


@settings(max_examples=40, deadline=None)
@given(corpora(), OPTIONS)
def test_equals_sacrebleu(corpus, options):
    hypotheses, references = corpus
    metric, oracle = Ter(**options), TER(**options)
    stats, theirs = metric.stats(hypotheses, references), oracle.corpus_score(hypotheses, references)
    ours = metric.score(stats)
    assert stats.rows.tolist() == oracle._extract_corpus_statistics(hypotheses, references)
    assert ours.score == pytest.approx(theirs.score, abs=1e-9)
    assert (ours.edits, ours.ref_len) == (theirs.num_edits, pytest.approx(theirs.ref_length))
    assert ours.signature == str(oracle.get_signature())
    line_by_line = [metric.score(stats[i]).score for i in range(len(stats))]
    assert metric.scores(stats.rows).tolist() == line_by_line
    assert metric.scores(stats.rows[None]).tolist() == [line_by_line]


def test_signature_is_sacrebleus_own():
    assert ter(["a b"], ["a c"]).signature == (
        f"nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:{sacrebleu.__version__}"
    )
    oracle = TER()
    oracle.corpus_score(["a b", "c d"], [["a c", "c e"], ["a", None]], n_bootstrap=10)
    assert Ter().signature(None, {"bs": 10, "seed": oracle.seed}) == str(oracle.get_signature())


# ------------------------------------------------------------------------------- what was printed elsewhere


@needs_wmt17
def test_real_lines_as_sacrebleu():
    hypotheses, reference = read("newstest2017.online-A.0.en-de")[:150], read("newstest2017.reference.de")[:150]
    for options in ({}, {"normalized": True, "case_sensitive": True}):
        theirs = TER(**options).corpus_score(hypotheses, [reference])
        assert str(ter(hypotheses, reference, **options)) == str(theirs)


@needs_wmt17
def test_official_wmt17_rate_of_one_system():
    """Tercom's rate, to the three digits it was published with."""
    system = "newstest2017.uedin-nmt.4722.en-de"
    ours = ter(read(system), read("newstest2017.reference.de"))
    assert ours.score / 100 == pytest.approx(printed()[system], abs=0.0005 + 1e-9)


@pytest.mark.slow
@needs_wmt17
def test_official_wmt17_rates_of_all_systems():
    reference, rates = read("newstest2017.reference.de"), printed()
    assert len(rates) == 16
    for system, rate in rates.items():
        assert ter(read(system), reference).score / 100 == pytest.approx(rate, abs=0.0005 + 1e-9), system


# ------------------------------------------------------------------------------- by hand


@pytest.mark.parametrize(
    ("hypothesis", "references", "edits", "ref_len"),
    [
        ("the cat sat on the mat", ["the cat sat on the mat"], 0, 6),
        ("on the mat the cat sat", ["the cat sat on the mat"], 1, 6),  # some words moved together: one edit
        ("The cat sat", ["the cat sat on"], 1, 4),  # capitals are no edit
        ("a b c", ["a x c", "a b c d e"], 1, 4),  # the fewest edits, the average length
        ("", ["a b"], 2, 2),
        ("a b", [""], 2, 0),
    ],
)
def test_edits_of_one_line(hypothesis, references, edits, ref_len):
    stats = Ter().stats([hypothesis], [[reference] for reference in references])
    assert stats.rows.tolist() == [[edits, ref_len]]


def test_less_is_better_and_a_rate_may_pass_100():
    assert not Ter.higher_is_better
    assert ter(["a b c d"], ["x"]).score == 400
    assert ter(["a b"], [""]).score == 100
    assert ter([""], [""]).score == 0


def test_statistics_add_up():
    metric = Ter()
    stats = metric.stats(["a b c d", "a b", ""], ["a b c d", "a c", "x"])
    assert metric.score(stats).score == pytest.approx(100 * (0 + 1 + 1) / (4 + 2 + 1))
    assert metric.score(stats[[1, 1]]).score == 50
    assert metric.scores(np.stack([stats.total(), stats[1].total()])) == pytest.approx([200 / 7, 50])


def test_printed_and_as_json():
    ours = ter(["on the mat the cat sat"], ["the cat sat on the mat"])
    assert str(ours) == "TER = 16.67"
    fields = json.loads(json.dumps(ours.to_dict()))
    assert (fields["name"], fields["edits"], fields["ref_len"]) == ("TER", 1, 6)


def test_lines_that_cannot_be_scored():
    with pytest.raises(InputError, match=re.escape("2 hypotheses, 1 references")):
        ter(["a", "b"], ["a"])
