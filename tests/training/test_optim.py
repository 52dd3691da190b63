"""Groups and their rates; Adafactor against the paper's algorithm.

---

"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.models.transformer import PRESETS, Transformer
from regard.recipe.train import TrainConfig
from regard.training.optim import ADAM_RMS, Muon, make_optimizer, orthogonalize, set_rate
from regard.training.regularize import add_word_dropout


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
    add_word_dropout(translator, 0.5)
    vectors = translator.train().source_embedding(torch.full((20, 20), 3))
    assert 0.3 < (vectors == 0).all(dim=-1).float().mean().item() < 0.7


REST = [{"params": [nn.Parameter(torch.zeros(1))], "weight_decay": 0.0}]  # gets no gradient


@pytest.mark.parametrize("shape", [(48, 48), (32, 96), (96, 32), (5, 24, 40)])
def test_it_finds_the_orthogonal_factor(shape: tuple[int, ...]) -> None:
    """Against torch's singular value decomposition: the same vectors, values near one unless they began tiny."""
    matrices = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    u, values, vt = torch.linalg.svd(matrices, full_matrices=False)
    rotated = u.mT @ orthogonalize(matrices) @ vt.mT
    after = rotated.diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(rotated, torch.diag_embed(after), atol=1e-6, rtol=0)  # the vectors are kept
    normal = values / matrices.norm(dim=(-2, -1)).unsqueeze(-1)
    assert after[normal >= 0.01].min() > 0.72
    assert after.max() < 1.28
    assert (after > normal).all()


def test_an_update_is_as_large_as_adams() -> None:
    weight = nn.Parameter(torch.zeros(64, 128))
    optimizer = Muon([weight], REST, lr=0.01, weight_decay=0.0)
    weight.grad = torch.randn(64, 128, generator=torch.Generator().manual_seed(1))
    optimizer.step()
    rms = weight.square().mean().sqrt().item() / 0.01
    assert 0.75 * ADAM_RMS < rms < 1.25 * ADAM_RMS


def test_matrices_of_one_shape_do_not_mix() -> None:
    draws = torch.Generator().manual_seed(1)
    start = [torch.randn(8, 8, generator=draws), torch.randn(8, 8, generator=draws), torch.randn(4, 8, generator=draws)]
    gradients = [torch.randn(s.shape, generator=draws) for s in start]

    def updated(which: list[int]) -> dict[int, torch.Tensor]:
        weights = {i: nn.Parameter(start[i].clone()) for i in which}
        optimizer = Muon(list(weights.values()), REST, lr=0.1, weight_decay=0.1)
        for _ in range(3):
            for i, weight in weights.items():
                weight.grad = gradients[i].clone()
            optimizer.step()
        return {i: w.detach() for i, w in weights.items()}

    together = updated([0, 1, 2])
    for i in together:
        torch.testing.assert_close(together[i], updated([i])[i])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.between = nn.Linear(8, 8)

    @property
    def source_embedding(self) -> nn.Embedding:
        return self.words

    target_embedding = source_embedding


def test_embeddings_and_vectors_stay_with_adamw() -> None:
    """Their updates equal those of torch's AdamW exactly; only the matrix between differs."""

    def trained(name: str) -> dict[str, torch.Tensor]:
        torch.manual_seed(2)
        model = Model()
        config = TrainConfig(optimizer=name, weight_decay=0.01, learning_rate=0.05)  # type: ignore[arg-type]
        optimizer = make_optimizer(model, config)  # type: ignore[arg-type]
        for step in range(3):
            set_rate(optimizer, 0.05 / (step + 1))
            model.between(model.words(torch.tensor([1, 2, 3]))).square().sum().backward()
            if step == 0:
                first = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
            for name_, p in model.named_parameters():
                p.grad = first[name_].clone()  # the same gradients, whatever the matrix has become
            optimizer.step()
        return {n: p.detach() for n, p in model.named_parameters()}

    adamw, muon = trained("adamw"), trained("muon")
    assert torch.equal(adamw["words.weight"], muon["words.weight"])
    assert torch.equal(adamw["between.bias"], muon["between.bias"])
    assert not torch.allclose(adamw["between.weight"], muon["between.weight"])
