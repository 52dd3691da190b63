"""Table 2 before it is trained: how each model is sized, and how long what is left may take."""

from __future__ import annotations

from table2_setting import KINDS, Setting
from table2_systems import (
    MODELS,
    ORDER,
    REWARD_SHARE,
    SCORES,
    SizedModel,
    expected_updates,
    flops_per_token,
    folder_of,
    made,
    share_of,
    system_of,
)

from regard.report.table import Table

PAIRS_OF = {"en-fr": 1_035_616, "en-de": 832_551}  # training pairs
BESIDE = 16  # runs side by side that are as fast as that, at most: they need a core each
STARTING = 25  # seconds of a process until its first update
TRANSLATING = 20  # seconds for both tests


def size_in_words(model: SizedModel) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in model.size.items())


def sizes_table() -> Table:
    """What each model is here and in its paper."""
    rows = []
    for name, model in MODELS.items():
        rows.append(
            [
                system_of(name).title,
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
