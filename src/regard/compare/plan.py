"""What is to be compared: every name and seed with a recipe of its own on the same data, the same text and one budget.

What must be equal is equal because it is one recipe. What no two architectures share, the learning rate above all,
comes from `SENSIBLE` unless the recipe says it; the report prints it. What a name means is in `entrants.py`. This file
trains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from regard.compare.entrants import (
    BASELINES,
    TOGETHER,
    Entrant,
    EntrantName,
    NeuralSystem,
    RuleBasedSystem,
    TrainingRun,
    WordBasedSystem,
    check_names,
    read_name,
)
from regard.config import build
from regard.errors import InputError
from regard.recipe.read import recipe_from_tables
from regard.recipe.recipe import Recipe
from regard.recipe.reward import RewardConfig
from regard.recipe.train import TrainConfig

DEFAULT_MODELS = ("rnn", "rnn-attention", "convs2s", "transformer")

# Where each architecture learns well in short runs (docs/log.md); a recipe's own [train] keys stand above these.
SENSIBLE: dict[str, dict[str, Any]] = {
    "transformer": {"learning_rate": 2e-3},
    "convs2s": {"learning_rate": 1e-3},
    "bytenet": {"learning_rate": 1e-3},
}
RECURRENT = {"learning_rate": 2e-3}
REWARD_SHARE, REWARD_RATE = 0.1, 0.1  # of the budget and of the learning rate that a model had before "+rl"
ENDLESS = 10**9  # steps, where the budget is of another kind and ends the run


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
class SharedSettings:
    """What all entrants share."""

    tables: Mapping[str, Any]  # the recipe, but for the model
    seeds: int
    budget: Budget | None
    runs: Path  # the folder of all their folders


def plan(terms: SharedSettings, models: Sequence[str]) -> list[Entrant]:
    """Every name of `models`, with seeds 1, 2, … where seeds make a difference."""
    if terms.seeds < 1:
        raise InputError(f"--seeds must be 1 or more, but is {terms.seeds}")
    if not models:
        raise InputError(f"--models is empty; give names with commas between them: {','.join(DEFAULT_MODELS)}")
    names = [read_name(model) for model in models]
    shared = recipe_from_tables({k: table for k, table in terms.tables.items() if k not in ("model", "reward")})
    check_names(names, terms.seeds, shared.text.unit)
    if shared.train.start_from is not None:
        raise InputError(f"a comparison trains every model anew, but start_from is {shared.train.start_from}")
    for name in terms.tables.get("reward", {}) if not any("rl" in name.additions for name in names) else ():
        raise InputError(f"reward.{name} is for models trained for reward, but --models has none; add rnn-attention+rl")
    return [entrant for name in names for entrant in entrants_of(name, names, shared, terms)]


def entrants_of(
    name: EntrantName, names: Sequence[EntrantName], shared: Recipe, terms: SharedSettings
) -> list[Entrant]:
    """One for each seed, or one that stands for all of them."""

    def one(members: Sequence[TrainingRun], seed: int | None, folder: str) -> Entrant:
        system = NeuralSystem(tuple(members), tuple(a for a in name.additions if a not in ("rl", "ensemble")))
        return Entrant(name.text, seed, members[0].recipe, system, terms.runs / folder)

    if name.text in BASELINES:
        system = WordBasedSystem() if name.text == "ibm" else RuleBasedSystem()
        return [Entrant(name.text, None, Recipe(data=shared.data), system, terms.runs / name.text)]
    if name.text == TOGETHER:
        plain = [training_of(other, 1, terms) for other in names if other.is_neural and not other.additions]
        return [one(plain, None, "+".join(["ensemble.of", *(member.folder.name for member in plain)]))]
    seeds = [training_of(name, seed, terms) for seed in range(1, terms.seeds + 1)]
    folder = name.text.replace(":", "-")
    if "ensemble" in name.additions:
        return [one(seeds, None, f"{folder}.of{terms.seeds}")]
    return [one([member], member.seed, f"{folder}.seed{member.seed}") for member in seeds]


def training_of(name: EntrantName, seed: int, terms: SharedSettings) -> TrainingRun:
    """The run of a model, or the one that goes on with it for reward."""
    folder = name.model.replace(":", "-")
    first = TrainingRun(name.model, seed, recipe_of(name, seed, terms), terms.runs / f"{folder}.seed{seed}")
    if "rl" not in name.additions:
        return first
    recipe = rewarded(first, terms)
    return TrainingRun(f"{name.model}+rl", seed, recipe, terms.runs / f"{folder}+rl.seed{seed}", after=first)


def recipe_of(name: EntrantName, seed: int, terms: SharedSettings) -> Recipe:
    tables, budget = terms.tables, terms.budget
    model = {k: v for k, v in tables.get("model", {}).items() if k in ("preset", "dropout")}  # what all of them have
    train = {**SENSIBLE.get(name.architecture, RECURRENT), **tables.get("train", {}), "seed": seed}
    if budget is not None and budget.kind == "steps":
        train["steps"] = int(budget.amount)
    elif budget is not None:
        train[budget.kind] = budget.amount
        train["steps"] = ENDLESS
        if train.get("schedule", "inverse-sqrt") == "cosine":
            raise InputError(f"schedule = cosine needs to know the last step, but the budget is {budget}; give steps")
    model = {**model, **({"preset": name.preset} if name.preset else {}), "architecture": name.architecture}
    plain = {section: table for section, table in tables.items() if section != "reward"}  # that is for +rl
    return recipe_from_tables({**plain, "model": model, "train": train})


def rewarded(first: TrainingRun, terms: SharedSettings) -> Recipe:
    """Going on for reward: with a share of the budget, slowly; the recipe's own [reward] keys stand."""
    train = first.recipe.train
    reward = build(RewardConfig, {"objective": "self-critical", **terms.tables.get("reward", {})}, "reward")
    if not reward.has_rewards:
        raise InputError(f"{first.name}+rl is trained for reward, but reward.objective is likelihood; leave it out")
    return replace(
        first.recipe,
        train=replace(
            train,
            start_from=str(first.folder),
            steps=train.steps if train.steps == ENDLESS else max(1, round(REWARD_SHARE * train.steps)),
            minutes=train.minutes and REWARD_SHARE * train.minutes,
            flops=train.flops and REWARD_SHARE * train.flops,
            learning_rate=REWARD_RATE * train.learning_rate,
            schedule="constant",
            warmup=1,
        ),
        reward=reward,
    )


def spent(terms: SharedSettings) -> str:
    """What each training may cost, in words."""
    steps = terms.tables.get("train", {}).get("steps", TrainConfig.steps)
    return str(terms.budget) if terms.budget else f"{steps:,} steps"


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
