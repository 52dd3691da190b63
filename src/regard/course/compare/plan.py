"""The plan of a comparison: a recipe for every name and seed, with the same data, text and budget.

All recipes are made from one. The learning rate, which architectures cannot share, comes from `LEARNING_RATES` unless
the recipe sets it; the report prints it. `entrants.py` defines the names. Nothing is trained here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from regard.config import build
from regard.course.compare import entrants
from regard.course.compare.entrants import Entrant, EntrantName, NeuralSystem, TrainingRun
from regard.errors import InputError
from regard.recipe.read import recipe_from_tables
from regard.recipe.recipe import Recipe
from regard.recipe.train import RewardConfig, TrainConfig

DEFAULT_MODELS = ("rnn", "rnn-attention", "convs2s", "transformer")

# Good rates for short runs (docs/log.md); a recipe's own train.learning_rate overrides them.
LEARNING_RATES = {"convs2s": 1e-3, "bytenet": 1e-3}
DEFAULT_RATE = 2e-3
REWARD_SHARE, REWARD_RATE = 0.1, 0.1  # shares of the budget and of the learning rate before "+rl"
UNLIMITED = 10**9  # steps, if another kind of budget ends the run


def embedded_recipe(corpus: Path) -> dict[str, Any]:
    """Returns recipe tables for small models on the embedded corpus in `corpus`; training takes minutes."""
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


@dataclass(frozen=True)
class Budget:
    """The maximum cost of each training."""

    kind: Literal["steps", "minutes", "flops"]
    amount: float

    def __str__(self) -> str:
        return f"{self.amount:,.10g} {self.kind}" if self.kind != "flops" else f"{self.amount:.3g} FLOPs"


def parse_budget(text: str) -> Budget:
    """
    >>> parse_budget("2000"), parse_budget("1.5min"), parse_budget("2e15 FLOPs").kind
    (Budget(kind='steps', amount=2000.0), Budget(kind='minutes', amount=1.5), 'flops')
    """
    found = re.fullmatch(r"\s*([0-9][0-9,_]*\.?[0-9]*(?:e\+?[0-9]+)?)\s*([a-z]*)\s*", text.lower())
    kinds = {"": "steps", "steps": "steps", "step": "steps", "updates": "steps", "m": "minutes", "min": "minutes"}
    kinds |= {"minutes": "minutes", "minute": "minutes", "flops": "flops", "flop": "flops"}
    if found is None or found[2] not in kinds:
        raise InputError(f'budget must be like "2000 steps", "10 min" or "1e15 flops", but is "{text}"')
    amount = float(found[1].replace(",", "").replace("_", ""))
    kind: Any = kinds[found[2]]
    if not 0 < amount < float("inf") or (kind == "steps" and (amount < 1 or amount != int(amount))):
        raise InputError(f'budget must be above 0, and a whole number of steps, but is "{text}"')
    return Budget(kind, amount)


@dataclass(frozen=True)
class SharedSettings:
    """The settings that all entrants share."""

    tables: Mapping[str, Any]  # the recipe, without the model
    seeds: int
    budget: Budget | None
    runs: Path  # the parent of all run folders


def plan(settings: SharedSettings, models: Sequence[str]) -> list[Entrant]:
    """Returns the entrants for all names, with seeds 1, 2, … if a system depends on the seed."""
    if settings.seeds < 1:
        raise InputError(f"seeds must be 1 or more, but is {settings.seeds}")
    if not models:
        raise InputError(f"models is empty; give names, for example {','.join(DEFAULT_MODELS)}", parameter="models")
    names = [entrants.read_name(model) for model in models]
    shared = recipe_from_tables({k: table for k, table in settings.tables.items() if k not in ("model", "reward")})
    entrants.check_names(names, settings.seeds, shared.text.unit)
    if shared.train.start_from is not None:
        raise InputError(
            f"a comparison trains every model from scratch, but train.start_from is {shared.train.start_from}"
        )
    for name in settings.tables.get("reward", {}) if not any("rl" in name.additions for name in names) else ():
        raise InputError(f"reward.{name} is for models trained for reward, but there is none; add rnn-attention+rl")
    return [entrant for name in names for entrant in entrants_of(name, names, shared, settings)]


def entrants_of(
    name: EntrantName, names: Sequence[EntrantName], shared: Recipe, settings: SharedSettings
) -> list[Entrant]:
    """Returns one entrant for each seed, or one for all seeds."""

    def one(members: Sequence[TrainingRun], seed: int | None, folder: str) -> Entrant:
        system = NeuralSystem(tuple(members), tuple(a for a in name.additions if a not in ("rl", "ensemble")))
        return Entrant(name.text, seed, members[0].recipe, system, settings.runs / folder)

    if name.text in entrants.BASELINES:
        return [Entrant(name.text, None, Recipe(data=shared.data), None, settings.runs / name.text)]
    if name.text == entrants.ENSEMBLE:
        plain = [training_run(other, 1, settings) for other in names if other.is_neural and not other.additions]
        return [one(plain, None, "+".join(["ensemble.of", *(member.folder.name for member in plain)]))]
    seeds = [training_run(name, seed, settings) for seed in range(1, settings.seeds + 1)]
    folder = name.text.replace(":", "-")
    if "ensemble" in name.additions:
        return [one(seeds, None, f"{folder}.of{settings.seeds}")]
    return [one([member], member.seed, f"{folder}.seed{member.seed}") for member in seeds]


def training_run(name: EntrantName, seed: int, settings: SharedSettings) -> TrainingRun:
    """Returns the run of a model, or the one that trains it further for reward."""
    folder = name.model.replace(":", "-")
    first = TrainingRun(name.model, seed, recipe_of(name, seed, settings), settings.runs / f"{folder}.seed{seed}")
    if "rl" not in name.additions:
        return first
    recipe = reward_recipe(first, settings)
    return TrainingRun(f"{name.model}+rl", seed, recipe, settings.runs / f"{folder}+rl.seed{seed}", after=first)


def recipe_of(name: EntrantName, seed: int, settings: SharedSettings) -> Recipe:
    """Returns the training recipe of a model with this seed."""
    tables, budget = settings.tables, settings.budget
    model = {k: v for k, v in tables.get("model", {}).items() if k in ("preset", "dropout")}  # common to all
    train = {
        "learning_rate": LEARNING_RATES.get(name.architecture, DEFAULT_RATE),
        **tables.get("train", {}),
        "seed": seed,
    }
    if budget is not None and budget.kind == "steps":
        train["steps"] = int(budget.amount)
    elif budget is not None:
        train[budget.kind] = budget.amount
        train["steps"] = UNLIMITED
        if train.get("schedule", "inverse-sqrt") == "cosine":
            raise InputError(
                f"train.schedule = cosine needs the number of steps, but the budget is {budget}; give steps"
            )
    model = {**model, **({"preset": name.preset} if name.preset else {}), "architecture": name.architecture}
    plain = {section: table for section, table in tables.items() if section != "reward"}  # only for +rl
    return recipe_from_tables({**plain, "model": model, "train": train})


def reward_recipe(first: TrainingRun, settings: SharedSettings) -> Recipe:
    """Returns the recipe of further training for reward, with a share of budget and rate; [reward] keys are kept."""
    train = first.recipe.train
    reward = build(RewardConfig, {"objective": "self-critical", **settings.tables.get("reward", {})}, "reward")
    if not reward.has_rewards:
        raise InputError(
            f"{first.name}+rl is trained for reward, but reward.objective is likelihood; leave that key out"
        )
    return replace(
        first.recipe,
        train=replace(
            train,
            start_from=str(first.folder),
            steps=train.steps if train.steps == UNLIMITED else max(1, round(REWARD_SHARE * train.steps)),
            minutes=train.minutes and REWARD_SHARE * train.minutes,
            flops=train.flops and REWARD_SHARE * train.flops,
            learning_rate=REWARD_RATE * train.learning_rate,
            schedule="constant",
            warmup=1,
        ),
        reward=reward,
    )


def budget_text(settings: SharedSettings) -> str:
    """Formats the budget of each training as text."""
    steps = settings.tables.get("train", {}).get("steps", TrainConfig.steps)
    return str(settings.budget) if settings.budget else f"{steps:,} steps"
