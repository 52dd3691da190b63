"""Schedules as the papers write them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.recipe.train import TrainConfig
from regard.training.schedule import is_evaluation, learning_rate, sampling_probability, schedule_position

CONFIG = TrainConfig(steps=1000, warmup=100, decay=200, learning_rate=1.0)


def test_inverse_sqrt_is_the_papers() -> None:
    width, warmup = 512, 4000
    config = replace(CONFIG, warmup=warmup, learning_rate=(width * warmup) ** -0.5, schedule="inverse-sqrt")
    for step in (1, 10, 3999, 4000, 4001, 100_000):
        paper = width**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert learning_rate(step, config) == pytest.approx(paper)


def test_shapes() -> None:
    cosine, wsd, linear = (replace(CONFIG, schedule=shape) for shape in ("cosine", "wsd", "linear"))
    for config in (cosine, wsd, linear):
        assert learning_rate(50, config) == pytest.approx(0.5)
        assert learning_rate(100, config) == pytest.approx(1.0)
        assert learning_rate(1000, config) == pytest.approx(0.0)
    assert learning_rate(550, cosine) == pytest.approx(0.5)
    assert learning_rate(325, linear) == pytest.approx(0.75)
    assert learning_rate(775, linear) == pytest.approx(0.25)
    assert learning_rate(800, wsd) == pytest.approx(1.0)
    assert learning_rate(900, wsd) == pytest.approx(0.5)
    assert learning_rate(10**6, replace(CONFIG, schedule="constant")) == 1.0


@given(
    step=st.integers(1, 2000),
    seconds=st.floats(0, 1000),
    flops=st.floats(0, 3e9),
    limits=st.sampled_from([{}, {"minutes": 10.0}, {"flops": 2e9}, {"minutes": 10.0, "flops": 2e9}]),
)
def test_a_budget_stretches_the_schedule(step: int, seconds: float, flops: float, limits: dict[str, float]) -> None:
    """The share spent of whatever is spent furthest is the place, and the rate there is that of a run by steps."""
    config = replace(CONFIG, schedule="linear", schedule_by="budget", **limits)
    place = schedule_position(step, seconds, flops, config)
    shares = [
        step / 1000,
        *([seconds / 600] if "minutes" in limits else []),
        *([flops / 2e9] if "flops" in limits else []),
    ]
    assert place == pytest.approx(1000 * min(1.0, max(shares)))
    later = schedule_position(step + 1, seconds + 1, flops + 1, config)
    assert learning_rate(step + 100, config, later) <= learning_rate(step + 100, config, place)
    assert schedule_position(step, seconds, flops, replace(config, schedule_by="steps")) == step
    if max(shares) >= 1:
        assert learning_rate(step, config, place) == 0


def test_warm_up_is_counted_in_updates_whatever_the_budget() -> None:
    config = replace(CONFIG, schedule="wsd", schedule_by="budget", minutes=10)
    assert learning_rate(50, config, schedule_position(50, 470, 0, config)) == pytest.approx(0.5)
    assert learning_rate(200, config, schedule_position(200, 540, 0, config)) == pytest.approx(0.5)


def test_own_words_come_little_by_little() -> None:
    config = replace(CONFIG, sampling_rate=0.4)
    assert [sampling_probability(step, config) for step in (0, 250, 1000, 2000)] == pytest.approx([0, 0.1, 0.4, 0.4])
    assert sampling_probability(1000, CONFIG) == 0


def test_evaluations_fit_the_run_unless_the_recipe_says() -> None:
    def evaluations(config: TrainConfig) -> list[int]:
        return [step for step in range(1, config.steps + 1) if is_evaluation(step, config)]

    assert evaluations(TrainConfig(steps=1000)) == [100, 250, 500, 750, 1000]
    assert evaluations(TrainConfig(steps=10)) == [2, 4, 6, 8, 10]
    assert len(evaluations(TrainConfig())) == 21
    assert evaluations(TrainConfig(steps=1000, eval_every=300)) == [300, 600, 900, 1000]
