"""What is to be compared: models and seeds, each a recipe of its own on the same data, the same text and one budget.

What must be equal is equal because it is one recipe. What no two architectures share, the learning rate above all,
comes from `SENSIBLE` unless the recipe says it; the report prints it. This file trains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from regard.bundle import ARCHITECTURES, check_architecture
from regard.config import nearest
from regard.errors import InputError
from regard.recipe import Recipe, recipe_from_tables

DEFAULT_MODELS = ("rnn", "rnn-attention", "convs2s", "transformer")

# Where each architecture learns well in short runs (docs/log.md); a recipe's own [train] keys stand above these.
SENSIBLE: dict[str, dict[str, Any]] = {
    "transformer": {"learning_rate": 2e-3},
    "convs2s": {"learning_rate": 1e-3},
    "bytenet": {"learning_rate": 1e-3},
}
RECURRENT = {"learning_rate": 2e-3}


@dataclass(frozen=True)
class Budget:
    kind: Literal["steps", "minutes", "flops"]
    amount: float

    def __str__(self) -> str:
        return f"{self.amount:,.10g} {self.kind}" if self.kind != "flops" else f"{self.amount:.3g} FLOPs"


def parse_budget(words: str) -> Budget:
    """
    >>> parse_budget("2000"), parse_budget("1.5min"), parse_budget("2e15 FLOPs").kind
    (Budget(kind='steps', amount=2000.0), Budget(kind='minutes', amount=1.5), 'flops')
    """
    found = re.fullmatch(r"\s*([0-9][0-9,_]*\.?[0-9]*(?:e\+?[0-9]+)?)\s*([a-z]*)\s*", words.lower())
    kinds = {"": "steps", "steps": "steps", "step": "steps", "updates": "steps", "m": "minutes", "min": "minutes"}
    kinds |= {"minutes": "minutes", "minute": "minutes", "flops": "flops", "flop": "flops"}
    if found is None or found[2] not in kinds:
        raise InputError(f'--budget must be like "2000 steps", "10 min" or "1e15 flops", but is "{words}"')
    amount = float(found[1].replace(",", "").replace("_", ""))
    kind: Any = kinds[found[2]]
    if not 0 < amount < float("inf") or (kind == "steps" and (amount < 1 or amount != int(amount))):
        raise InputError(f'--budget must be more than nothing, and whole for steps, but is "{words}"')
    return Budget(kind, amount)


@dataclass(frozen=True)
class Entrant:
    """One training run of the comparison."""

    model: str  # as it was asked for: "rnn" or "transformer:tiny"
    seed: int
    recipe: Recipe

    @property
    def folder(self) -> str:
        return f"{self.model.replace(':', '-')}.seed{self.seed}"


def plan(tables: Mapping[str, Any], models: Sequence[str], seeds: int, budget: Budget | None) -> list[Entrant]:
    """Every model with seeds 1, 2, …; `tables` is the recipe they share."""
    if seeds < 1:
        raise InputError(f"--seeds must be 1 or more, but is {seeds}")
    if not models:
        raise InputError(f"--models is empty; give names with commas between them: {','.join(DEFAULT_MODELS)}")
    twice = [name for name in models if models.count(name) > 1]
    if twice:
        raise InputError(f"--models names {twice[0]} twice; name each model once, or with presets: {twice[0]}:tiny")
    return [
        Entrant(name, seed, recipe_of(tables, name, seed, budget)) for name in models for seed in range(1, seeds + 1)
    ]


def embedded(corpus: Path) -> dict[str, Any]:
    """The recipe of a comparison without one: the embedded corpus, small models, a few minutes each on two cores."""
    files = {
        f"{prefix}{side}": str(corpus / f"{split}.{language}")
        for prefix, split in (("", "train"), ("dev_", "dev"), ("test_", "test"))
        for side, language in (("src", "en"), ("tgt", "fr"))
    }
    train = {"batch_tokens": 1024, "schedule": "cosine", "warmup": 200, "eval_every": 500, "save_every": 500}
    return {
        "data": {**files, "max_length": 128},
        "text": {"vocab_size": 3200},
        "model": {"preset": "tiny", "dropout": 0.0},
        "train": {**train, "steps": 2000},
    }


def recipe_of(tables: Mapping[str, Any], name: str, seed: int, budget: Budget | None) -> Recipe:
    architecture, _, preset = name.partition(":")
    if architecture not in ARCHITECTURES:
        raise InputError(f'unknown model "{architecture}" in --models; {nearest(architecture, ARCHITECTURES)}')
    check_architecture(architecture)
    model = {k: v for k, v in tables.get("model", {}).items() if k in ("preset", "dropout")}  # what all of them have
    train = {**SENSIBLE.get(architecture, RECURRENT), **tables.get("train", {}), "seed": seed}
    if budget is not None and budget.kind == "steps":
        train["steps"] = int(budget.amount)
    elif budget is not None:
        train[budget.kind] = budget.amount
        train["steps"] = 10**9  # the budget ends it
        if train.get("schedule", "inverse-sqrt") == "cosine":
            raise InputError(f"schedule = cosine needs to know the last step, but the budget is {budget}; give steps")
    model = {**model, **({"preset": preset} if preset else {}), "architecture": architecture}
    return recipe_from_tables({**tables, "model": model, "train": train})
