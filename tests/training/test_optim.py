"""Groups and their rates; Adafactor against the paper's algorithm."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.models.transformer import PRESETS, Transformer
from regard.recipe.train import TrainConfig
from regard.training.optim import make_optimizer, set_rate
from regard.training.regularise import drop_words


def model() -> Transformer:
    torch.manual_seed(2)
    return Transformer(PRESETS["tiny"], 23, 23, True)


@pytest.mark.parametrize("name", ["adamw", "muon", "adafactor"])
def test_every_parameter_is_in_one_group_with_its_rate_and_decay(name: str) -> None:
    translator = model()
    config = TrainConfig(optimizer=name, embedding_rate=0.5, weight_decay=0.01)  # type: ignore[arg-type]
    optimizer = make_optimizer(translator, config)
    set_rate(optimizer, 0.2)
    found = {p: group for group in optimizer.param_groups for p in group["params"]}
    assert sum(len(group["params"]) for group in optimizer.param_groups) == len(found)
    assert set(found) == set(translator.parameters())
    for name_, parameter in translator.named_parameters():
        group = found[parameter]
        assert group["lr"] == pytest.approx(0.1 if "embedding" in name_ else 0.2), name_
        assert group["weight_decay"] == (0.01 if parameter.dim() > 1 else 0.0), name_


def paper_update(weight: Tensor, gradients: list[Tensor], rate: float) -> Tensor:
    """Shazeer and Stern 2018, algorithms 4 and 5, with torch's ρ = min(rate, 1/√t)."""
    w, row, column = weight.double().clone(), torch.zeros(weight.shape[0]), torch.zeros(weight.shape[1])
    for t, gradient in enumerate(gradients, start=1):
        beta, square = 1 - t**-0.8, gradient.double().square() + 1e-30
        row = beta * row + (1 - beta) * square.mean(dim=1)
        column = beta * column + (1 - beta) * square.mean(dim=0)
        update = gradient / (torch.outer(row, column) / row.mean()).sqrt()
        update = update / max(1.0, update.square().mean().sqrt().item())
        w = w - max(1e-3, w.square().mean().sqrt().item()) * min(rate, t**-0.5) * update
    return w


def test_adafactor_is_the_papers_also_for_small_gradients() -> None:
    translator = model()
    optimizer = make_optimizer(translator, TrainConfig(optimizer="adafactor"))
    weight = translator.encoder[0].attention.output.weight  # type: ignore[union-attr]
    assert isinstance(weight, Tensor)
    before = weight.detach().clone()
    torch.manual_seed(4)
    gradients = [1e-6 * torch.randn_like(before) for _ in range(4)]
    for gradient in gradients:
        weight.grad = gradient.clone()
        set_rate(optimizer, 0.02)
        optimizer.step()
    moved, expected = weight.detach() - before, paper_update(before, gradients, 0.02).float() - before
    torch.testing.assert_close(moved, expected, rtol=1e-3, atol=1e-7)


def test_adafactor_keeps_little_and_only_what_a_checkpoint_can_hold() -> None:
    translator = model()
    optimizer = make_optimizer(translator, TrainConfig(optimizer="adafactor"))
    for parameter in translator.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    kept = [t for state in optimizer.state.values() for t in state.values()]
    assert all(isinstance(t, Tensor) and t.dtype == torch.float32 for t in kept)
    assert sum(t.numel() for t in kept) < 0.05 * translator.parameter_count()


class Table(nn.Module):
    """An embedding that is not an `nn.Embedding`."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.rows = nn.Parameter(torch.randn(size, width))

    def forward(self, ids: Tensor) -> Tensor:
        return self.rows[ids]


@pytest.mark.parametrize("name", ["adamw", "muon"])
def test_an_embedding_of_another_class_is_an_embedding(name: str) -> None:
    translator = model()
    translator.source_embedding = Table(23, PRESETS["tiny"].width)  # type: ignore[assignment]
    config = TrainConfig(optimizer=name, embedding_rate=0.5)  # type: ignore[arg-type]
    optimizer = make_optimizer(translator, config)
    set_rate(optimizer, 0.2)
    groups = {p: group for group in optimizer.param_groups for p in group["params"]}
    assert groups[translator.source_embedding.rows]["lr"] == pytest.approx(0.1)


def test_words_are_dropped_from_an_embedding_of_another_class() -> None:
    translator = model()
    translator.source_embedding = Table(23, PRESETS["tiny"].width)  # type: ignore[assignment]
    drop_words(translator, 0.5)
    vectors = translator.train().source_embedding(torch.full((20, 20), 3))
    assert 0.3 < (vectors == 0).all(dim=-1).float().mean().item() < 0.7
