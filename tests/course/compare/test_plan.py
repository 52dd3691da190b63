from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.course.compare.entrants import Entrant, NeuralSystem
from regard.course.compare.plan import (
    REWARD_RATE,
    REWARD_SHARE,
    Budget,
    SharedSettings,
    budget_text,
    embedded_recipe,
    parse_budget,
    plan,
)
from regard.errors import InputError, RecipeError
from regard.models.table import ARCHITECTURES

TABLES = {"data": {"src": "a", "tgt": "b"}, "model": {"preset": "tiny", "dropout": 0.2}, "train": {"warmup": 7}}
RUNS = Path("out/runs")


def planned(
    models: str, seeds: int = 1, budget: Budget | None = None, tables: Mapping[str, Any] = TABLES
) -> list[Entrant]:
    return plan(SharedSettings(tables, seeds, budget, RUNS), [name for name in models.split(",") if name])


def test_what_is_shared_is_equal_and_seeds_differ():
    entrants = planned("rnn,transformer:small", 2, Budget("steps", 30))
    assert [(e.name, e.seed) for e in entrants] == [
        ("rnn", 1),
        ("rnn", 2),
        ("transformer:small", 1),
        ("transformer:small", 2),
    ]
    assert {e.recipe.data for e in entrants} == {entrants[0].recipe.data}
    assert {e.recipe.text for e in entrants} == {entrants[0].recipe.text}
    assert {(e.recipe.train.steps, e.recipe.train.warmup) for e in entrants} == {(30, 7)}
    assert [e.recipe.train.seed for e in entrants] == [1, 2, 1, 2]
    assert [e.recipe.architecture for e in entrants] == ["rnn", "rnn", "transformer", "transformer"]
    assert {e.recipe.model.dropout for e in entrants} == {0.2}
    assert len({e.folder for e in entrants}) == 4


def test_a_rate_of_the_recipe_stands_above_the_sensible_one():
    own = {**TABLES, "train": {"learning_rate": 0.5}}
    assert {e.recipe.train.learning_rate for e in planned("rnn,transformer", tables=own)} == {0.5}


def test_every_kind_of_system():
    names = "ibm,phrases,rules,rnn-attention,rnn-attention+lexicon+rules,rnn-attention+ensemble,gnmt,ensemble"
    entrants = planned(names, 2)
    assert [(e.name, e.seed) for e in entrants if e.seed is None] == [
        ("ibm", None),
        ("phrases", None),
        ("rules", None),
        ("rnn-attention+ensemble", None),
        ("ensemble", None),
    ]
    systems = {(e.name, e.seed): e.system for e in entrants}
    assert all(systems[name, None] is None for name in ("ibm", "phrases", "rules"))
    first, second = systems["rnn-attention", 1], systems["rnn-attention", 2]
    assert isinstance(first, NeuralSystem)
    assert isinstance(second, NeuralSystem)
    assert systems["rnn-attention+lexicon+rules", 2] == NeuralSystem(second.members, ("lexicon", "rules"))
    assert systems["rnn-attention+ensemble", None] == NeuralSystem(first.members + second.members)
    together = systems["ensemble", None]
    assert isinstance(together, NeuralSystem)
    assert [(run.name, run.seed) for run in together.runs()] == [("rnn-attention", 1), ("gnmt", 1)]
    assert [e.name for e in entrants if e.needs_rules] == ["rules"] + 2 * ["rnn-attention+lexicon+rules"]
    assert len({e.folder for e in entrants}) == len(entrants)


def test_an_ensemble_of_other_members_lies_elsewhere():
    assert planned("rnn+ensemble", 2)[0].folder != planned("rnn+ensemble", 3)[0].folder
    assert planned("rnn,gnmt,ensemble")[-1].folder != planned("rnn,moe,ensemble")[-1].folder


def test_training_for_reward_goes_on_with_the_run_of_the_same_seed():
    tables = {**TABLES, "reward": {"samples": 4}}
    entrants = planned("gnmt,gnmt+rl,gnmt+rl+ensemble", 2, Budget("steps", 500), tables)
    plain, reward_recipe = entrants[1], entrants[3]
    assert (plain.name, plain.seed, reward_recipe.name, reward_recipe.seed) == ("gnmt", 2, "gnmt+rl", 2)
    assert plain.recipe.reward.objective == "likelihood"
    assert (reward_recipe.recipe.reward.objective, reward_recipe.recipe.reward.samples) == ("self-critical", 4)
    assert reward_recipe.recipe.train.start_from == str(plain.folder)
    assert reward_recipe.recipe.train.steps == REWARD_SHARE * plain.recipe.train.steps
    assert reward_recipe.recipe.train.learning_rate == REWARD_RATE * plain.recipe.train.learning_rate
    assert (reward_recipe.recipe.model, reward_recipe.recipe.text) == (plain.recipe.model, plain.recipe.text)
    system = entrants[4].system
    assert isinstance(system, NeuralSystem)
    assert [(run.name, run.seed) for run in system.runs()] == [
        ("gnmt", 1),
        ("gnmt+rl", 1),
        ("gnmt", 2),
        ("gnmt+rl", 2),
    ]


