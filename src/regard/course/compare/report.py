"""The figures of a comparison: BLEU with spread and significance, costs, and BLEU by source length.

Statistics are counted once per run (`metrics`); everything else is computed from their sums. A model's BLEU is the mean
over its seeds; significance and samples use the run with the median BLEU.

They are shown beside published scores for WMT 2014: table 2 of Vaswani et al. 2017, "Attention Is All You Need", as the
notes print it. BLEU is as the papers report it, tokenized and without a signature, on newstest2014; the costs are the
authors' own estimates: training time × number of GPUs × sustained speed of the GPU. The Transformers have one cost for
both languages: the paper prints it across both columns, the notes in the first. Nothing of it is measured by regard.
"""

from __future__ import annotations

import statistics
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from regard.course.compare.run import EntrantResult
from regard.metrics.base import Stats
from regard.metrics.bleu import Bleu
from regard.metrics.buckets import by_length
from regard.metrics.differences import Differences, differences
from regard.metrics.significance import paired
from regard.training.evaluate import HeldOut

LENGTHS = (5, 10, 15, 20, 25, 30, 40)  # words; lower edges of the buckets of source length
LONG = 25  # a longer sentence, in words, counts as long
ENOUGH = 30  # lines; on fewer, BLEU and a significance test mean little
SAMPLES = 3


@dataclass(frozen=True)
class LengthBucket:
    """BLEU of the sentences in one range of source lengths."""

    label: str
    lines: int
    bleu: float  # of all seeds' translations together


@dataclass(frozen=True)
class ModelRow:
    """One model over its seeds; None if a figure does not exist."""

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
    """The figures of a comparison, a row for each system."""

    rows: tuple[ModelRow, ...]
    signature: str
    test_lines: int
    long_lines: int
    budget: str
    apart: Differences | None  # examples of differences between the first and the best model

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as JSON values."""
        return {**asdict(self), "rows": [{**asdict(r), "mean": r.mean, "sd": r.sd} for r in self.rows]}


@dataclass(frozen=True)
class _ScoredModel:
    """All runs of one model: per seed, the result, its statistics and its BLEU."""

    runs: list[EntrantResult]
    stats: list[Stats]
    bleu: list[float]

    @property
    def median(self) -> int:
        """The seed with the median BLEU."""
        return int(np.argsort(self.bleu)[(len(self.bleu) - 1) // 2])


def make_report(
    results: Sequence[EntrantResult], test: HeldOut, budget: str, metric: Bleu | None = None
) -> ComparisonReport:
    """Makes the report from the results of all entrants on one test."""
    metric = metric or Bleu()
    models: dict[str, _ScoredModel] = {}
    for result in results:
        model = models.setdefault(result.model, _ScoredModel([], [], []))
        model.runs.append(result)
        model.stats.append(metric.stats(result.translations, test.references))
        model.bleu.append(metric.score(model.stats[-1]).score)
    median = [model.stats[model.median] for model in models.values()]
    long = np.flatnonzero([len(line.split()) > LONG for line in test.sources])
    p_values = _p_values(metric, median)
    long_p_values = _p_values(metric, [one[long] for one in median]) if len(long) >= ENOUGH else [None] * len(models)
    first, best = next(iter(models)), max(models, key=lambda name: statistics.fmean(models[name].bleu))
    return ComparisonReport(
        rows=tuple(
            _row(metric, model, test, long, (p, long_p))
            for model, p, long_p in zip(models.values(), p_values, long_p_values, strict=True)
        ),
        signature=metric.signature(1),
        test_lines=len(test.sources),
        long_lines=len(long),
        budget=budget,
        apart=None if best == first else _differences(metric, (models[first], models[best]), test),
    )


def _row(
    metric: Bleu, model: _ScoredModel, test: HeldOut, long: Any, p_values: tuple[float | None, float | None]
) -> ModelRow:
    runs, stats = model.runs, model.stats
    together = Stats(np.sum([one.rows for one in stats], axis=0), stats[0].references)  # (lines, k), seeds added
    lengths = by_length(test.sources, LENGTHS, "source length")
    buckets = tuple(
        LengthBucket(label, len(members), metric.score(together[members]).score)
        for label, members in zip(lengths.labels, lengths.members, strict=True)
        if len(members)
    )
    return ModelRow(
        model=runs[0].model,
        bleu=tuple(model.bleu),
        long_bleu=metric.score(together[long]).score if len(long) >= ENOUGH else None,
        p_value=p_values[0],
        long_p_value=p_values[1],
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


def _differences(metric: Bleu, models: tuple[_ScoredModel, _ScoredModel], test: HeldOut) -> Differences:
    """Returns the lines in which the first and the best model differ most, each represented by its median seed."""
    one, other = (model.runs[model.median] for model in models)
    counted = (models[0].stats[models[0].median], models[1].stats[models[1].median])
    return differences(
        metric,
        (one.model, other.model),
        (one.translations, other.translations),
        counted,
        test.references,
        test.sources,
        SAMPLES,
        metric.tokenize,
    )


# -------------------------------------------------------------------------------- published scores


class PublishedSystem(NamedTuple):
    """A row of the published table; None if it has no figure."""

    system: str
    here: str  # its name in a comparison
    en_de: float | None = None  # BLEU
    en_fr: float | None = None
    en_de_flops: float | None = None
    en_fr_flops: float | None = None


_TABLES = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
PUBLISHED = tuple(PublishedSystem(system, **figures) for system, figures in _TABLES.items())
