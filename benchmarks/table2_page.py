"""Table 2 as it comes out: the tables of figures, the picture, and the page they are put into."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from table2_plan import sizes_table
from table2_systems import MODELS, RATED, SYSTEMS, TableSystem, system_of

from regard.report.chart import HIGH, WIDE, Axis, Spot, plot, powers
from regard.report.render import svg
from regard.report.table import Table

FAMILIES = {
    "bytenet": "ByteNet",
    "deep-att": "Deep-Att",
    "gnmt": "GNMT",
    "convs2s": "ConvS2S",
    "moe": "MoE",
    "transformer": "Transformer",
}
NEAR_ACROSS, NEAR_DOWN = 40, 13  # points of a picture nearer than this share a label
TESTS = {"newstest2014": "newstest2014", "europarl": "Europarl test"}
MEASURED, RATES, SIZES = ((f"<!-- table2{name} -->", f"<!-- /table2{name} -->") for name in ("", " rates", " sizes"))
Rows = Sequence[dict[str, Any]]


# ------------------------------------------------------------------------------------------------ the figures


def of_system(results: Rows, name: str) -> list[dict[str, Any]]:
    """Its rows, one for each seed."""
    return sorted((row for row in results if row["system"] == name), key=lambda row: row["seed"] or 0)


def bleu_cell(rows: Rows, test: str) -> str:
    """The mean over seeds, ± half of the first seed's interval, and the spread over seeds if there are several."""
    scores = [row["bleu"][test]["score"] for row in rows]
    spread = f" (sd {statistics.stdev(scores):.2f})" if len(scores) > 1 else ""
    return f"{statistics.fmean(scores):.2f} ± {rows[0]['bleu'][test]['half']:.2f}{spread}"


def figures(results: Rows, pair: str) -> Table:
    """One pair at one budget."""
    names = [*TESTS.values(), "the paper's BLEU", "the paper's FLOPs"]
    header = ["system", "parameters", "FLOPs", "target tokens", "updates", "seeds", *names]
    return Table(header, [figure_cells(system, of_system(results, system.name), pair) for system in SYSTEMS])


def figure_cells(system: TableSystem, rows: Rows, pair: str) -> list[str]:
    bleu, flops = published_figures(system, pair)
    paper = [f"{bleu:g}" if bleu else "–", f"{flops:.1e}" if flops else "–"]
    if not rows:
        return [system.title, *[""] * 5, *["not measured yet"] * len(TESTS), *paper]
    first = rows[0]
    return [
        system.title,
        f"{first['parameters'] / 1e6:.1f} M",
        f"{first['flops']:.2e}",
        f"{first['target_tokens'] / 1e6:,.1f} M",
        f"{first['steps']:,}",
        ", ".join(str(row["seed"]) for row in rows) if first["seed"] else f"{first['members']} together",
        *(bleu_cell(rows, test) for test in TESTS),
        *paper,
    ]


def published_figures(system: TableSystem, pair: str) -> tuple[float | None, float | None]:
    """BLEU and FLOPs of the paper; None where it has none."""
    key = pair.replace("-", "_")
    return getattr(system.published, key, None), getattr(system.published, f"{key}_flops", None)


def groups(results: Rows) -> list[tuple[tuple[str, float], Rows]]:
    """At the models' own rates; English–French first, a larger budget before a smaller one."""
    own = [row for row in results if row["rate"] == 1]
    keys = sorted({(row["pair"], row["budget"]) for row in own}, key=lambda key: (key[0] != "en-fr", -key[1]))
    return [(key, [row for row in own if (row["pair"], row["budget"]) == key]) for key in keys]


def rates_table(results: Rows) -> Table:
    """BLEU of one seed on both tests, at each model's own rate and at multiples of it."""
    rates = sorted({row["rate"] for row in results})
    header = ["system", "its rate", *(f"{title}, × {rate:g}" for title in TESTS.values() for rate in rates)]
    rows = []
    for name, seed in RATED:
        found = {row["rate"]: row["bleu"] for row in results if (row["system"], row["seed"]) == (name, seed)}
        scores = [f"{found[rate][test]['score']:.2f}" if rate in found else "–" for test in TESTS for rate in rates]
        rows.append([system_of(name).title, f"{MODELS[name].rate:g}", *scores])
    return Table(header, rows)


def rates_part(results: Rows) -> str:
    """For each pair and budget that has other rates than the models' own."""
    keys = sorted({(row["pair"], row["budget"]) for row in results if row["rate"] != 1}, reverse=True)
    parts: list[str] = []
    for key in keys:
        rows = [row for row in results if (row["pair"], row["budget"]) == key]
        parts += [f"{key[0]}, {key[1]:.3g} FLOPs a training, seed {RATED[0][1]}:", rates_table(rows).markdown()]
    return "\n\n".join(parts) or "Not measured yet."


class Point(NamedTuple):
    family: str
    flops: float
    bleu: float
    name: str


def measured_points(results: Rows) -> list[Point]:
    """The table's systems on newstest2014, the mean over seeds."""
    points = []
    for system in SYSTEMS:
        rows = of_system(results, system.name)
        if rows and not system.note.startswith("not in the table"):
            mean = statistics.fmean(row["bleu"]["newstest2014"]["score"] for row in rows)
            points.append(Point(family_of(system), rows[0]["flops"], mean, system.title))
    return points


def published_points(pair: str) -> list[Point]:
    points = []
    for system in SYSTEMS:
        bleu, flops = published_figures(system, pair)
        if bleu and flops:
            points.append(Point(family_of(system), flops, bleu, system.title))
    return points


def family_of(system: TableSystem) -> str:
    return FAMILIES[system.model.split(":")[0]]