def test_the_list_of_models_without_attention_is_true():
    source, mask = torch.tensor([[5, 6, 2]]), torch.ones(1, 3, dtype=torch.bool)
    for name, (_, presets, build) in ARCHITECTURES.items():
        model = build(presets["tiny"], 30, 30, True).eval()
        step = model.step(torch.tensor([1]), model.start(model.encode(source, mask), trace=True))
        assert (step.attention is None) == (name in ("rnn", "bytenet")) == (not build.has_attention), name


@pytest.mark.parametrize(
    ("words", "kind", "amount"),
    [
        ("2000", "steps", 2000),
        ("2,000 steps", "steps", 2000),
        ("1.5 min", "minutes", 1.5),
        ("1e15 FLOPs", "flops", 1e15),
    ],
)
def test_budgets(words, kind, amount):
    assert parse_budget(words) == Budget(kind, amount)
    train = planned("transformer", budget=parse_budget(words))[0].recipe.train
    assert getattr(train, kind) == amount
    share = planned("transformer+rl", budget=parse_budget(words))[0].recipe.train
    assert getattr(share, kind) == pytest.approx(REWARD_SHARE * amount)


@pytest.mark.parametrize("words", ["", "many", "-5", "0", "1.5 steps", "5 parsecs", "1e999 flops", "nan"])
def test_impossible_budgets(words):
    with pytest.raises(InputError, match="budget must be"):
        parse_budget(words)


@pytest.mark.parametrize(
    ("models", "seeds", "says"),
    [
        ("rnnn", 1, 'unknown model "rnnn"; did you mean "rnn"'),
        ("", 1, "models is empty"),
        ("rnn,rnn", 1, "models has rnn twice; name each model once, or with presets: rnn:tiny"),
        ("ibm,ibm", 1, "models has ibm twice; name each model once$"),
        ("rnn", 0, "seeds must be 1 or more, but is 0"),
        ("rnn+lexicn", 1, 'unknown addition "\\+lexicn" in rnn\\+lexicn; did you mean "lexicon"'),
        ("rnn+", 1, 'unknown addition "\\+" in rnn\\+; known: '),
        ("ibm+rl", 1, '"ibm\\+rl" is impossible: \\+rl is for neural models, and ibm is none'),
        ("ensemble+rl", 1, "for neural models, and ensemble is none"),
        ("rules:tiny", 1, '"rules:tiny" names a preset, but rules has none; write rules'),
        ("rnn+ensemble+rl", 2, "must be written rnn\\+rl\\+ensemble"),
        ("rnn+rl+rl", 2, "must be written rnn\\+rl$"),
        ("rnn+ensemble", 1, "needs two seeds or more, but seeds is 1"),
        ("bytenet+posunk", 1, "needs attention, and bytenet has none"),
        ("deep-att+posunk", 1, "needs words as tokens, but text.unit is bpe; set it to word"),
        ("rnn,rnn+rl,ensemble", 1, "ensemble needs two plain neural models or more, but there is only rnn"),
        ("ibm,ensemble", 1, "but there is none"),
    ],
)
def test_what_cannot_be_compared(models, seeds, says):
    with pytest.raises(InputError, match=says):
        planned(models, seeds)


def test_an_unknown_preset():
    with pytest.raises(RecipeError, match=r"unknown model.preset 'tinny'; did you mean \"tiny\""):
        planned("transformer:tinny")


def test_a_budget_of_time_and_a_schedule_that_must_know_its_end(tmp_path):
    with pytest.raises(InputError, match="cosine needs the number of steps, but the budget is 5 minutes"):
        planned("transformer", budget=Budget("minutes", 5), tables=embedded_recipe(tmp_path))


def test_keys_that_no_model_would_heed():
    with pytest.raises(InputError, match=r"reward.samples is for models trained for reward, but there is none"):
        planned("rnn", tables={**TABLES, "reward": {"samples": 4}})
    with pytest.raises(InputError, match=r"rnn\+rl is trained for reward, but reward.objective is likelihood"):
        planned("rnn+rl", tables={**TABLES, "reward": {"objective": "likelihood"}})
    with pytest.raises(InputError, match=r"from scratch, but train\.start_from is runs/x"):
        planned("rnn", tables={**TABLES, "train": {"start_from": "runs/x"}})


def test_what_was_spent_in_words():
    assert budget_text(SharedSettings(TABLES, 1, None, RUNS)) == "10,000 steps"
    assert budget_text(SharedSettings({"train": {"steps": 20}}, 1, None, RUNS)) == "20 steps"
    assert budget_text(SharedSettings(TABLES, 1, Budget("flops", 1e15), RUNS)) == "1e+15 FLOPs"
