"""The table of `complexity.py` for a reader: text, Markdown, and one HTML page with two plots drawn inline.

All three hold the same tables; the page adds every measured point. JSON is the report itself, as it is.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from html import escape

from regard.course.complexity.fit import Growth
from regard.course.complexity.measure import ComplexityReport, LayerRow
from regard.course.complexity.timing import Sweep
from regard.metrics.show.buckets import aligned
from regard.report.page import page, table

TITLE = "What a layer costs"
TEXT_WIDTH = 100
COLOURS = ("#c0392b", "#d98200", "#2f7fd0", "#2e9e5b", "#8e5bc0")  # readable on a light and on a dark page
PLOT_WIDTH, PLOT_HEIGHT, MARGIN, FOOT = 620, 360, 60, 40  # pixels

Place = Callable[[float, float], tuple[float, float]]

REMARKS = """
The notes print two rows, self-attention and recurrent; their caption explains k and r, whose rows they leave out. All
four are in Vaswani et al. 2017, table 1.

n²·d is the equation alone: 4·n²·d FLOPs. The four projections of a real layer add 8·n·d², which is more as long as
n < 2d, so for most sentences.

log_k n holds for convolutions dilated k-fold from layer to layer. A stack of plain ones reaches k−1 positions further
each time and needs (n−1)/(k−1) layers: the paper's text says O(n/k), its table does not.

A neighbourhood of r around a position reaches (r−1)/2 to each side, so the path of restricted self-attention is
2(n−1)/(r−1), twice n/r.

Where a path is longer than 1, so many layers are needed, and the cost of one is to be taken as often. A recurrent layer
walks its whole path in one.

Sequential operations count a matrix product as one, as if there were processors enough for all of it at once.

Time can rise faster than the operations where d×d matrices outgrow a cache, and slower where they are small.

