"""Formats a comparison as text, as Markdown, as data and as an HTML page with charts."""

from __future__ import annotations

from collections.abc import Callable

from regard.course.compare.entrants import ADDITIONS, BASELINES
from regard.course.compare.report import LONG, PUBLISHED, ComparisonReport, ModelRow
from regard.metrics.show.comparison import differences_html, differences_text
from regard.report.chart import Spot, line_chart, log_scatter
from regard.report.deliver import Output
from regard.report.page import escaped, page, picture
from regard.report.table import Table

TITLE = "Models compared"
BY_LENGTH, BY_COST = "BLEU by source length", "BLEU by training cost"
ELSEWHERE = "Published for WMT 2014, not measured here"
HEADER = (
    *("model", "BLEU", "p", f"> {LONG} words", "p", "parameters", "FLOPs", "time"),
    *("tokens/s", "memory", "rate", "test"),
)
NONE = "–"


def comparison_output(report: ComparisonReport) -> Output:
    """Returns the report in every format that `regard compare` writes."""
    return Output(
        text=lambda: render_text(report),
        data=report.to_dict,
        markdown=lambda: render_markdown(report),
        page=lambda: render_html(report),
    )


# ------------------------------------------------------------------------------------------------ the content


def main_table(report: ComparisonReport) -> Table:
    """Returns the main table, a row for each system."""
    return Table(HEADER, [_cells(row) for row in report.rows])


def _cells(row: ModelRow) -> list[str]:
    return [
        row.model,
        f"{row.mean:.2f}" + (f" ± {row.sd:.2f}" if row.sd is not None else ""),
        _p(row.p_value),
        _known(row.long_bleu, "{:.2f}".format),
        _p(row.long_p_value),
        _known(row.parameters, lambda count: f"{count / 1e6:.2f} M"),
        _known(row.flops, "{:.2e}".format),
        _time(row.seconds),
        _known(row.tokens_per_second, "{:,.0f}".format),
        _known(row.peak_bytes, lambda size: f"{size / 1e9:.2f} GB"),
        _known(row.learning_rate, "{:g}".format),
        _time(row.translating),
    ]


def notes(report: ComparisonReport) -> list[str]:
    """Explains the figures and the conditions under which they are valid."""
    seeds = {len(row.bleu) for row in report.rows}
    runs = f"mean ± standard deviation over {max(seeds)} seeds" if max(seeds) > 1 else "one seed"
    alone = "; without ±, one translator stands for all seeds" if len(seeds) > 1 else ""
    test = f"{report.test_lines:,} test sentences, {report.long_lines:,} of them over {LONG} words"
    against = f"p: against {report.rows[0].model}, by approximate randomisation of the runs with the median BLEU"
    summed = ", of several runs their sum" if any("+" in row.model for row in report.rows) else ""
    return [
        f"{test}; each training had {report.budget}; BLEU is {runs}{alone}.",
        f"{against}; * below 0.05, not corrected for the number of models.",
        f"FLOPs and time are those of training{summed}; memory is the most at once; test: time to translate the test.",
        *legend(report),
        f"signature: {report.signature}",
    ]


def legend(report: ComparisonReport) -> list[str]:
    """Explains names that are not architectures (without their conditions, after ";"), and gives notes on rows."""
    models = [row.model for row in report.rows]
    added = {one for model in models for one in model.split("+")[1:]}
    named = [f"{name}: {what.partition(';')[0]}." for name, what in BASELINES.items() if name in models]
    named += [f"+{one}: {what.partition(';')[0]}." for one, what in ADDITIONS.items() if one in added]
    return named + [f"{row.model}: {row.note}." for row in report.rows if row.note]


def length_table(report: ComparisonReport) -> Table:
    """Returns BLEU by source length: the bottleneck curve as a table."""
    header = ["words", "lines", *(row.model for row in report.rows)]
    rows = [
        [bucket.label, f"{bucket.lines:,}", *(f"{row.buckets[i].bleu:.2f}" for row in report.rows)]
        for i, bucket in enumerate(report.rows[0].buckets)
    ]
    return Table(header, rows)


def published_table(report: ComparisonReport) -> Table:
    """Returns published figures beside the BLEU of the same kind of system here, on other and far smaller data."""
    ours = {row.model: row.mean for row in report.rows}
    header = ["system", "en–de BLEU", "en–fr BLEU", "en–de FLOPs", "en–fr FLOPs", "here", "BLEU here"]
    rows = []
    for p in PUBLISHED:
        bleu = [_known(value, "{:g}".format) for value in (p.en_de, p.en_fr)]
        flops = [_known(value, "{:.1e}".format) for value in (p.en_de_flops, p.en_fr_flops)]
        rows.append([p.system, *bleu, *flops, p.here, _known(ours.get(p.here), "{:.2f}".format)])
    return Table(header, rows, left=(0, 5))


# ------------------------------------------------------------------------------------------------ the forms


def render_text(report: ComparisonReport) -> str:
    parts = [main_table(report).text(), "\n".join(notes(report)), f"{BY_LENGTH}\n{length_table(report).text()}"]
    if report.apart is not None:
        parts.append(differences_text(report.apart))
    return "\n\n".join(parts)


def render_markdown(report: ComparisonReport) -> str:
    parts = [
        f"# {TITLE}",
        main_table(report).markdown(),
        "\n".join(f"- {note}" for note in notes(report)),
        f"## {BY_LENGTH}",
        length_table(report).markdown(),
        f"## {ELSEWHERE}",
        published_table(report).markdown(),
    ]
    return "\n\n".join(parts) + "\n"


def render_html(report: ComparisonReport) -> str:
    curve = line_chart(
        f"{BY_LENGTH}, words",
        [bucket.label for bucket in report.rows[0].buckets],
        {row.model: [bucket.bleu for bucket in row.buckets] for row in report.rows},
        "BLEU",
    )
    ours = {row.model: [Spot(row.flops or None, row.mean)] for row in report.rows}
    theirs = {"published": [Spot(p.en_de_flops, p.en_de, p.system) for p in PUBLISHED if p.en_de_flops and p.en_de]}
    measured = log_scatter("measured here; dashed: no operations are counted", ours, "training FLOPs", "BLEU")
    published = log_scatter("published, English–German", theirs, "training FLOPs", "BLEU")
    body = [
        main_table(report).html(),
        *(f'<p class="quiet">{escaped(note)}</p>' for note in notes(report)),
        f"<h2>{BY_LENGTH}</h2>",
        picture(curve),
        length_table(report).html(),
        f"<h2>{BY_COST}</h2>",
        picture(measured) if measured else "",
        f"<h2>{ELSEWHERE}</h2>",
        picture(published) if published else "",
        published_table(report).html(),
    ]
    if report.apart is not None:
        body.append(differences_html(report.apart))
    return page(TITLE, "\n".join(body))


def _known(value: float | None, write: Callable[[float], str]) -> str:
    return NONE if value is None else write(value)


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}{'*' if value < 0.05 else ''}"


def _time(seconds: float) -> str:
    """
    >>> _time(3.21), _time(300)
    ('3.2 s', '5.0 min')
    """
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"
