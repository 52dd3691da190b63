import pytest
import torch
from torch import nn

from regard.recipe.train import TrainConfig
from regard.training.muon import ADAM_RMS, Muon, orthogonalised
from regard.training.optim import make_optimizer, set_rate

REST = [{"params": [nn.Parameter(torch.zeros(1))], "weight_decay": 0.0}]  # gets no gradient


@pytest.mark.parametrize("shape", [(48, 48), (32, 96), (96, 32), (5, 24, 40)])
def test_it_finds_the_orthogonal_factor(shape: tuple[int, ...]) -> None:
    """Against torch's singular value decomposition: the same vectors, values near one unless they began tiny."""
    matrices = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    u, values, vt = torch.linalg.svd(matrices, full_matrices=False)
    rotated = u.mT @ orthogonalised(matrices) @ vt.mT
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
