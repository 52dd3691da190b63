"""What training for rewards costs, against torch's own count of what it does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import EOS, flat_batch
from regard.models.base import Model
from regard.models.table import ARCHITECTURES
from regard.models.transformer import Transformer
from regard.recipe.train import RewardConfig
from regard.training.cost import FlopCounter
from regard.training.reward import reward_loss

LIMIT = 30  # words a translation of four tokens and EOS may have


@pytest.fixture(params=["bytenet", "convs2s", "transformer"])
def model(request: pytest.FixtureRequest) -> Model:
    """It never ends a translation by itself, so that all have one length and nothing is padded."""
    _, presets, make = ARCHITECTURES[request.param]
    torch.manual_seed(0)
    made: Any = make(replace(presets["tiny"], dropout=0.0, encoder_layers=2, decoder_layers=2), 40, 40, False).train()

    def never_ends(module: torch.nn.Module, inputs: Any, logits: Tensor) -> Tensor:
        return logits.index_fill(-1, torch.tensor([EOS]), -50.0)

    made.output.register_forward_hook(never_ends)
    assert isinstance(made, Model)
    return made


@pytest.mark.parametrize(
    "config",
    [
        RewardConfig("self-critical", samples=3),
        pytest.param(RewardConfig("self-critical", samples=5, baseline="mean"), marks=pytest.mark.long),
        RewardConfig("minimum-risk", samples=4),
    ],
)
def test_searching_and_learning_are_counted_as_torch_counts_them(model: Model, config: RewardConfig) -> None:
    pairs = flat_batch([[3, 4, 5, 6]], [[7] * LIMIT])
    with FlopCounterMode(display=False) as counter:
        found = reward_loss(model, pairs.pad(), config)
        found.loss.backward()
    counted = (FlopCounter(model).of_batch(pairs) + found.flops) / counter.get_total_flops()
    if isinstance(model, Transformer):
        assert 1 < counted < 1.05  # masked scores count in full, though a search never computes them
    else:
        assert counted == pytest.approx(1, abs=1e-12)


def test_the_source_is_read_once_for_all_samples(model: Model) -> None:
    cost = FlopCounter(model)
    assert cost.of_search(5, [6]) == pytest.approx(model.flops(5, 6))
    assert cost.of_search(5, [6, 6]) < 2 * cost.of_search(5, [6])
    assert cost.of_pair(5, 6) == 3 * model.flops(5, 6)
