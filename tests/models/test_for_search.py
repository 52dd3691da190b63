"""What is searched with in place of a model."""

from __future__ import annotations

import gc

import torch

from regard.batch import BOS, pad_sources
from regard.explain.ablation import Head, ablated
from regard.models import transformer_recorded as module
from regard.models.base import Model
from regard.models.rnn import Rnn, RnnConfig
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.models.transformer_recorded import column_by_column, for_search
from variants import V, close, scattered

SMALL = TransformerConfig(width=16, heads=2, inner=24, encoder_layers=1, decoder_layers=2)


def test_a_twin_is_made_once_and_again_for_other_weights() -> None:
    model = scattered(Transformer(SMALL, V, V, True))
    twin = for_search(model)
    assert twin is not model
    assert for_search(model) is twin
    with torch.no_grad():
        model.output.weight[3] += 1.0
    other = for_search(model)
    assert other is not twin
    assert isinstance(other, Transformer)
    torch.testing.assert_close(other.output.weight, model.output.weight)


def test_a_twin_is_made_again_after_training_that_torch_does_not_count() -> None:
    model = scattered(Transformer(SMALL, V, V, True))
    twin = for_search(model)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=True)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()  # leaves the version of every parameter as it was
    model.eval()
    other = for_search(model)
    assert other is not twin
    assert isinstance(other, Transformer)
    torch.testing.assert_close(other.output.weight, model.output.weight)


def test_a_twin_is_made_again_for_other_hooks() -> None:
    model = scattered(Transformer(SMALL, V, V, True))
    src, mask = pad_sources([[5, 6, 7], [8]])

    @torch.inference_mode()
    def logits(of: Model) -> torch.Tensor:
        return of.step(torch.tensor([BOS, 4]), of.start(of.encode(src, mask), room=4)).logits

    whole = logits(for_search(model))
    for head in (Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 0, 1)):
        with ablated(model, [head]):
            without = logits(for_search(model))
            close(without, logits(model))
            assert for_search(model) is for_search(model)
        assert not torch.allclose(without, whole, atol=1e-3)
        close(logits(for_search(model)), whole)


def test_a_model_is_not_kept_alive_by_its_twin() -> None:
    gc.collect()  # models of other tests
    before = len(module._copies)
    for _ in range(3):
        for_search(scattered(Transformer(SMALL, V, V, True)))
        gc.collect()
    assert len(module._copies) == before


def test_other_architectures_search_as_they_are() -> None:
    model = Rnn(RnnConfig(width=12, layers=1, embedding=10), V, V, True)
    assert for_search(model) is model


@torch.inference_mode()
def test_matrices_laid_otherwise_compute_the_same() -> None:
    model = scattered(Transformer(SMALL, V, V, True))
    twin = column_by_column(model)
    assert twin.output.weight.stride() == (1, V)
    assert twin.target_embedding.weight.stride() == (16, 1)
    src, mask = pad_sources([[5, 6, 7], [8]])
    token = torch.tensor([BOS, 4])
    steps = [m.step(token, m.start(m.encode(src, mask), room=4)).logits for m in (model, twin)]
    close(steps[1], steps[0])
