"""A comparison as a person reads it: in the terminal, as Markdown, and as one HTML page with plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from regard.compare.entrants import ADDITIONS, BASELINES
from regard.compare.published import PUBLISHED
from regard.compare.report import LONG, ComparisonReport, ModelRow
from regard.metrics.show.buckets import differences_html, differences_text
from regard.metrics.show.scores import columns
from regard.report.chart import Spot, line_chart, log_scatter
from regard.report.drawing import Drawing
from regard.report.page import page, picture, table

TITLE = "Models compared"
HEADER = (
    *("model", "BLEU", "p", f"> {LONG} words", "p", "parameters", "FLOPs", "time"),
    *("tokens/s", "memory", "rate", "test"),
)
NONE = "–"


# ------------------------------------------------------------------------------------------------ what is said


def cells(row: ModelRow) -> list[str]:
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
    """What the table cannot say of itself."""
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
    """What the names mean that are no architectures (what they need, after ";", is past), and notes on single rows."""
    models = [row.model for row in report.rows]
    added = {one for model in models for one in model.split("+")[1:]}
    named = [f"{name}: {what.partition(';')[0]}." for name, what in BASELINES.items() if name in models]
    named += [f"+{one}: {what.partition(';')[0]}." for one, what in ADDITIONS.items() if one in added]
    return named + [f"{row.model}: {row.note}." for row in report.rows if row.note]


def bucket_rows(report: ComparisonReport) -> tuple[list[str], list[list[str]]]:
    """BLEU by source length: the bottleneck curve, as a table."""
    header = ["words", "lines", *(row.model for row in report.rows)]
    rows = [
        [bucket.label, f"{bucket.lines:,}", *(f"{row.buckets[i].bleu:.2f}" for row in report.rows)]
        for i, bucket in enumerate(report.rows[0].buckets)
    ]
    return header, rows


def published_rows(report: ComparisonReport) -> tuple[list[str], list[list[str]]]:
    """Their figures beside the BLEU of the same kind of system here: other data, and far smaller."""
    ours = {row.model: row.mean for row in report.rows}
    header = ["system", "en–de BLEU", "en–fr BLEU", "en–de FLOPs", "en–fr FLOPs", "here", "BLEU here"]
    rows = []
    for p in PUBLISHED:
        bleu = [_known(value, "{:g}".format) for value in (p.en_de, p.en_fr)]
        flops = [_known(value, "{:.1e}".format) for value in (p.en_de_flops, p.en_fr_flops)]
        rows.append([p.system, *bleu, *flops, p.here, _known(ours.get(p.here), "{:.2f}".format)])
    return header, rows


# ------------------------------------------------------------------------------------------------ three forms


def render_text(report: ComparisonReport) -> str:
    header, rows = bucket_rows(report)
    parts = [columns([list(HEADER), *map(cells, report.rows)]), "\n".join(notes(report))]
    parts += ["BLEU by source length\n" + columns([header, *rows])]
    if report.apart is not None:
        parts.append(differences_text(report.apart))
    return "\n\n".join(parts)


def render_markdown(report: ComparisonReport) -> str:
    parts = [
        f"# {TITLE}",
        _markdown(list(HEADER), [cells(row) for row in report.rows]),
        "\n".join(f"- {note}" for note in notes(report)),
        "## BLEU by source length",
        _markdown(*bucket_rows(report)),
        "## Published for WMT 2014, not measured here",
        _markdown(*published_rows(report)),
    ]
    return "\n\n".join(parts) + "\n"


def render_html(report: ComparisonReport) -> str:
    curve = line_chart(
        "BLEU by source length, words",
        [bucket.label for bucket in report.rows[0].buckets],
        {row.model: [bucket.bleu for bucket in row.buckets] for row in report.rows},
        "BLEU",
    )
    ours = {row.model: [Spot(row.flops or None, row.mean)] for row in report.rows}
    theirs = [Spot(p.en_de_flops, p.en_de, p.system) for p in PUBLISHED if p.en_de_flops and p.en_de]
    body = [
        _html(list(HEADER), [cells(row) for row in report.rows]),
        *(f'<p class="quiet">{escape(note)}</p>' for note in notes(report)),
        "<h2>The bottleneck curve</h2>",
        picture(curve),
        _html(*bucket_rows(report)),
        "<h2>BLEU against training cost</h2>",
        *_pictures(log_scatter("measured here; dashed: no operations are counted", ours, "training FLOPs", "BLEU")),
        "<h2>Published for WMT 2014, not measured here</h2>",
        *_pictures(log_scatter("published, English–German", {"published": theirs}, "training FLOPs", "BLEU")),
        _html(*published_rows(report)),
    ]
    if report.apart is not None:
        body.append(differences_html(report.apart))
    return page(TITLE, "\n".join(body))


def _pictures(chart: Drawing | None) -> list[str]:
    return [] if chart is None else [picture(chart)]


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


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _html(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return table([escape(h) for h in header], [[escape(cell) for cell in row] for row in rows])
