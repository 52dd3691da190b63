"""The work of `regard bleu`: read files, score them, and join the parts of the output.

Every part can be rendered as text, as data and as HTML; the flags decide which one is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.cli.lines import read_lines
from regard.data.compressed import bare_suffixes
from regard.errors import InputError
from regard.metrics import make_metric
from regard.metrics.base import Metric, Stats, Stream, looks_tokenized
from regard.metrics.bleu import Bleu


@dataclass(frozen=True)
class Part:
    """A part of the output, in three forms."""

    name: str
    text: str
    data: Any
    html: str = ""


@dataclass
class ScoringJob:
    """The input of `regard bleu`, and the statistics counted so far."""

    systems: dict[str, list[str]]  # name → lines
    streams: list[Stream]  # reference streams
    metrics: Sequence[Any]
    digits: int  # after the decimal point
    counted: dict[tuple[str, str], Stats] = field(default_factory=dict)  # (metric, system) → counts

    def stats(self, metric: Metric, system: str) -> Stats:
        """The statistics of a system, counted on first use."""
        key = (metric.name, system)
        if key not in self.counted:
            self.counted[key] = metric.stats(self.systems[system], self.streams)
        return self.counted[key]

    def bleu(self, flag: str) -> Bleu:
        for metric in self.metrics:
            if isinstance(metric, Bleu):
                return metric
        raise InputError(f"{flag} shows BLEU, but only {self.metrics[0].name} was asked for; add: -m bleu")


def metrics(names: Sequence[str], options: Mapping[str, Any]) -> list[Metric]:
    """The requested metrics, without repetitions; each takes the options that it has."""
    return [make_metric(name, options) for name in dict.fromkeys(names)]


def read(hypotheses: Sequence[Path], references: Sequence[Path], metrics: Sequence[Any], digits: int) -> ScoringJob:
    systems: dict[str, list[str]] = {}
    for path in hypotheses:
        if str(path) in systems:
            raise InputError(f"{path} is named twice; name each system once")
        systems[str(path)] = list(read_lines(path, keep_bom=True))
        if not systems[str(path)]:
            raise InputError(f"{_called(path)} is empty; it must hold one translation a line")
    streams: list[Stream] = []
    for path in references:
        found = read_references(path)
        for system, lines in systems.items():
            if len(found[0]) != len(lines):
                raise InputError(
                    f"{_called(Path(system))} has {len(lines):,} lines but {_called(path)} has {len(found[0]):,}; "
                    "each line needs its reference"
                )
        streams += found
    return ScoringJob(systems, streams, metrics, digits)


def read_references(path: Path) -> list[Stream]:
    """Read one stream; a .tsv (also compressed) has one stream per column, and an empty cell means no reference."""
    lines = list(read_lines(path, keep_bom=True))
    if bare_suffixes(path)[-1:] != [".tsv"]:
        return [list(lines)]
    rows = [[cell or None for cell in line.split("\t")] for line in lines]
    columns = max(map(len, rows))
    return [[row[i] if i < len(row) else None for row in rows] for i in range(columns)]


def lines_beside(path: Path, flag: str, job: ScoringJob) -> list[str]:
    """Read a file that corresponds to the translations line by line; raise InputError if the lengths differ."""
    lines = list(read_lines(path))
    system, others = next(iter(job.systems.items()))
    if len(lines) != len(others):
        raise InputError(f"{flag} {path} has {len(lines):,} lines but {system} has {len(others):,}; they go together")
    return lines


def warn(job: ScoringJob) -> None:
    """Warn on standard error about problems that may affect a score."""
    for system, lines in job.systems.items():
        bleu = [m for m in job.metrics if isinstance(m, Bleu)]
        if bleu and bleu[0].tokenize != "none" and looks_tokenized(lines):
            _say(
                f'{system}: 100 or more lines end in " ."; the text looks tokenized, and that changes scores. Put '
                "words and marks together again, or score it as it is: --tokenize none"
            )
        empty = [n for n, line in enumerate(lines, start=1) if not line.strip()]
        if empty:
            _say(f"{system}: {len(empty):,} of {len(lines):,} lines are empty, the first is line {empty[0]:,}")
        for metric in bleu:
            longest = int(job.stats(metric, system).rows[:, 0].max())
            if longest < metric.max_order and not metric.effective_order:
                _say(
                    f"{system}: no line has {metric.max_order} tokens (the longest has {longest}), so BLEU with "
                    f"{metric.max_order}-grams is 0; use --effective-order or --max-order {max(1, longest)}"
                )


def whole(job: ScoringJob, confidence: bool, paired: str | None, resamples: int | None, seed: int) -> Part:
    """The score of every system by every metric, with intervals or a paired test if requested."""
    from regard.metrics.show.comparison import show_scores
    from regard.metrics.significance import TESTS, ComparedScore, bootstrap
    from regard.metrics.significance import paired as paired_test

    if paired is not None and len(job.systems) < 2:
        raise InputError("--paired compares systems with the first, but only one was given; name two files or more")
    table: dict[str, list[ComparedScore]] = {}
    for metric in job.metrics:
        stats = [job.stats(metric, system) for system in job.systems]
        if paired is not None:
            table[metric.name] = paired_test(metric, stats, paired, resamples, seed)
        elif confidence:
            found = [
                bootstrap(metric, some, TESTS["bootstrap"][1] if resamples is None else resamples, seed)
                for some in stats
            ]
            table[metric.name] = [ComparedScore(score, interval) for score, interval in found]
        else:
            table[metric.name] = [ComparedScore(metric.score(some)) for some in stats]
    text = show_scores(list(job.systems), table, job.digits)
    entries = [
        {"system": system, **found[i].to_dict()} for found in table.values() for i, system in enumerate(job.systems)
    ]
    data = entries[0] if len(entries) == 1 else entries
    return Part("scores", text, data)


def each_line(job: ScoringJob) -> Part:
    """One score per line; several metrics or systems are columns, with a header line."""
    columns = {
        " ".join([*([system] if len(job.systems) > 1 else []), metric.name]): metric.scores(
            job.stats(metric, system).rows
        ).tolist()
        for system in job.systems
        for metric in job.metrics
    }
    head = ["\t".join(columns)] if len(columns) > 1 else []
    rows = ["\t".join(f"{score:.{job.digits}f}" for score in some) for some in zip(*columns.values(), strict=True)]
    return Part("lines", "\n".join(head + rows), columns)


def explain(job: ScoringJob, line: int | None) -> Part:
    from regard.metrics.bleu_steps import explain_bleu
    from regard.metrics.show.bleu_steps import render_html, render_text

    if len(job.systems) > 1:
        raise InputError(f"--explain shows one system, but {len(job.systems)} were given; name one file")
    (lines,) = job.systems.values()
    working = explain_bleu(job.bleu("--explain"), lines, job.streams, line)
    return Part("explain", render_text(working), working.to_dict(), render_html(working))


def buckets(
    job: ScoringJob, by: str, *, src: Path | None, tags: Path | None, counts: Path | None, edges: tuple[int, ...] | None
) -> Part:
    from regard.metrics.buckets import bucket_scores, by_length, by_tags
    from regard.metrics.show.comparison import bucket_html, bucket_text

    if by == "frequency":
        return frequency(job, counts, edges)
    if by == "tags":
        if tags is None:
            raise InputError("--by tags needs the tags, a line each; give --line-tags FILE")
        kinds = by_tags(lines_beside(tags, "--line-tags", job))
    elif by == "source-length":
        if src is None:
            raise InputError("--by source-length needs the source text; give --src FILE")
        kinds = by_length(lines_beside(src, "--src", job), edges, "source length")
    else:
        first = [next(line for line in some if line is not None) for some in zip(*job.streams, strict=True)]
        kinds = by_length(first, edges, "reference length")
    tables = [
        bucket_scores(metric, {system: job.stats(metric, system) for system in job.systems}, kinds)
        for metric in job.metrics
    ]
    return Part(
        "buckets",
        "\n\n".join(bucket_text(table, job.digits) for table in tables),
        [table.to_dict() for table in tables],
        "\n".join(bucket_html(table, job.digits) for table in tables),
    )


def frequency(job: ScoringJob, counts: Path | None, edges: tuple[int, ...] | None) -> Part:
    from regard.metrics.buckets import word_frequency
    from regard.metrics.show.comparison import frequency_html, frequency_text

    bleu = next((m for m in job.metrics if isinstance(m, Bleu)), Bleu())
    lines, name = (None, None) if counts is None else (read_lines(counts), str(counts))
    table = word_frequency(job.systems, job.streams, lines, edges, bleu.tokenize, bleu.lowercase, name)
    return Part("buckets", frequency_text(table, job.digits), table.to_dict(), frequency_html(table, job.digits))


def differences(job: ScoringJob, most: int, src: Path | None) -> Part:
    from regard.metrics.differences import differences as differing
    from regard.metrics.show.comparison import differences_html, differences_text

    if len(job.systems) != 2:
        raise InputError(f"--differences compares two systems, but was given {len(job.systems)}; name two files")
    (one, first), (other, second) = job.systems.items()
    metric = job.metrics[0]
    stats = job.stats(metric, one), job.stats(metric, other)
    source = lines_beside(src, "--src", job) if src is not None else None
    bleu = next((m for m in job.metrics if isinstance(m, Bleu)), Bleu())
    settings = most, bleu.tokenize, bleu.lowercase
    found = differing(metric, (one, other), (first, second), stats, job.streams, source, *settings)
    return Part(
        "differences", differences_text(found, job.digits), found.to_dict(), differences_html(found, job.digits)
    )


def publish(parts: Sequence[Part], as_json: bool, out: Path | None) -> None:
    from regard.report.deliver import Output, deliver, show
    from regard.report.json import dumps
    from regard.report.page import page

    output = Output(
        text=lambda: "\n\n".join(part.text for part in parts),
        data=lambda: parts[0].data if len(parts) == 1 else {part.name: part.data for part in parts},
        page=lambda: parts[0].html or page("Systems compared", "\n".join(part.html for part in parts[1:])),
    )
    if out is not None:
        if out.suffix.lower() == ".html" and not any(part.html for part in parts):
            raise InputError("a page shows --explain, --by or --differences; add one of them, or write .json or .txt")
        deliver(output, out)
    show(dumps(output.data()) if as_json and output.data else output.text())


def _called(path: Path) -> str:
    return "standard input" if str(path) == "-" else str(path)


def _say(line: str) -> None:
    print(f"regard: {line}", file=sys.stderr)
