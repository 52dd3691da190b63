"""Table 2 as it comes out: what is planned, the table of figures, the picture, and the page they are put into."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from table2_setting import KINDS, Setting
from table2_systems import (
    MODELS,
    ORDER,
    REWARD_SHARE,
    SCORES,
    SYSTEMS,
    SizedModel,
    TableSystem,
    expected_updates,
    flops_per_token,
    folder_of,
    made,
    share_of,
)

from regard.report.chart import HIGH, WIDE, Axis, Spot, plot, powers
from regard.report.svg import svg
from regard.report.table import Table

PAIRS_OF = {"en-fr": 1_035_616, "en-de": 832_551}  # training pairs, for the plan
BESIDE = 16  # runs side by side that are as fast as that, at most: they need a core each
STARTING = 25  # seconds of a process until its first update
TRANSLATING = 20  # seconds for both tests
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
MEASURED, SIZES = (("<!-- table2 -->", "<!-- /table2 -->"), ("<!-- table2 sizes -->", "<!-- /table2 sizes -->"))
Rows = Sequence[dict[str, Any]]


# ------------------------------------------------------------------------------------------------ the plan


def size_in_words(model: SizedModel) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in model.size.items())


def sizes_table() -> Table:
    """What each model is here and in its paper."""
    rows = []
    for name, model in MODELS.items():
        title = next(system.title for system in SYSTEMS if system.name == name)
        rows.append(
            [
                title,
                model.paper,
                size_in_words(model),
                model.kind,
                f"{made(name).parameter_count() / 1e6:.1f} M",
                f"{flops_per_token(name):.2g}",
                f"{model.rate:g}",
                f"{KINDS[model.kind].batch:,}",
            ]
        )
    header = ["model", "in its paper", "here", "tokens", "parameters", "FLOPs a target token", "rate", "batch"]
    return Table(header, rows, left=(0, 1, 2, 3))


def plan_table(setting: Setting, speeds: dict[str, float]) -> tuple[Table, float]:
    """Every training with its estimated time alone, and the sum of what is left, in seconds. `speeds` are target
    tokens/s, used where they are known."""
    rows, total = [], 0.0
    for name, seed in ORDER:
        if (setting.runs / folder_of(name, seed) / SCORES).exists():
            rows.append([name, str(seed or "all"), *[""] * 5, "done"])
            continue
        if "+rl" in name and seed is not None:
            seconds = 60.0 * setting.budget / 5e15 + STARTING + TRANSLATING
            rows.append([name, str(seed), f"{REWARD_SHARE * setting.budget:.2g}", "", "", "", "", f"{seconds:,.0f}"])
        elif "+" in name:
            seconds = 2.0 * TRANSLATING
            rows.append([name, str(seed or "all"), "", "", "", "", "", f"{seconds:,.0f}"])
        else:
            model = MODELS[name]
            budget = share_of(name) * setting.budget
            tokens, speed = budget / flops_per_token(name), speeds.get(name, float(model.speed))
            epochs = tokens / (KINDS[model.kind].lengths[1] * PAIRS_OF.get(setting.pair, 1_000_000))
            seconds = tokens / speed + STARTING + TRANSLATING
            known = f"{speed:,.0f}{'' if name in speeds else ' ?'}"
            updates = expected_updates(name, setting.budget)
            rows.append(
                [
                    *(name, str(seed), f"{budget:.2g}", f"{tokens / 1e6:,.0f} M", f"{epochs:.1f}", f"{updates:,.0f}"),
                    *(known, f"{seconds:,.0f}"),
                ]
            )
        total += seconds
    header = ["system", "seed", "FLOPs", "target tokens", "epochs", "updates", "tokens/s", "seconds"]
    return Table(header, rows), total


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
    """English–French first, a larger budget before a smaller one."""
    keys = sorted({(row["pair"], row["budget"]) for row in results}, key=lambda key: (key[0] != "en-fr", -key[1]))
    return [(key, [row for row in results if (row["pair"], row["budget"]) == key]) for key in keys]


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


def notes(rows: Rows, budget: float) -> list[str]:
    missing = [system.title for system in SYSTEMS if not of_system(rows, system.name)]
    machines = " and ".join(sorted({f"{row['device']}, torch {row['torch']}" for row in rows}))
    about = f"- Each training had {budget:.3g} FLOPs; those of an ensemble are the sum of its members'."
    beside = f"Several trainings ran side by side on {machines}, so no time is given."
    spread = "sd is that of the seeds. A row with one seed says nothing of the spread between seeds."
    return [
        f"{about} {beside}",
        f"- ± is half of the 95% interval by bootstrap of the test's lines (1,000 resamples, first seed); {spread}",
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
        parts.append("\n".join(notes(rows, budget)))
    return "\n\n".join(parts)


def write_page(page: Path, results: Rows) -> None:
    """Sizes and figures between their marks, the pictures beside the page."""
    for (pair, budget), rows in reversed(groups(results)):  # the largest budget of a pair last
        if points := measured_points(rows):
            draw(page, pair, picture(f"BLEU on newstest2014, {pair}, here: {budget:.2g} FLOPs a training", points))
            draw(page, f"{pair}-paper", picture(f"BLEU on newstest2014, {pair}, in the paper", published_points(pair)))
    text = page.read_text("utf-8")
    for marks, part in ((MEASURED, measured_part(results)), (SIZES, sizes_table().markdown())):
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
        f"{pair}, {budget:.3g} FLOPs a training\n{figures(rows, pair).text()}\n" + "\n".join(notes(rows, budget))
        for (pair, budget), rows in groups(results)
    )
    return "\n\n".join(parts) or "nothing is measured yet"
