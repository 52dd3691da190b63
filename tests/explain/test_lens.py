"""The lens at the last layer is the model; in between it is the model without the layers that follow."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

import variants
from regard.batch import EOS, flat_batch
from regard.errors import InputError
from regard.explain.lens import layer_log_probs, lens
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from variants import transformer

CONFIG = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=3)
SOURCE, TARGET = [5, 9, 14, 3], [7, 11, 4]


def fresh(norm: str) -> Transformer:
    torch.manual_seed(3)
    model = transformer(replace(CONFIG, norm=norm)).eval()  # type: ignore[arg-type]
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_last_layer_is_the_models_own_distribution(norm: str) -> None:
    model = fresh(norm)
    own = model(flat_batch([SOURCE], [TARGET]).pad())[0].detach().double().log_softmax(-1).numpy()
    layers = layer_log_probs(model, SOURCE, TARGET)
    assert len(layers) == 4
    np.testing.assert_array_equal(layers[-1], own)
    for rows in layers:
        np.testing.assert_allclose(np.exp(rows).sum(axis=-1), 1.0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_says_what_a_model_that_ends_there_says(norm: str) -> None:
    model = fresh(norm)
    layers = layer_log_probs(model, SOURCE, TARGET)
    for number in (1, 2):
        shorter = copy.deepcopy(model)
        shorter.decoder = shorter.decoder[:number]
        np.testing.assert_allclose(layer_log_probs(shorter, SOURCE, TARGET)[-1], layers[number], atol=1e-6)


def test_ranks_and_probabilities() -> None:
    model = fresh("pre")
    layers = layer_log_probs(model, SOURCE, TARGET)
    for readings, rows in zip(lens(model, SOURCE, TARGET, count=2).layers, layers, strict=True):
        assert len(readings) == 4
        for reading, row, said in zip(readings, rows, [*TARGET, EOS], strict=True):
            order = np.argsort(-row).tolist()
            assert list(reading.tokens) == order[:2]
            assert reading.rank == 1 + order.index(said)
            assert reading.probability == pytest.approx(float(np.exp(row[said])))


def test_a_recurrent_model_has_none() -> None:
    with pytest.raises(InputError, match="from a Transformer"):
        lens(variants.RNN["before"](), SOURCE, TARGET)