def picture(title: str, points: Sequence[Point]) -> str:
    """BLEU by training FLOPs, a colour for each family, as SVG. Where points are close, one label names them all."""
    x = budgets_axis([point.flops for point in points])
    y = narrow_axis([point.bleu for point in points])
    labels: list[tuple[Point, list[str]]] = []
    for point in sorted(points, key=lambda point: -point.bleu):
        near = (names for other, names in labels if close(point, other, x, y))
        names = next(near, None)
        if names is None:
            labels.append((point, [point.name]))
        else:
            names.append(point.name)
    written = {point: "; ".join(names) for point, names in labels}
    series: dict[str, list[Spot]] = {name: [] for name in FAMILIES.values()}
    for point in points:
        series[point.family].append(Spot(point.flops, point.bleu, written.get(point, "")))
    said = "; ".join(f"{point.name} {point.bleu:.1f} after {point.flops:.1e}" for point in points)
    return svg(replace(plot(title, series, x, y), caption=f"BLEU by training FLOPs: {said}."))


def close(one: Point, other: Point, x: Axis, y: Axis) -> bool:
    """Whether their labels would overlap."""
    across, down = abs(x.share(one.flops) - x.share(other.flops)), abs(y.share(one.bleu) - y.share(other.bleu))
    return across * WIDE < NEAR_ACROSS and down * HIGH < NEAR_DOWN


def narrow_axis(values: Sequence[float]) -> Axis:
    """From the multiple of five below all values to the one above.

    >>> [label for _, label in narrow_axis([21.2, 28.0]).ticks]
    ['20', '25', '30']
    """
    low, high = 5 * math.floor(min(values) / 5), 5 * math.floor(max(values) / 5) + 5
    ticks = tuple(((value - low) / (high - low), str(value)) for value in range(low, high + 1, 5))
    return Axis("BLEU", lambda value: (value - low) / (high - low), ticks)


def budgets_axis(values: Sequence[float]) -> Axis:
    """Powers of ten; if all values lie within one, the values themselves."""
    low, high = min(values), max(values)
    if high / low > 10:
        return powers("training FLOPs", values)
    start, end = math.log(low / 1.2), math.log(high * 1.7)  # room for the labels at the right

    def share(value: float) -> float:
        return (math.log(value) - start) / (end - start)

    shown: list[float] = []
    for value in sorted(values):
        if not shown or value > 1.2 * shown[-1]:
            shown.append(value)
    return Axis("training FLOPs", share, tuple((share(value), f"{value:.2g}") for value in shown))


def notes(rows: Rows) -> list[str]:
    missing = [system.title for system in SYSTEMS if not of_system(rows, system.name)]
    machines = " and ".join(sorted({f"{row['device']}, torch {row['torch']}" for row in rows}))
    return [
        f"- The FLOPs of an ensemble are the sum of its members'. Trainings ran side by side on {machines}.",
        "- ±: half of the 95% interval by bootstrap of the lines (1,000 resamples, first seed); sd: over the seeds.",
        *([f"- Not measured yet: {', '.join(missing)}."] if missing else []),
        f"- `{rows[0]['signature']}`",
    ]


def measured_part(results: Rows) -> str:
    if not results:
        return "Not measured yet."
    parts: list[str] = []
    drawn: set[str] = set()
    for (pair, budget), rows in groups(results):
        parts += [f"### {pair}, {budget:.3g} FLOPs a training", figures(rows, pair).markdown()]
        if pair not in drawn and measured_points(rows):
            drawn.add(pair)
            parts.append(f"![BLEU by training FLOPs, {pair}, here](img/table2-{pair}.svg)")
            parts.append(f"![BLEU by training FLOPs, {pair}, in the paper](img/table2-{pair}-paper.svg)")
        parts.append("\n".join(notes(rows)))
    return "\n\n".join(parts)


def write_page(page: Path, results: Rows) -> None:
    """Figures, rates and sizes between their marks, the pictures beside the page."""
    for (pair, budget), rows in reversed(groups(results)):  # the largest budget of a pair last
        if points := measured_points(rows):
            draw(page, pair, picture(f"BLEU on newstest2014, {pair}, here: {budget:.2g} FLOPs a training", points))
            draw(page, f"{pair}-paper", picture(f"BLEU on newstest2014, {pair}, in the paper", published_points(pair)))
    text = page.read_text("utf-8")
    parts = {MEASURED: measured_part(results), RATES: rates_part(results), SIZES: sizes_table().markdown()}
    for marks, part in parts.items():
        text = between(text, marks, part)
    page.write_text(text, "utf-8")


def draw(page: Path, name: str, drawing: str) -> None:
    path = page.parent / "img" / f"table2-{name}.svg"
    path.parent.mkdir(exist_ok=True)
    path.write_text(drawing + "\n", "utf-8")


def between(text: str, marks: tuple[str, str], part: str) -> str:
    """
    >>> between("a<b>old<c>d", ("<b>", "<c>"), "new")
    'a<b>\\nnew\\n<c>d'
    """
    before, rest = text.split(marks[0])
    return f"{before}{marks[0]}\n{part}\n{marks[1]}{rest.split(marks[1])[1]}"


def printed(results: Rows) -> str:
    """For a terminal."""
    parts: Iterable[str] = (
        f"{pair}, {budget:.3g} FLOPs a training\n{figures(rows, pair).text()}\n" + "\n".join(notes(rows))
        for (pair, budget), rows in groups(results)
    )
    rated = [rates_part(results)] if any(row["rate"] != 1 for row in results) else []
    return "\n\n".join([*parts, *rated]) or "nothing is measured yet"
