"""Resampling against sacreBLEU's own, number by number, and against the definition, sample by sample."""

from __future__ import annotations

import json
import logging
import lzma
import re
import tracemalloc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu.significance as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from regard.errors import InputError
from regard.metrics import significance
from regard.metrics.base import Score, Stats, format_signature
from regard.metrics.bleu import Bleu
from regard.metrics.chrf import Chrf
from regard.metrics.significance import (
    ComparedScore,
    Interval,
    bootstrap,
    draws,
    interval,
    p_value,
    paired,
    resampled_by_definition,
    resampled_scores,
    swapped_by_definition,
    swapped_differences,
    swaps,
    weighted_sums,
)
from regard.metrics.ter import Ter

WMT17 = Path(__file__).parents[3] / "shared" / "data" / "wmt17-en-de-systems"
SYSTEMS = ["LMU-nmt-single.4893", "xmu.4910", "LIUM-NMT.4900"]  # near each other
SINGLE, DOUBLE = 1e-5, 1e-9  # how near sacreBLEU's numbers come where it divides in single or in double precision


@dataclass(frozen=True)
class Rate:
    """A tiny metric of a kind that BLEU is not: lower is better, and rows are fractions."""

    name = "rate"
    higher_is_better = False

    def stats(self, hypotheses: Sequence[str], references: Any) -> Stats:
        rows = [[abs(len(h) - len(r)) / 3, len(r) / 7] for h, r in zip(hypotheses, references, strict=True)]
        return Stats(np.array(rows), 1)

    def scores(self, sums: Any) -> Any:
        return 100 * sums[..., 0] / sums[..., 1]

    def score(self, stats: Stats) -> Score:
        return Score(self.name, float(self.scores(stats.total())), self.signature(stats.references))

    def signature(self, references: int | None, test: Mapping[str, int] | None = None) -> str:
        return format_signature(references, test)


def texts(lines: int, systems: int, seed: int = 1, wrong: Sequence[float] = ()) -> tuple[list[list[str]], list[str]]:
    """Systems that take each word of the reference or, so often as `wrong` says, another one."""
    generator = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(20)]
    reference = [list(generator.choice(words, size=generator.integers(3, 12))) for _ in range(lines)]
    found = []
    for share in wrong or [0.3] * systems:
        kept = [[w if generator.random() > share else generator.choice(words) for w in line] for line in reference]
        found.append([" ".join(line) for line in kept])
    return found, [" ".join(line) for line in reference]


def counted(lines: int, systems: int, seed: int = 1, wrong: Sequence[float] = ()) -> list[Stats]:
    hypotheses, reference = texts(lines, systems, seed, wrong)
    return [Bleu().stats(one, reference) for one in hypotheses]


@pytest.fixture
def double_precision(monkeypatch):
    """sacreBLEU keeps counts in single precision while it resamples, and so divides in it; here it does not."""

    class Numpy:
        def __getattr__(self, name):
            return getattr(np, name)

        def array(self, values, dtype=None):
            return np.array(values, dtype="float64" if dtype == "float32" else dtype)

    monkeypatch.setattr(theirs, "np", Numpy())


def their_paired(monkeypatch, systems, reference, test, samples, seed=12345, metric=None):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    monkeypatch.setattr(logging.getLogger("sacrebleu"), "level", logging.ERROR)
    named = [(str(number), lines) for number, lines in enumerate(systems)]
    metrics = {"any": metric or BLEU()}
    signatures, results = theirs.PairedTest(named, metrics, [reference], test, n_samples=samples)()
    (name,) = signatures
    return str(signatures[name]), results[name]


def hold_equal(ours, signature, results, precision):
    for mine, their in zip(ours, results, strict=True):
        assert mine.score.signature == signature
        assert mine.score.score == pytest.approx(their.score, abs=DOUBLE)
        assert mine.p_value == their.p_value
        assert (mine.interval is None) == (their.mean is None)
        if mine.interval is not None:
            assert mine.interval.mean == pytest.approx(their.mean, abs=precision)
            assert mine.interval.half == pytest.approx(their.ci, abs=precision)


# ------------------------------------------------------------------------------- sacreBLEU as the oracle


