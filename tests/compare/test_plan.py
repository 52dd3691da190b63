from __future__ import annotations

import pytest

from regard.compare.plan import Budget, embedded, parse_budget, plan
from regard.errors import InputError, RecipeError

TABLES = {"data": {"src": "a", "tgt": "b"}, "model": {"preset": "tiny", "dropout": 0.2}, "train": {"warmup": 7}}


def test_what_is_shared_is_equal_and_seeds_differ():
    entrants = plan(TABLES, ["rnn", "transformer:small"], 2, Budget("steps", 30))
    assert [(e.model, e.seed) for e in entrants] == [
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
    assert {e.recipe.train.learning_rate for e in plan(own, ["rnn", "transformer"], 1, None)} == {0.5}


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
    train = plan(TABLES, ["transformer"], 1, parse_budget(words))[0].recipe.train
    assert getattr(train, kind) == amount


@pytest.mark.parametrize("words", ["", "many", "-5", "0", "1.5 steps", "5 parsecs", "1e999 flops", "nan"])
def test_impossible_budgets(words):
    with pytest.raises(InputError, match="--budget must be"):
        parse_budget(words)


@pytest.mark.parametrize(
    ("models", "seeds", "says"),
    [
        (["rnnn"], 1, 'unknown model "rnnn" in --models; did you mean "rnn"'),
        ([], 1, "--models is empty"),
        (["rnn", "rnn"], 1, "names rnn twice"),
        (["rnn"], 0, "--seeds must be 1 or more, but is 0"),
    ],
)
def test_what_cannot_be_compared(models, seeds, says):
    with pytest.raises(InputError, match=says):
        plan(TABLES, models, seeds, None)


def test_an_unknown_preset():
    with pytest.raises(RecipeError, match=r"unknown model.preset 'tinny'; did you mean \"tiny\""):
        plan(TABLES, ["transformer:tinny"], 1, None)


def test_a_budget_of_time_and_a_schedule_that_must_know_its_end(tmp_path):
    with pytest.raises(InputError, match="cosine needs to know the last step, but the budget is 5 minutes"):
        plan(embedded(tmp_path), ["transformer"], 1, Budget("minutes", 5))
