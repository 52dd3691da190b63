"""A comparison as a person reads it: in the terminal, as Markdown, and as one HTML page with plots."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from regard.compare.plot import line_chart, log_scatter
from regard.compare.published import PUBLISHED
from regard.compare.report import LONG, Report, Row
from regard.metrics.show.buckets import differences_html, differences_text
from regard.metrics.show.page import page, table
from regard.metrics.show.scores import columns

HEADER = ("model", "BLEU", "p", f"> {LONG} words", "p", "parameters", "FLOPs", "time", "tokens/s", "memory", "rate")


def cells(row: Row) -> list[str]:
    return [
        row.model,
        f"{row.mean:.2f}" + (f" ± {row.sd:.2f}" if row.sd is not None else ""),
        _p(row.p_value),
        "–" if row.long_bleu is None else f"{row.long_bleu:.2f}",
        _p(row.long_p_value),
        f"{row.parameters / 1e6:.2f} M",
        f"{row.flops:.2e}",
        f"{row.seconds / 60:.1f} min",
        f"{row.tokens_per_second:,.0f}",
        "–" if row.peak_bytes is None else f"{row.peak_bytes / 1e9:.2f} GB",
        f"{row.learning_rate:g}",
    ]


def notes(report: Report) -> list[str]:
    seeds = len(report.rows[0].bleu)
    runs = f"mean ± standard deviation over {seeds} seeds" if seeds > 1 else "one seed"
    test = f"{report.test_lines:,} test sentences, {report.long_lines:,} of them over {LONG} words"
    against = f"p: against {report.rows[0].model}, by approximate randomisation of the runs with the median BLEU"
    return [
        f"{test}; each model had {report.budget}; BLEU is {runs}.",
        f"{against}; * below 0.05, not corrected for the number of models.",
        f"signature: {report.signature}",
    ]


def bucket_rows(report: Report) -> tuple[list[str], list[list[str]]]:
    """BLEU by source length: the bottleneck curve, as a table."""
    header = ["words", "lines", *(row.model for row in report.rows)]
    rows = [
        [bucket.label, f"{bucket.lines:,}", *(f"{row.buckets[i].bleu:.2f}" for row in report.rows)]
        for i, bucket in enumerate(report.rows[0].buckets)
    ]
    return header, rows


def render_text(report: Report) -> str:
    header, rows = bucket_rows(report)
    parts = [columns([list(HEADER), *map(cells, report.rows)]), "\n".join(notes(report))]
    parts += ["BLEU by source length\n" + columns([header, *rows])]
    if report.apart is not None:
        parts.append(differences_text(report.apart))
    return "\n\n".join(parts)


def render_markdown(report: Report) -> str:
    header, rows = bucket_rows(report)
    published = [
        [p.system, *("–" if v is None else f"{v:g}" for v in (p.en_de, p.en_fr))]
        + ["–" if v is None else f"{v:.1e}" for v in (p.en_de_flops, p.en_fr_flops)]
        for p in PUBLISHED
    ]
    return (
        "\n\n".join(
            [
                "# Models compared",
                _markdown(list(HEADER), [cells(row) for row in report.rows]),
                "\n".join(f"- {note}" for note in notes(report)),
                "## BLEU by source length",
                _markdown(header, rows),
                "## Published for WMT 2014, not measured here",
                _markdown(["system", "en–de BLEU", "en–fr BLEU", "en–de FLOPs", "en–fr FLOPs"], published),
            ]
        )
        + "\n"
    )


def render_html(report: Report) -> str:
    header, rows = bucket_rows(report)
    curve = line_chart(
        "BLEU by source length, words",
        [bucket.label for bucket in report.rows[0].buckets],
        {row.model: [bucket.bleu for bucket in row.buckets] for row in report.rows},
        "BLEU",
    )
    ours = {row.model: [(row.flops, row.mean, "")] for row in report.rows if row.flops > 0}
    theirs = [(p.en_de_flops, p.en_de, p.system) for p in PUBLISHED if p.en_de_flops and p.en_de]
    body = [
        table([escape(h) for h in HEADER], [[escape(c) for c in cells(row)] for row in report.rows]),
        *(f'<p class="quiet">{escape(note)}</p>' for note in notes(report)),
        "<h2>The bottleneck curve</h2>",
        curve,
        table([escape(h) for h in header], [[escape(c) for c in row] for row in rows]),
        "<h2>BLEU against training cost</h2>",
        log_scatter("measured here", ours, "training FLOPs", "BLEU"),
        log_scatter("published, WMT 2014 English–German", {"published": theirs}, "training FLOPs", "BLEU"),
    ]
    if report.apart is not None:
        body.append(differences_html(report.apart))
    return page("Models compared", "\n".join(body))


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}{'*' if value < 0.05 else ''}"


def _markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
