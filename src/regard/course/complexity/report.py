"""The measured table 1 as text, Markdown, data and an HTML page with two charts and every measured point."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path

from regard.course.complexity.measure import ComplexityReport, LayerRow
from regard.course.complexity.timing import Growth, Sweep
from regard.report.chart import Spot, plot, powers
from regard.report.deliver import Output
from regard.report.drawing import Drawing
from regard.report.page import escaped, page, picture
from regard.report.table import Table

TITLE = "What a layer costs"
TEXT_WIDTH = 100


def complexity_output(report: ComplexityReport) -> Output:
    """Returns the report in every format that `regard complexity` writes."""
    return Output(
        text=lambda: as_text(report),
        data=lambda: asdict(report),
        markdown=lambda: as_markdown(report),
        page=lambda: as_page(report),
    )


# ------------------------------------------------------------------------------------------------ the content


def remarks() -> list[str]:
    """Returns remarks on where the table is imprecise."""
    text = Path(__file__).with_name("remarks.txt").read_text(encoding="utf-8")
    return [" ".join(one.split()) for one in text.strip().split("\n\n")]


def tables(report: ComplexityReport) -> dict[str, Table]:
    """Returns the tables by title."""
    return dict([_exponents(report, "n"), _exponents(report, "d"), _structure(report)])


def conditions(report: ComplexityReport) -> str:
    """Describes the machine and the settings in one line."""
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


def _exponents(report: ComplexityReport, axis: str) -> tuple[str, Table]:
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
    return title, Table(header, rows, left=(0, 1))


def _structure(report: ComplexityReport) -> tuple[str, Table]:
    rows = []
    for row in report.rows:
        for kind, path in row.paths.items():
            name = f"{row.layer}, {kind}" if kind else row.layer
            chain = [row.claim.sequential, law(row.sequential)]
            rows.append([name, *chain, row.claim.path, law(path), " ".join(map(str, path.counts))])
    lengths = " ".join(map(str, report.rows[0].sequential.lengths))
    header = ["layer", "waits", "found", "path", "found", f"at n = {lengths}"]
    return "Sequential operations (waits) and longest path, O(·)", Table(header, rows, left=range(6))


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


def point_table(report: ComplexityReport) -> Table:
    """Returns a table of all measured points."""
    rows = []
    for row in report.rows:
        for axis in "nd":
            swept = _sweep(row, axis)
            for size, seconds, flops, held in zip(swept.sizes, swept.seconds, swept.flops, swept.bytes, strict=True):
                n, d = (size, swept.fixed) if axis == "n" else (swept.fixed, size)
                figures = [f"{1000 * seconds:,.3f}", f"{flops / 1e6:,.2f}", f"{held / 1e6:,.2f}"]
                rows.append([row.layer, f"{n:,}", f"{d:,}", *figures])
    return Table(["layer", "n", "d", "time, ms", "MFLOPs", "memory, MB"], rows)


def chart(report: ComplexityReport, axis: str) -> Drawing:
    """Draws time against size on logarithmic axes: a power law is a straight line with the exponent as slope."""
    series = {}
    for row in report.rows:
        swept = _sweep(row, axis)
        spots = [Spot(size, 1000 * seconds) for size, seconds in zip(swept.sizes, swept.seconds, strict=True)]
        series[f"{row.layer}, {axis}^{swept.time_fit.exponent:.2f}"] = spots
    points = [spot for spots in series.values() for spot in spots]
    sizes, times = [spot.x for spot in points if spot.x is not None], [spot.y for spot in points]
    title = f"Time of a forward pass against {axis}"
    return plot(title, series, powers(axis, sizes, 2), powers("ms", times), joined=True)


# ------------------------------------------------------------------------------------------------ the forms


def as_text(report: ComplexityReport) -> str:
    parts = [textwrap.fill(f"{TITLE}: {conditions(report)}", TEXT_WIDTH)]
    parts += [f"{title}\n{table.text()}" for title, table in tables(report).items()]
    parts.append(textwrap.fill(explanation(report), TEXT_WIDTH))
    marks = (textwrap.fill(remark, TEXT_WIDTH, initial_indent="- ", subsequent_indent="  ") for remark in remarks())
    return "\n\n".join([*parts, "\n".join(marks)])


def as_markdown(report: ComplexityReport) -> str:
    parts = [f"# {TITLE}", conditions(report)]
    parts += [f"## {title}\n\n{table.markdown()}" for title, table in tables(report).items()]
    parts += [explanation(report), "\n".join(f"- {remark}" for remark in remarks())]
    return "\n\n".join(parts) + "\n"


def as_page(report: ComplexityReport) -> str:
    parts = [f'<p class="quiet">{escaped(conditions(report))}</p>']
    for (title, table), axis in zip(tables(report).items(), ["n", "d", ""], strict=True):
        parts.append(f"<h2>{escaped(title)}</h2>\n{table.html()}")
        if axis:
            parts.append(picture(chart(report, axis)))
    parts.append(f"<p>{escaped(explanation(report))}</p>")
    parts.append("<ul>\n" + "\n".join(f"<li>{escaped(remark)}</li>" for remark in remarks()) + "\n</ul>")
    points = point_table(report).html()
    parts.append(f"<details><summary>Every point measured</summary>\n{points}\n</details>")
    return page(TITLE, "\n".join(parts))
