"""Schedules as the papers write them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regard.recipe.train import TrainConfig
from regard.training.schedule import is_evaluation, learning_rate, sampling_probability

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
