"""The table of metrics: every metric in it keeps the contract, and a new one needs one module and one row."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from regard.cli.scoring import metrics
from regard.errors import InputError
from regard.metrics import METRICS, make_metric
from regard.metrics.base import Metric, References, Score, Stats, checked_lines, reference_count
from regard.metrics.significance import paired

HYPOTHESES = ["the cat sat on the mat", "a dog", "it is late", "we see him"]
WORSE = ["the cat", "dogs", "late", "we"]
REFERENCES = ["the cat sat on a mat", "a big dog", "it is late", "we see her"]


@dataclass(frozen=True)
class LengthRatio:
    """Words of the hypotheses per 100 words of the first reference."""

    lowercase: bool = False
    name = "length"
    higher_is_better = True

    def stats(self, hypotheses: list[str], references: References) -> Stats:
        lines, streams = checked_lines(hypotheses, references)
        rows = [[len(line.split()), len((ref or "").split())] for line, ref in zip(lines, streams[0], strict=True)]
        return Stats(np.array(rows), reference_count(streams))

    def score(self, stats: Stats) -> Score:
        return Score(self.name, float(self.scores(stats.total())), self.signature(stats.references))

    def scores(self, sums: Any) -> Any:
        return 100 * sums[..., 0] / np.maximum(1, sums[..., 1])

    def signature(self, references: int | None, test: Any = None) -> str:
        return f"nrefs:{references}"


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_keeps_the_contract(name: str) -> None:
    metric: Metric = make_metric(name)
    stats = metric.stats(HYPOTHESES, REFERENCES)
    whole = metric.score(stats)
    assert metric.scores(stats.total()) == pytest.approx(whole.score)
    assert metric.scores(stats.rows).shape == (4,)
    assert whole.signature == metric.signature(1)
    assert whole.name == metric.name
    worse = metric.score(metric.stats(WORSE, REFERENCES)).score
    assert (worse < whole.score) == metric.higher_is_better
    perfect = metric.score(metric.stats(REFERENCES, REFERENCES)).score
    assert perfect == pytest.approx(100 if metric.higher_is_better else 0)


def test_a_metric_takes_its_own_of_the_options() -> None:
    options = {"tokenize": "char", "word_order": 2, "lowercase": True}
    bleu, chrf, ter = metrics(["bleu", "chrf", "ter", "bleu"], options)
    assert bleu == make_metric("bleu", {"tokenize": "char", "lowercase": True})
    assert chrf.name == "chrF2++"
    assert ter == make_metric("ter")
    with pytest.raises(InputError, match='unknown metric "blue"; did you mean "bleu"'):
        make_metric("blue")


def test_a_new_metric_is_one_module_and_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("length_ratio")
    module.LengthRatio = LengthRatio  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "length_ratio", module)
    monkeypatch.setitem(METRICS, "length", ("length_ratio", "LengthRatio"))
    metric = make_metric("length", {"lowercase": True, "beta": 2})
    assert metric == LengthRatio(lowercase=True)
    systems = [metric.stats(lines, REFERENCES) for lines in (HYPOTHESES, WORSE)]
    first, second = paired(metric, systems, samples=50)
    assert first.score.score > second.score.score