The table says nothing of memory. Written out, the equation holds n² weights; a fused kernel need not.
"""


@dataclass(frozen=True)
class ReportTable:
    title: str
    header: list[str]
    rows: list[list[str]]
    words: int  # so many columns from the left hold words; the others numbers


# ------------------------------------------------------------------------------------------------ what is said


def remarks() -> list[str]:
    """Where the table is imprecise, one thing each."""
    return [" ".join(one.split()) for one in REMARKS.strip().split("\n\n")]


def tables(report: ComplexityReport) -> list[ReportTable]:
    return [_exponents(report, "n"), _exponents(report, "d"), _structure(report)]


def conditions(report: ComplexityReport) -> str:
    threads = "" if report.device != "cpu" else f", {report.threads} thread{'s' if report.threads > 1 else ''}"
    place = f"{report.device}{threads}, torch {report.torch}, k = {report.kernel}, r = {report.window}"
    if report.quick:
        place += "; quick: sizes too small for the exponents of time, on which fixed costs still weigh"
    return place


def explanation(report: ComplexityReport) -> str:
    return (
        "An exponent p says: twice the size, 2^p times the cost. It is fitted on sizes “from” … “to”; ± is how far the "
        "times lie from the fitted line (RMS). Time is measured, and noisy; FLOPs (products of matrices) and memory "
        "(most bytes of tensors at once) are counted. “Waits” are the matrix products that must wait for each other, "
        f"“path” the layers or steps from one end to the other; log is to the base k = {report.kernel}."
    )


def _exponents(report: ComplexityReport, axis: str) -> ReportTable:
    other = "d" if axis == "n" else "n"
    rows = []
    for row in report.rows:
        swept = _sweep(row, axis)
        claimed = row.claim.n if axis == "n" else row.claim.d
        fits = (swept.time_fit, swept.flops_fit, swept.memory_fit)
        time, flops, memory = (f"{fit.exponent:.2f}" for fit in fits)
        residual = f"±{100 * swept.time_fit.residual:.0f} %"
        sizes = [f"{swept.time_fit.since:,}", f"{swept.sizes[-1]:,}"]
        known = [row.layer, row.claim.cost, "1 to 2" if claimed is None else str(claimed)]
        rows.append([*known, time, residual, flops, memory, *sizes])
    title = f"Exponents of {axis} ({other} = {_sweep(report.rows[0], axis).fixed})"
    header = ["layer", "cost O(·)", "claimed", "time", "±", "FLOPs", "memory", "from", "to"]
    return ReportTable(title, header, rows, 2)


def _structure(report: ComplexityReport) -> ReportTable:
    rows = []
    for row in report.rows:
        for kind, path in row.paths.items():
            name = f"{row.layer}, {kind}" if kind else row.layer
            chain = [row.claim.sequential, law(row.sequential)]
            rows.append([name, *chain, row.claim.path, law(path), " ".join(map(str, path.counts))])
    lengths = " ".join(map(str, report.rows[0].sequential.lengths))
    header = ["layer", "waits", "found", "path", "found", f"at n = {lengths}"]
    return ReportTable("Sequential operations (waits) and longest path, O(·)", header, rows, 6)


def law(found: Growth) -> str:
    """
    >>> law(Growth([8, 16], [4, 8], "n", 0.5, 0.0)), law(Growth([8, 16], [2, 2], "1", 0.0, 2.0))
    ('0.5 n', '2')
    >>> law(Growth([9, 27], [2, 4], "log n", 1.177, -0.5))
    '1.18 log n − 0.5'
    """
    if found.law == "1":
        return f"{found.height:g}"
    slope = "" if found.slope == 1 else f"{found.slope:.3g} "
    height = f" {'+' if found.height > 0 else '−'} {abs(found.height):.2g}" if abs(found.height) > 0.005 else ""
    return f"{slope}{found.law}{height}"


def _sweep(row: LayerRow, axis: str) -> Sweep:
    return row.over_n if axis == "n" else row.over_d


# ------------------------------------------------------------------------------------------------ three forms


def as_text(report: ComplexityReport) -> str:
    parts = [textwrap.fill(f"{TITLE}: {conditions(report)}", TEXT_WIDTH)]
    for one in tables(report):
        parts.append("\n".join([one.title, *aligned([one.header, *one.rows], left=range(one.words))]))
    parts.append(textwrap.fill(explanation(report), TEXT_WIDTH))
    marks = (textwrap.fill(remark, TEXT_WIDTH, initial_indent="- ", subsequent_indent="  ") for remark in remarks())
    return "\n\n".join([*parts, "\n".join(marks)])


def as_markdown(report: ComplexityReport) -> str:
    parts = [f"# {TITLE}", conditions(report)]
    for one in tables(report):
        rule = ["---" if i < one.words else "--:" for i in range(len(one.header))]
        lines = ("| " + " | ".join(cells) + " |" for cells in [one.header, rule, *one.rows])
        parts.append(f"## {one.title}\n\n" + "\n".join(lines))
    parts += [explanation(report), "\n".join(f"- {remark}" for remark in remarks())]
    return "\n\n".join(parts) + "\n"


def as_json(report: ComplexityReport) -> str:
    return json.dumps(asdict(report), indent=2, ensure_ascii=False)


def as_page(report: ComplexityReport) -> str:
    parts = [f'<p class="quiet">{escape(conditions(report))}</p>']
    for one, axis in zip(tables(report), ["n", "d", ""], strict=True):
        cells = [[escape(cell) for cell in row] for row in one.rows]
        parts.append(f"<h2>{escape(one.title)}</h2>\n{table([*map(escape, one.header)], cells, one.words)}")
        if axis:
            parts.append(plot(report, axis))
    parts.append(f"<p>{escape(explanation(report))}</p>")
    parts.append("<ul>\n" + "\n".join(f"<li>{escape(remark)}</li>" for remark in remarks()) + "\n</ul>")
    parts.append(_points(report))
    return page(TITLE, "\n".join(parts))


def _points(report: ComplexityReport) -> str:
    rows = []
    for row in report.rows:
        for axis in "nd":
            swept = _sweep(row, axis)
            for size, seconds, flops, held in zip(swept.sizes, swept.seconds, swept.flops, swept.bytes, strict=True):
                n, d = (size, swept.fixed) if axis == "n" else (swept.fixed, size)
                rows.append([escape(row.layer), *(f"{x:,}" for x in (n, d)), f"{1000 * seconds:,.3f}"])
                rows[-1] += [f"{flops / 1e6:,.2f}", f"{held / 1e6:,.2f}"]
    shown = table(["layer", "n", "d", "time, ms", "MFLOPs", "memory, MB"], rows)
    return f"<details><summary>Every point measured</summary>\n{shown}\n</details>"


# ------------------------------------------------------------------------------------------------ the plot


def plot(report: ComplexityReport, axis: str) -> str:
    """Time against size, both in powers: a power law is a straight line, and its slope the exponent."""
    swept = [_sweep(row, axis) for row in report.rows]
    x_span = _span([size for one in swept for size in one.sizes], 2)
    y_span = _span([1000 * seconds for one in swept for seconds in one.seconds], 10)

    def place(size: float, milliseconds: float) -> tuple[float, float]:
        x, y = _share(size, x_span), _share(milliseconds, y_span)
        return MARGIN + x * (PLOT_WIDTH - MARGIN - 10), 10 + (1 - y) * (PLOT_HEIGHT - FOOT - 10)

    parts = [_grid(place, x_span, y_span), _label(PLOT_WIDTH / 2, PLOT_HEIGHT - 4, axis, "middle")]
    parts.append(_label(4, 12, "ms", "start"))
    for row, one, colour in zip(report.rows, swept, COLOURS, strict=True):
        spots = [place(size, 1000 * took) for size, took in zip(one.sizes, one.seconds, strict=True)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in spots)
        name = escape(f"{row.layer}: {axis}^{one.time_fit.exponent:.2f}")
        shape = f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'
        parts.append(f'<g fill="{colour}"><title>{name}</title>{shape}</g>')
    for i, (row, colour) in enumerate(zip(report.rows, COLOURS, strict=True)):
        y = 22 + 18 * i
        parts.append(f'<rect x="{MARGIN + 10}" y="{y - 9}" width="10" height="10" fill="{colour}"/>')
        exponent = _sweep(row, axis).time_fit.exponent
        parts.append(_label(MARGIN + 26, y, f"{row.layer}, {axis}^{exponent:.2f}", "start"))
    return (
        f'<svg viewBox="0 0 {PLOT_WIDTH} {PLOT_HEIGHT}" role="img" width="100%" style="max-width:{PLOT_WIDTH}px">'
        f"<title>Time of a forward pass against {axis}</title>\n" + "\n".join(parts) + "\n</svg>"
    )


def _span(values: Sequence[float], base: int) -> tuple[int, int, int]:
    """The base, and the powers of it that hold all values between them."""
    low, high = math.floor(math.log(min(values), base)), math.ceil(math.log(max(values), base) - 1e-9)
    return base, low, max(high, low + 1)


def _share(value: float, span: tuple[int, int, int]) -> float:
    base, low, high = span
    return (math.log(value, base) - low) / (high - low)


def _grid(place: Place, x_span: tuple[int, int, int], y_span: tuple[int, int, int]) -> str:
    left, bottom = place(x_span[0] ** x_span[1], y_span[0] ** y_span[1])
    right, top = place(x_span[0] ** x_span[2], y_span[0] ** y_span[2])
    parts = []
    for power in range(x_span[1], x_span[2] + 1):
        x, _ = place(2.0**power, 1.0)
        parts += [_rule(x, bottom, x, top), _label(x, bottom + 16, f"{2**power:,}", "middle")]
    for power in range(y_span[1], y_span[2] + 1):
        _, y = place(1.0, 10.0**power)
        parts += [_rule(left, y, right, y), _label(left - 6, y + 4, f"{10.0**power:g}", "end")]
    return "\n".join(parts)


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" opacity=".15"/>'


def _label(x: float, y: float, words: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="11" fill="currentColor">{escape(words)}</text>'
