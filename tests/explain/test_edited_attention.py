"""Edited attention: the model's own weights change nothing, others are those that the model attends with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import variants
from regard.batch import flat_batch, pad_sources
from regard.errors import InputError
from regard.explain.edited_attention import EditedModel, checked_edits, weights_of_words
from regard.explain.trace import forced_maps
from regard.models.base import Model
from regard.models.transformer_layers import TransformerConfig
from regard.search.forced_decoding import forced_log_probs
from regard.search.search import beam_search
from variants import transformer

CONFIG = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=2)
MODELS: dict[str, Callable[[], Model]] = {
    "transformer": lambda: transformer(CONFIG),
    "before": variants.RNN["before"],
    "gnmt": variants.GNMTS["four layers"],
}
SOURCE, TARGET = [5, 9, 14, 3], [7, 11, 4]


def sharp(name: str) -> Model:
    torch.manual_seed(3)
    model = MODELS[name]().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    return model


def own_weights(model: Model) -> dict[tuple[int, int, int], np.ndarray]:
    maps = forced_maps(model, SOURCE, TARGET).cross
    return {
        (layer, head, place): heads[0, head, place].double().numpy()
        for layer, heads in enumerate(maps)
        for head in range(heads.shape[1])
        for place in range(heads.shape[2])
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_models_own_weights_change_nothing(name: str) -> None:
    model = sharp(name)
    edited = EditedModel(model, checked_edits(model, own_weights(model), len(SOURCE) + 1))
    before, after = (forced_log_probs(one, [SOURCE], [TARGET])[0] for one in (model, edited))
    np.testing.assert_allclose(after, before, atol=1e-4)
    src, mask = pad_sources([SOURCE])
    first, second = (beam_search(one, src, mask, 3)[0][0] for one in (model, EditedModel(model, {})))
    assert first.ids == second.ids


@pytest.mark.parametrize("name", MODELS)
def test_an_edit_changes_its_place_and_what_comes_after(name: str) -> None:
    model = sharp(name)
    row = np.eye(len(SOURCE) + 1)[1]
    edits = {(0, head, 1): row for head in range(2 if name == "transformer" else 1)}
    edited = EditedModel(model, checked_edits(model, edits, len(SOURCE) + 1))
    (before,), (after,) = (forced_log_probs(one, [SOURCE], [TARGET]) for one in (model, edited))
    np.testing.assert_allclose(after[0], before[0], atol=1e-5)
    assert np.abs(after[1:] - before[1:]).max() > 1e-3
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


def test_uniform_weights_are_a_head_cut_to_uniform() -> None:
    from regard.explain.ablation import Head, ablated

    model = sharp("transformer")
    rows = {(1, 0, place): np.full(len(SOURCE) + 1, 2.0) for place in range(len(TARGET) + 1)}
    edited = EditedModel(model, checked_edits(model, rows, len(SOURCE) + 1))
    (found,) = forced_log_probs(edited, [SOURCE], [TARGET])
    with ablated(model, [Head("cross", 1, 0)], "uniform"):
        (wanted,) = forced_log_probs(model, [SOURCE], [TARGET])
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_scores_that_are_given_are_the_weights_that_are_recorded() -> None:
    model = sharp("before")
    row = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    edited = EditedModel(model, checked_edits(model, {(0, 0, 0): row}, 5))
    batch = flat_batch([SOURCE], [TARGET]).pad()
    step = edited.step(batch.tgt_in[:, 0], edited.start(edited.encode(batch.src, batch.src_mask), trace=True))
    assert step.attention is not None
    np.testing.assert_allclose(step.attention[0, 0, 0].detach().numpy(), row, atol=1e-6)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({(2, 0, 0): [1.0] * 5}, "layer must be from 1 to 2"),
        ({(0, 2, 0): [1.0] * 5}, "head must be from 1 to 2"),
        ({(0, 0, -1): [1.0] * 5}, "position must be from 0 on"),
        ({(0, 0, 0): [1.0] * 4}, "must have 5 numbers"),
        ({(0, 0, 0): [0.0] * 5}, "at least one is above 0"),
        ({(0, 0, 0): [1.0, -1.0, 1.0, 1.0, 1.0]}, "from 0 on"),
        ({(0, 0, 0): [float("nan")] * 5}, "from 0 on"),
    ],
)
def test_bad_edits(edit: dict[tuple[int, int, int], list[float]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked_edits(sharp("transformer"), edit, 5)


def test_a_convolutional_decoder_is_refused() -> None:
    with pytest.raises(InputError, match="no attention that can be edited"):
        EditedModel(variants.CONVS2S["plain"](), {})


def test_the_weight_of_a_word_is_divided_as_the_model_did() -> None:
    own = np.array([0.5, 0.1, 0.2, 0.0, 0.0, 0.2])  # a tag first, EOS last
    shares = np.array([[1, 0], [1, 0], [0, 1], [0, 1.0]])
    row = weights_of_words([0.6, 0.3], 0.1, own, shares, tags=1)
    np.testing.assert_allclose(row, [0, 0.2, 0.4, 0.15, 0.15, 0.1])
    with pytest.raises(InputError, match="must have 2 weights"):
        weights_of_words([1.0], 0.0, own, shares, tags=1)
