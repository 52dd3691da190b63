"""The systems of the notes' Table 2, sized for a budget of training operations, as entrants of a comparison.

    model      an architecture with a size, a kind of text and a rate (MODELS)
    system     a row of the table: a model, or a model with reward training, PosUnk or an ensemble (SYSTEMS)
    entrant    one system and seed, as `regard.course.compare` trains and translates it

Every training has the same budget. GNMT + RL spends a tenth of it on rewards, so the GNMT that it starts from has nine
tenths. An ensemble of n has n budgets, as the paper's ensembles of eight have eight. Transformer big is to Transformer
base as in the paper: twice the width, the heads and the inner width, with as many layers.

Nothing is trained here; `table2.py` does that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch
from table2_setting import KINDS, Setting

from regard.course.compare.entrants import Entrant, NeuralSystem, TrainingRun
from regard.course.compare.plan import SharedSettings, reward_recipe
from regard.course.compare.report import PUBLISHED, PublishedSystem
from regard.models.base import Model
from regard.models.table import ARCHITECTURES, ModelConfig
from regard.recipe.recipe import Recipe
from regard.recipe.train import TrainConfig
from regard.training.cost import FlopCounter

REWARD_SHARE = 0.1  # of the budget of GNMT + RL
REWARD_BATCH = 2048  # tokens; each sentence has 15 samples beside its reference
WARM_UP = 0.1  # of the updates that a budget is worth
FULL = 0.9  # of a batch's tokens are taken, at a mean
SCHEDULE_STEPS = 1_000_000  # a schedule by budget is stretched over the operations, whatever this is
MEMBERS = (1, 2)  # seeds of an ensemble
SCORES = "scores.json"  # in the folder of an entrant that is done


@dataclass(frozen=True)
class SizedModel:
    architecture: str
    size: dict[str, Any]  # keys of its configuration; the others have their defaults
    paper: str  # the size in the paper
    rate: float  # of learning
    speed: int  # target tokens/s on an H200 that others share, an estimate for the plan
    kind: str = "pieces"

    def config(self, tiny: bool = False) -> ModelConfig:
        made = ARCHITECTURES[self.architecture].config
        return made(**{**self.size, "dropout": 0.1, **(TINY[self.architecture] if tiny else {})})


MOE = {
    "width": 384,
    "cells": 384,
    "inner": 768,
    "encoder_layers": 3,
    "decoder_layers": 2,
    "experts": 16,
    "expert_choice": 4,
}
# Rates are those of short runs (docs/log.md), lower for wider and deeper models; none was tuned here.
# Speeds are about those of docs/benchmarks.md, for batches of 4,096 beside 13 to 23 other runs: updates so small take
# as long for a model of twice the size.
MODELS = {
    "transformer": SizedModel(
        "transformer",
        {"width": 256, "heads": 4, "inner": 1024, "encoder_layers": 6, "decoder_layers": 6},
        "6 + 6 layers, width 512, inner 2,048, 8 heads",
        2e-3,
        150_000,
    ),
    "transformer:big": SizedModel(
        "transformer",
        {"width": 512, "heads": 8, "inner": 2048, "encoder_layers": 6, "decoder_layers": 6},
        "6 + 6 layers, width 1,024, inner 4,096, 16 heads",
        1e-3,
        100_000,
    ),
    "gnmt": SizedModel(
        "gnmt",
        {"width": 384, "layers": 4},
        "8 + 8 layers of LSTM, width 1,024",
        2e-3,
        50_000,
    ),
    "deep-att": SizedModel(
        "deep-att",
        {"width": 256, "embedding": 256, "encoder_layers": 5, "decoder_layers": 4},
        "2 columns of 9 layers, 7 in the decoder, 512 cells, words",
        1e-3,
        45_000,
        kind="words",
    ),
    "convs2s": SizedModel(
        "convs2s",
        {"width": 320, "embedding": 320, "encoder_layers": 8, "decoder_layers": 8, "max_positions": 512},
        "15 + 15 layers, width 512 and more in the last five",
        1e-3,
        55_000,
    ),
    "moe": SizedModel(
        "moe",
        MOE,
        "3 + 2 layers of LSTM, 2,048 cells, width 512, 2,048 experts of 2,048, 4 chosen",
        2e-3,
        44_000,
    ),
    "moe:dense": SizedModel(
        "moe",
        {**MOE, "experts": 4},
        "not in it",
        2e-3,
        44_000,
    ),
    "bytenet": SizedModel(
        "bytenet",
        {"width": 192, "encoder_layers": 15, "decoder_layers": 15},
        "30 + 30 blocks, width 800, characters",
        1e-3,
        32_000,
    ),
    "bytenet:characters": SizedModel(
        "bytenet",
        {"width": 192, "encoder_layers": 15, "decoder_layers": 15},
        "30 + 30 blocks, width 800",
        1e-3,
        64_000,
        kind="characters",
    ),
}
TINY: dict[str, dict[str, int]] = {
    "transformer": {"width": 32, "heads": 2, "inner": 64, "encoder_layers": 2, "decoder_layers": 2},
    "gnmt": {"width": 32, "layers": 3},
    "deep-att": {"width": 32, "embedding": 32, "encoder_layers": 2, "decoder_layers": 2},
    "convs2s": {"width": 32, "embedding": 32, "encoder_layers": 2, "decoder_layers": 2},
    "moe": {"width": 32, "cells": 32, "inner": 32, "encoder_layers": 2, "experts": 4, "expert_choice": 2},
    "bytenet": {"width": 32, "encoder_layers": 2, "decoder_layers": 2, "dilations": 2},
}


@dataclass(frozen=True)
class TableSystem:
    """A row. Its name is that of `regard compare`: a model and additions."""

    name: str
    title: str
    note: str = ""

    @property
    def model(self) -> str:
        return self.name.split("+")[0]

    @property
    def additions(self) -> tuple[str, ...]:
        return tuple(self.name.split("+")[1:])

    @property
    def published(self) -> PublishedSystem | None:
        name = self.name.replace("bytenet:characters", "bytenet")
        return next((one for one in PUBLISHED if one.here == name), None)


SYSTEMS = tuple(
    TableSystem(*words)
    for words in (
        ("bytenet", "ByteNet, pieces", "the paper's reads characters"),
        ("bytenet:characters", "ByteNet, characters"),
        ("deep-att", "Deep-Att", "not in the table: the row below before PosUnk"),
        ("deep-att+posunk", "Deep-Att + PosUnk"),
        ("gnmt", "GNMT", "not in the table: the row below before its rewards, nine tenths of the budget"),
        ("gnmt+rl", "GNMT + RL"),
        ("convs2s", "ConvS2S"),
        ("moe", "MoE"),
        ("moe:dense", "MoE, 4 experts of 4", "not in the table: the operations of the row above without its choice"),
        ("deep-att+posunk+ensemble", "Deep-Att + PosUnk Ensemble"),
        ("gnmt+rl+ensemble", "GNMT + RL Ensemble"),
        ("convs2s+ensemble", "ConvS2S Ensemble"),
        ("transformer", "Transformer (base model)"),
        ("transformer:big", "Transformer (big)"),
    )
)


def system_of(name: str) -> TableSystem:
    return next(system for system in SYSTEMS if system.name == name)


# What every row needs, the trainings that take longest first; then what only makes figures firmer.
EVERY_ROW: tuple[tuple[str, int | None], ...] = (
    *(("bytenet:characters", 1), ("deep-att", 1), ("deep-att", 2), ("gnmt", 1), ("gnmt", 2), ("bytenet", 1)),
    *(("moe", 1), ("moe:dense", 1), ("transformer", 1), ("convs2s", 1), ("convs2s", 2), ("transformer:big", 1)),
    *(("gnmt+rl", 1), ("gnmt+rl", 2), ("deep-att+posunk", 1)),
    *((name, None) for name in ("convs2s+ensemble", "deep-att+posunk+ensemble", "gnmt+rl+ensemble")),
)
FIRMER: tuple[tuple[str, int | None], ...] = (
    *(("moe", 2), ("moe", 3), ("deep-att+posunk", 2)),
    *(("transformer:big", 2), ("transformer", 2), ("transformer:big", 3), ("transformer", 3)),
)
ORDER = EVERY_ROW + FIRMER
# What is trained at other rates than a model's own, to see what of a row is its rate; the slowest first.
RATED: tuple[tuple[str, int | None], ...] = tuple(
    (name, 1) for name in ("bytenet", "deep-att", "gnmt", "moe", "convs2s", "transformer", "transformer:big")
)


# ------------------------------------------------------------------------------------------------ recipes


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
    return FlopCounter(made(name)).of_pair(source, target) / target


def share_of(name: str) -> float:
    """Of the budget that is spent by likelihood."""
    return 1 - REWARD_SHARE if name == "gnmt" else 1.0


def expected_updates(name: str, budget: float) -> float:
    """How many updates the budget of a system is worth, about."""
    return share_of(name) * budget / flops_per_token(name) / (FULL * KINDS[MODELS[name].kind].batch)


def recipe_of(name: str, seed: int, setting: Setting) -> Recipe:
    """Training by likelihood. The rate rises over a tenth of the updates and falls to zero with the budget along a
    cosine."""
    model = MODELS[name]
    train = TrainConfig(
        steps=SCHEDULE_STEPS,
        flops=share_of(name) * setting.budget,
        schedule="cosine",
        schedule_by="budget",
        warmup=5 if setting.tiny else max(1, round(WARM_UP * expected_updates(name, setting.budget))),
        batch_tokens=512 if setting.tiny else KINDS[model.kind].batch,
        learning_rate=setting.rate * model.rate,
        eval_every=SCHEDULE_STEPS,  # once, when the budget is spent
        save_every=1000,
        compile=False,  # takes as long as it saves in a minute
        seed=seed,
    )
    return Recipe(
        setting.data_config(model.kind),
        setting.text_config(model.kind),
        model.architecture,
        model.config(setting.tiny),
        train,
    )


def run_of(name: str, seed: int, setting: Setting) -> TrainingRun:
    """The run of a model, or of a model further trained for reward."""
    model, _, added = name.partition("+")
    first = TrainingRun(model, seed, recipe_of(model, seed, setting), setting.runs / folder_of(model, seed))
    if added != "rl":
        return first
    recipe = reward_recipe(first, SharedSettings({}, 1, None, setting.runs))
    train = replace(
        recipe.train,
        flops=REWARD_SHARE * setting.budget,
        log_every=1,  # the budget is checked as often, and these updates are large
        batch_tokens=256 if setting.tiny else REWARD_BATCH,
    )
    return TrainingRun(name, seed, replace(recipe, train=train), setting.runs / folder_of(name, seed), after=first)


def folder_of(name: str, seed: int | None) -> str:
    """
    >>> folder_of("transformer:big", 1), folder_of("convs2s+ensemble", None)
    ('transformer-big.seed1', 'convs2s+ensemble.of2')
    """
    return f"{name.replace(':', '-')}.{f'of{len(MEMBERS)}' if seed is None else f'seed{seed}'}"


def entrant_of(name: str, seed: int | None, setting: Setting) -> Entrant:
    """With a seed, one translator; without, the ensemble of the members' seeds."""
    system = system_of(name)
    trained = "+".join([system.model, *(added for added in system.additions if added == "rl")])
    seeds = MEMBERS if seed is None else (seed,)
    members = tuple(run_of(trained, one, setting) for one in seeds)
    additions = tuple(added for added in system.additions if added == "posunk")
    folder = setting.runs / folder_of(name, seed)
    return Entrant(name, seed, members[0].recipe, NeuralSystem(members, additions), folder)


def entrants(setting: Setting, order: tuple[tuple[str, int | None], ...] = ORDER) -> Iterator[Entrant]:
    """In the order in which they are wanted."""
    for name, seed in order:
        yield entrant_of(name, seed, setting)