@pytest.mark.parametrize("seed", [12345, 7])
@pytest.mark.parametrize(("test", "short"), [("bootstrap", "bs"), ("randomisation", "ar")])
@pytest.mark.parametrize(("metric", "their_metric"), [(Bleu(), BLEU()), (Chrf(), CHRF()), (Ter(), TER())])
def test_paired_tests_equal_sacrebleu(monkeypatch, double_precision, metric, their_metric, test, short, seed):
    systems, reference = texts(83, 5, wrong=[0.30, 0.31, 0.28, 0.33, 0.5])
    ours = paired(metric, [metric.stats(one, reference) for one in systems], test, 300, seed)
    signature, results = their_paired(monkeypatch, systems, reference, short, 300, seed, their_metric)
    assert max(result.p_value for result in results[1:]) > 0.05
    assert min(result.p_value for result in results[1:]) < 0.05
    hold_equal(ours, signature, results, DOUBLE)


def test_sacrebleu_in_single_precision_differs_in_the_seventh_digit_at_most(monkeypatch):
    systems, reference = texts(60, 3)
    ours = paired(Bleu(), [Bleu().stats(one, reference) for one in systems], "bootstrap", 200)
    hold_equal(ours, *their_paired(monkeypatch, systems, reference, "bs", 200), SINGLE)


@pytest.mark.parametrize("resamples", [2, 39, 40, 41, 500])
def test_interval_of_one_system_equals_sacrebleu(double_precision, monkeypatch, resamples):
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    (system,), reference = texts(50, 1)
    metric = BLEU()
    score = metric.corpus_score(system, [reference], n_bootstrap=resamples)
    ours, around = bootstrap(Bleu(), Bleu().stats(system, reference), resamples)
    assert ours.score == pytest.approx(score.score, abs=DOUBLE)
    assert ours.signature == str(metric.get_signature())
    assert around.mean == pytest.approx(score._mean, abs=DOUBLE)
    assert around.half == pytest.approx(score._ci, abs=DOUBLE)


def test_the_numbers_of_samples_are_sacrebleus_unless_given(monkeypatch):
    systems, reference = texts(5, 2)
    stats = [Bleu().stats(one, reference) for one in systems]
    for test, short in (("bootstrap", "bs"), ("randomisation", "ar")):
        signature, _ = their_paired(monkeypatch, systems, reference, short, 0)
        assert paired(Bleu(), stats, test)[1].score.signature == signature
    assert bootstrap(Bleu(), stats[0])[0].signature.startswith("nrefs:1|bs:1000|seed:12345|")


@pytest.mark.skipif(not WMT17.exists(), reason="the WMT17 English-German system outputs are not here")
@pytest.mark.parametrize(("test", "short", "samples"), [("bootstrap", "bs", 100), ("randomisation", "ar", 100)])
def test_wmt17_systems_equal_sacrebleu(monkeypatch, test, short, samples):
    def read(name):
        return lzma.decompress((WMT17 / f"newstest2017.{name}.xz").read_bytes()).decode("utf-8").split("\n")[:-1]

    systems, reference = [read(f"{name}.en-de") for name in SYSTEMS], read("reference.de")
    ours = paired(Bleu(), [Bleu().stats(one, reference) for one in systems], test, samples)
    hold_equal(ours, *their_paired(monkeypatch, systems, reference, short, samples), SINGLE)


# ------------------------------------------------------------------------------- the definition as the oracle

METRICS = [Bleu(), Bleu(smooth="none", effective_order=True), Rate()]


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(METRICS),
    st.integers(1, 40),
    st.integers(1, 70),
    st.integers(0, 99),
    st.integers(1, 4000),
    st.integers(1, 4000),
)
def test_many_samples_at_once_are_the_definition_sample_by_sample(metric, lines, samples, seed, weights, floats):
    hypotheses, reference = texts(lines, 3, seed)
    systems = [metric.stats(one, reference) for one in hypotheses]
    with pytest.MonkeyPatch.context() as patch:  # from one sample at a time to all of them
        patch.setattr(significance, "WEIGHTS", weights)
        patch.setattr(significance, "FLOATS", floats)
        resampled = resampled_scores(metric, systems, samples, seed)
        swapped = swapped_differences(metric, systems, samples, seed)
    expected = [resampled_by_definition(metric, one, samples, seed) for one in systems]
    assert resampled == pytest.approx(np.stack(expected), abs=DOUBLE)
    expected = [swapped_by_definition(metric, systems[0], one, samples, seed) for one in systems[1:]]
    assert swapped == pytest.approx(np.stack(expected), abs=DOUBLE)


