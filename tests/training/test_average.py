"""Means of weights."""

from __future__ import annotations

import pytest
import torch

from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import TrainConfig
from regard.training.average import Average


def make() -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(width=8, heads=2, inner=8, encoder_layers=1, decoder_layers=1), 9, 9, True)


def fill(model: Transformer, value: float) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)


def value(model: Transformer) -> float:
    return float(next(model.parameters()).detach().flatten()[0])


def test_the_mean_of_the_last_evaluations() -> None:
    model = make()
    average = Average(model, TrainConfig(average="last", average_last=2))
    for number in (1.0, 3.0, 7.0):
        fill(model, number)
        average.before_evaluation()
    with average.in_place():
        assert value(model) == 5.0
    assert value(model) == 7.0


def test_the_moving_mean_follows_its_formula() -> None:
    model = make()
    fill(model, 0.0)
    average = Average(model, TrainConfig(average="ema", ema_decay=0.5))
    expected = 0.0
    for step, number in enumerate((1.0, 2.0, 3.0), start=1):
        fill(model, number)
        average.after_update(step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * number
    with average.in_place():
        assert value(model) == pytest.approx(expected)
    assert value(model) == 3.0


def test_none_is_the_model_itself() -> None:
    model = make()
    average = Average(model, TrainConfig())
    fill(model, 2.0)
    average.after_update(1)
    average.before_evaluation()
    assert average.tensors() == {}
    with average.in_place():
        assert value(model) == 2.0
