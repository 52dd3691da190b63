"""Table 2 as it comes out: what is planned, the table of figures, the picture, and the page they are put into."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from table2_systems import KINDS, MODELS, ORDER, REWARD_SHARE, SYSTEMS, Setting, SizedModel, TableSystem

from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.report.chart import Spot, from_zero, plot, powers
from regard.report.svg import svg
from regard.report.table import Table
from regard.training.cost import Cost

PAIRS_OF = {"en-fr": 1_035_616, "en-de": 832_551}  # training pairs, for the plan
BESIDE = 3.0  # runs side by side get so much more done than one after another: an estimate for the plan
STARTING = 25  # seconds of a process until its first update
TRANSLATING = 20  # seconds for both tests
FAMILIES = {"bytenet": "ByteNet", "deep-att": "Deep-Att", "gnmt": "GNMT", "convs2s": "ConvS2S", "moe": "MoE"}
TESTS = {"newstest2014": "newstest2014", "europarl": "Europarl test"}
MEASURED, SIZES = (("<!-- table2 -->", "<!-- /table2 -->"), ("<!-- table2 sizes -->", "<!-- /table2 sizes -->"))
Rows = Sequence[dict[str, Any]]


# ------------------------------------------------------------------------------------------------ the plan


@cache
def made(name: str) -> Model:
    """The model without memory for its weights, with as many words as its text may have."""
    model = MODELS[name]
    text = KINDS[model.kind].text
    with torch.device("meta"):
        return ARCHITECTURES[model.architecture].model(model.config(), text.vocab_size, text.vocab_size, text.joint)


def flops_per_token(name: str) -> float:
    """Operations of learning for a target token of a mean pair."""
    source, target = KINDS[MODELS[name].kind].lengths
    return Cost(made(name)).of_learning(source, target) / target


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
    """Every training with its estimated time alone, and the sum of the times in seconds. `speeds`, in target tokens/s,
    are used where they are known."""
    rows, total = [], 0.0
    for name, seed in ORDER:
        if "+rl" in name and seed is not None:
            seconds = 60.0 * setting.budget / 5e15 + STARTING + TRANSLATING
            rows.append([name, str(seed), f"{REWARD_SHARE * setting.budget:.2g}", "", "", "", "", f"{seconds:,.0f}"])
        elif "+" in name:
            seconds = 2.0 * TRANSLATING
            rows.append([name, str(seed or "all"), "", "", "", "", "", f"{seconds:,.0f}"])
        else:
            model = MODELS[name]
            budget = setting.budget * (1 - REWARD_SHARE if name == "gnmt" else 1)
            tokens, speed = budget / flops_per_token(name), speeds.get(name, float(model.speed))
            epochs = tokens / (KINDS[model.kind].lengths[1] * PAIRS_OF.get(setting.pair, 1_000_000))
            seconds = tokens / speed + STARTING + TRANSLATING
            known = f"{speed:,.0f}{'' if name in speeds else ' ?'}"
            updates = tokens / (0.9 * KINDS[model.kind].batch)
            rows.append(
                [
                    *(name, str(seed), f"{budget:.2g}", f"{tokens / 1e6:,.0f} M", f"{epochs:.1f}", f"{updates:,.0f}"),
                    *(known, f"{seconds:,.0f}"),
                ]
            )
        total += seconds
    header = ["system", "seed", "FLOPs", "target tokens", "epochs", "updates", "tokens/s", "seconds alone"]
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
    known = system.published
    bleu = getattr(known, pair.replace("-", "_"), None)
    flops = getattr(known, f"{pair.replace('-', '_')}_flops", None)
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


def groups(results: Rows) -> list[tuple[tuple[str, float], Rows]]:
    """English–French first, a larger budget before a smaller one."""
    keys = sorted({(row["pair"], row["budget"]) for row in results}, key=lambda key: (key[0] != "en-fr", -key[1]))
    return [(key, [row for row in results if (row["pair"], row["budget"]) == key]) for key in keys]


def picture(results: Rows, pair: str, budget: float) -> str:
    """BLEU on newstest2014 by training FLOPs, here and in the paper, a colour for each family, as SVG."""
    series: dict[str, list[Spot]] = {}
    for system in SYSTEMS:
        if system.note.startswith("not in the table"):
            continue
        family = FAMILIES.get(system.model.split(":")[0], "Transformer")
        label = {"transformer:big": "big", "bytenet:characters": "characters"}.get(system.model, "")
        label = "ensemble" if "ensemble" in system.additions else label
        spots = series.setdefault(family, [])
        rows, known = of_system(results, system.name), system.published
        if rows:
            mean = statistics.fmean(row["bleu"]["newstest2014"]["score"] for row in rows)
            spots.append(Spot(rows[0]["flops"], mean, label))
        bleu = getattr(known, pair.replace("-", "_"), None)
        flops = getattr(known, f"{pair.replace('-', '_')}_flops", None)
        if bleu and flops:
            spots.append(Spot(flops, bleu, label))
    spots = [spot for some in series.values() for spot in some]
    title = f"BLEU on newstest2014, {pair}: at the left here ({budget:.2g} FLOPs a training), at the right the paper's"
    x = powers("training FLOPs", [spot.x for spot in spots if spot.x])
    return svg(plot(title, series, x, from_zero("BLEU", [spot.y for spot in spots])))


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


def measured_part(results: Rows, pictures: bool) -> str:
    if not results:
        return "Not measured yet."
    parts: list[str] = []
    drawn: set[str] = set()
    for (pair, budget), rows in groups(results):
        parts += [f"### {pair}, {budget:.3g} FLOPs a training", figures(rows, pair).markdown()]
        if pictures and pair not in drawn:
            drawn.add(pair)
            parts.append(f"![BLEU by training FLOPs, {pair}](img/table2-{pair}.svg)")
        parts.append("\n".join(notes(rows, budget)))
    return "\n\n".join(parts)


def write_page(page: Path, results: Rows) -> None:
    """Sizes and figures between their marks, the pictures beside the page."""
    for (pair, budget), rows in reversed(groups(results)):  # the largest budget of a pair last
        drawn = page.parent / "img" / f"table2-{pair}.svg"
        drawn.parent.mkdir(exist_ok=True)
        drawn.write_text(picture(rows, pair, budget) + "\n", "utf-8")
    text = page.read_text("utf-8")
    for marks, part in ((MEASURED, measured_part(results, pictures=True)), (SIZES, sizes_table().markdown())):
        text = between(text, marks, part)
    page.write_text(text, "utf-8")


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
