"""From finished runs to figures: BLEU with its spread and significance, costs, and BLEU by source length.

Statistics are counted once per run (`metrics`); everything else is sums of them. A model's BLEU is the mean over its
seeds; where one run must stand for a model (significance, samples) it is the one with the median BLEU.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from regard.compare.run import EntrantResult
from regard.metrics.base import Stats
from regard.metrics.bleu import Bleu
from regard.metrics.buckets import by_length
from regard.metrics.differences import Differences, differences
from regard.metrics.significance import paired
from regard.training.evaluate import HeldOut

LENGTHS = (5, 10, 15, 20, 25, 30, 40)  # words; where buckets of source length begin
LONG = 25  # words; a sentence of more is long
ENOUGH = 30  # lines; a test of significance on fewer, or a BLEU of them, says nothing
SAMPLES = 3


@dataclass(frozen=True)
class LengthBucket:
    label: str
    lines: int
    bleu: float  # of all seeds' translations together


@dataclass(frozen=True)
class ModelRow:
    """One model over its seeds; None where it has no such figure."""

    model: str
    bleu: tuple[float, ...]  # of each seed
    long_bleu: float | None  # on sentences of more than LONG words, all seeds together; None if they are too few
    p_value: float | None  # against the first model; by approximate randomisation
    long_p_value: float | None
    parameters: int | None
    steps: int | None
    flops: float | None  # of training one seed, mean
    seconds: float  # of learning
    tokens_per_second: float | None  # while training
    peak_bytes: int | None
    learning_rate: float | None
    translating: float  # seconds for the test
    note: str
    buckets: tuple[LengthBucket, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.bleu)

    @property
    def sd(self) -> float | None:
        return statistics.stdev(self.bleu) if len(self.bleu) > 1 else None


@dataclass(frozen=True)
class ComparisonReport:
    rows: tuple[ModelRow, ...]
    signature: str
    test_lines: int
    long_lines: int
    budget: str
    apart: Differences | None  # the first and the best model, line by line

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "rows": [{**asdict(r), "mean": r.mean, "sd": r.sd} for r in self.rows]}


def make_report(
    results: Sequence[EntrantResult], test: HeldOut, budget: str, metric: Bleu | None = None
) -> ComparisonReport:
    metric = metric or Bleu()
    models = list(dict.fromkeys(result.model for result in results))
    runs = {name: [r for r in results if r.model == name] for name in models}
    stats = {name: [metric.stats(r.translations, test.references) for r in some] for name, some in runs.items()}
    scores = {name: [metric.score(one).score for one in some] for name, some in stats.items()}
    median = {name: int(np.argsort(some)[(len(some) - 1) // 2]) for name, some in scores.items()}
    whole = [stats[name][median[name]] for name in models]
    long = np.flatnonzero([len(line.split()) > LONG for line in test.sources])
    p_values = _p_values(metric, whole)
    long_p_values = _p_values(metric, [one[long] for one in whole]) if len(long) >= ENOUGH else [None] * len(models)
    rows = tuple(
        _row(metric, runs[name], stats[name], scores[name], test, long, p, long_p)
        for name, p, long_p in zip(models, p_values, long_p_values, strict=True)
    )
    best = max(models, key=lambda name: statistics.fmean(scores[name]))
    return ComparisonReport(
        rows=rows,
        signature=metric.signature(1),
        test_lines=len(test.sources),
        long_lines=len(long),
        budget=budget,
        apart=None if best == models[0] else _apart(metric, models[0], best, runs, stats, median, test),
    )


def _row(
    metric: Bleu,
    runs: Sequence[EntrantResult],
    stats: Sequence[Stats],
    scores: Sequence[float],
    test: HeldOut,
    long: Any,
    p_value: float | None,
    long_p_value: float | None,
) -> ModelRow:
    together = Stats(np.sum([one.rows for one in stats], axis=0), stats[0].references)  # (lines, k), seeds added
    lengths = by_length(test.sources, LENGTHS, "source length")
    buckets = tuple(
        LengthBucket(label, len(members), metric.score(together[members]).score)
        for label, members in zip(lengths.labels, lengths.members, strict=True)
        if len(members)
    )
    return ModelRow(
        model=runs[0].model,
        bleu=tuple(scores),
        long_bleu=metric.score(together[long]).score if len(long) >= ENOUGH else None,
        p_value=p_value,
        long_p_value=long_p_value,
        parameters=runs[0].cost.parameters,
        steps=runs[0].cost.steps,
        flops=_mean([r.cost.flops for r in runs]),
        seconds=statistics.fmean(r.cost.seconds + r.cost.aligning for r in runs),
        tokens_per_second=_mean([r.cost.tokens_per_second for r in runs]),
        peak_bytes=max((r.cost.peak_bytes for r in runs if r.cost.peak_bytes), default=None),
        learning_rate=runs[0].learning_rate,
        translating=statistics.fmean(r.translating for r in runs),
        note=runs[0].note,
        buckets=buckets,
    )


def _mean(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return statistics.fmean(known) if known else None


def _p_values(metric: Bleu, systems: Sequence[Stats]) -> list[float | None]:
    if len(systems) < 2:
        return [None] * len(systems)
    return [one.p_value for one in paired(metric, systems, "randomisation")]


def _apart(
    metric: Bleu,
    first: str,
    best: str,
    runs: dict[str, list[EntrantResult]],
    stats: dict[str, list[Stats]],
    median: dict[str, int],
    test: HeldOut,
) -> Differences:
    one, other = (runs[name][median[name]] for name in (first, best))
    counted = (stats[first][median[first]], stats[best][median[best]])
    texts = (one.translations, other.translations)
    return differences(metric, (first, best), texts, counted, test.references, test.sources, SAMPLES, metric.tokenize)