@pytest.mark.parametrize("lines", [1, 7, 32, 33])
@pytest.mark.parametrize("block", [1, 31, 32, 50, 1000])
def test_blocks_of_draws_are_one_large_draw(lines, block):
    drawn = np.random.default_rng(3).choice(lines, size=(130, lines), replace=True)
    expected = [np.bincount(row, minlength=lines) for row in drawn]
    assert np.array_equal(np.concatenate(list(draws(lines, 130, block, 3))), expected)
    coins = np.random.default_rng(3).integers(2, size=(130, lines), dtype=bool)
    assert np.array_equal(np.concatenate(list(swaps(lines, 130, block, 3))), coins)


@pytest.mark.parametrize("floats", [1, 200, 10**6])
def test_sums_of_counts_are_exact(monkeypatch, floats):
    monkeypatch.setattr(significance, "FLOATS", floats)
    generator = np.random.default_rng(2)
    rows = generator.integers(0, 2**20, size=(2, 50, 3))
    weights = generator.integers(0, 9, size=(4, 50))
    sums = weighted_sums(weights, [Stats(some, 1) for some in rows])
    assert np.array_equal(sums, np.einsum("rl,slk->rsk", weights, rows))


@pytest.mark.parametrize(
    ("lines", "systems", "samples"),
    [
        (20, 64, 5000),
        pytest.param(3000, 4, 4000, marks=pytest.mark.long),
        pytest.param(100_000, 16, 2, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("function", [resampled_scores, swapped_differences])
def test_memory_stays_small(function, lines, systems, samples):
    """Held at once, the sums, the weights or the rows of these would be 100 MB and more."""
    stats = [Stats(np.ones((lines, 10), dtype=np.int64), 1)] * systems
    tracemalloc.start()
    function(Bleu(), stats, samples)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


# ------------------------------------------------------------------------------- what a test must say


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
@pytest.mark.parametrize("metric", METRICS)
def test_a_system_does_not_differ_from_itself(test, metric):
    (lines,), reference = texts(45, 1)
    stats = metric.stats(lines, reference)
    baseline, same = paired(metric, [stats, stats], test, 100)
    assert same.score == baseline.score
    assert (same.difference, same.p_value) == (0, 1)
    if test == "bootstrap":
        assert same.difference_interval == Interval(0, 0, 0, 0)
        assert same.interval == baseline.interval


@pytest.mark.parametrize("test", ["bootstrap", "randomisation"])
def test_clearly_worse_lines_are_significant_and_slightly_worse_ones_are_not(test):
    baseline, worse, alike = paired(Bleu(), counted(200, 3, wrong=[0.2, 0.4, 0.205]), test, 400)
    assert (baseline.difference, baseline.p_value) == (None, None)
    assert worse.difference is not None
    assert worse.difference == pytest.approx(worse.score.score - baseline.score.score, abs=DOUBLE)
    assert worse.difference < -10
    assert worse.p_value == 1 / 401
    assert alike.p_value is not None
    assert alike.p_value > 0.1


@pytest.mark.parametrize("metric", METRICS)
def test_one_line_of_difference_is_not_significant(metric):
    """Each swap gives the very difference that was found, or its opposite: all ties, which rounding must not break."""
    (lines,), reference = texts(60, 1)
    other = [lines[0] + " w1 w2 w3", *lines[1:]]
    systems = [metric.stats(some, reference) for some in (lines, other)]
    drawn, swapped = (paired(metric, systems, test, 200)[1] for test in ("bootstrap", "randomisation"))
    assert swapped.difference == drawn.difference != 0
    assert swapped.p_value == 1
    assert drawn.p_value is not None
    assert drawn.p_value > 0.05


def test_the_p_value_is_right_as_often_as_it_says():
    """Systems that swapped lines by a coin are equally good: 5% of such pairs, not more, may have p < 0.05."""
    one, other = counted(150, 2, wrong=[0.2, 0.4])
    generator = np.random.default_rng(8)
    chances, inside = {"bootstrap": [], "randomisation": []}, []
    for _ in range(200):
        coin = generator.integers(2, size=(150, 1), dtype=bool)
        pair = [Stats(np.where(coin, a.rows, b.rows), 1) for a, b in ((one, other), (other, one))]
        for test, found in chances.items():
            compared = paired(Bleu(), pair, test, 200)[1]
            found.append(compared.p_value)
            if compared.difference_interval is not None:
                inside.append(compared.difference_interval.low <= 0 <= compared.difference_interval.high)
    coins, drawn = np.array(chances["randomisation"]), np.array(chances["bootstrap"])
    assert 0.01 <= (coins < 0.05).mean() <= 0.09
    assert np.quantile(coins, [0.25, 0.5, 0.75]) == pytest.approx([0.25, 0.5, 0.75], abs=0.1)
    assert 0.90 <= np.mean(inside) <= 0.99
    assert (drawn < 0.05).mean() <= 0.16  # the bootstrap's p-value is lenient, as the module says
    assert np.median(drawn) == pytest.approx(np.median(coins) / 2, abs=0.1)


def test_the_seed_decides():
    systems = counted(40, 2)
    for test in ("bootstrap", "randomisation"):
        one, same, other = (paired(Bleu(), systems, test, 100, seed) for seed in (0, 0, 1))
        assert one == same
        assert one[1].p_value != other[1].p_value
        assert "seed:0|" in one[1].score.signature


def test_lower_is_better_changes_nothing_but_the_sign():
    hypotheses, reference = ["abcd", "ab", "abcdef"] * 20, ["abcde", "abc", "abcdef"] * 20
    metric = Rate()
    systems = [metric.stats(hypotheses, reference), metric.stats(reference, reference)]
    better = paired(metric, systems, "bootstrap", 200)[1]
    assert better.difference is not None
    assert better.difference < 0
    assert better.difference_interval is not None
    assert better.difference_interval.high < 0
    assert better.p_value == 1 / 201


# ------------------------------------------------------------------------------- by hand


def test_interval_leaves_out_a_fortieth_on_each_side():
    assert interval(np.array([3.0])) == Interval(mean=3, half=0, low=3, high=3)
    skewed = interval(np.array([*range(79, 0, -1), 1000.0]))
    assert (skewed.low, skewed.high, skewed.half) == (3, 78, 37.5)
    assert skewed.mean == (79 * 40 + 1000) / 80


def test_p_value_counts_more_extreme_samples_and_one():
    assert p_value(np.array([3.0, 1.0, 2.0, 0.0]), 1.0) == 3 / 5
    assert p_value(np.array([1.0 + 1e-13, 1.0]), 1.0) == 1  # ties but for rounding, and nothing else
    assert p_value(np.array([0.0, 0.0]), 0.0) == 1
    assert p_value(np.array([0.0, 0.0]), 0.5) == 1 / 3


def test_the_bootstrap_of_two_lines_by_hand():
    """Lines weigh the same, so a resample has the first line's rate, the second's, or the mean of both."""
    rows = Stats(np.array([[0.0, 1.0], [1.0, 1.0]]), 1)
    scores = resampled_scores(Rate(), [rows], 4000)[0]
    found, counts = np.unique(scores, return_counts=True)
    assert found.tolist() == [0, 50, 100]
    assert counts / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


def test_as_json():
    first, second = paired(Bleu(), counted(20, 2), "bootstrap", 50)
    fields = json.loads(json.dumps(second.to_dict()))
    assert second.interval is not None
    assert fields["score"] == second.score.score
    assert fields["correct"] == list(second.score.to_dict()["correct"])
    assert fields["p_value"] == second.p_value
    assert fields["interval"]["low"] == second.interval.low
    assert set(fields["difference_interval"]) == {"mean", "half", "low", "high"}
    assert "p_value" not in first.to_dict()
    assert ComparedScore(first.score).to_dict() == first.score.to_dict()


# ------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ([5, 5, 4], {}, "system 1 has 5 and system 3 has 4"),
        ([5], {}, "needs a baseline and 1 system or more, but was given 1 in all"),
        ([], {}, "was given 0 in all"),
        ([0, 0], {}, "no lines to draw from"),
        ([5, 5], {"samples": 0}, "must be 1 to 1,000,000, but are 0"),
        ([5, 5], {"samples": 10**9}, "must be 1 to 1,000,000, but are 1,000,000,000"),
        ([5, 5], {"seed": -1}, "seed must be 0 or more, but is -1"),
    ],
)
def test_what_cannot_be_compared(lines, options, message):
    stats = counted(5, 1)[0]
    for test in ("bootstrap", "randomisation"):
        with pytest.raises(InputError, match=re.escape(message)):
            paired(Bleu(), [stats[:some] for some in lines], test, **options)


def test_a_test_that_does_not_exist():
    with pytest.raises(InputError, match=re.escape('unknown paired test "bootstap"; did you mean "bootstrap"?')):
        paired(Bleu(), counted(5, 2), "bootstap")
