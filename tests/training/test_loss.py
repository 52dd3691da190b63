"""The loss and its fused twin; and that splitting a batch changes nothing."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.batch import Batch, flat_batch
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.training import loss as losses_of
from regard.training.loss import projected_nll, smoothed_nll, smoothed_nll_fused


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_equation_its_fused_twin_and_torch_agree(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 11, generator=generator) * 3
    targets = torch.randint(0, 11, (3, 5), generator=generator)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]).bool()

    def torchs(logits: torch.Tensor, targets: torch.Tensor, mask: torch.Tensor, smoothing: float) -> torch.Tensor:
        return F.cross_entropy(logits[mask], targets[mask], label_smoothing=smoothing, reduction="sum")

    losses, gradients = [], []
    for loss in (torchs, smoothed_nll, smoothed_nll_fused):
        leaf = logits.clone().requires_grad_()
        value = loss(leaf, targets, mask, smoothing)
        (value / 7).backward()
        losses.append(value.detach())
        gradients.append(leaf.grad)
    for value, gradient in zip(losses[1:], gradients[1:], strict=True):
        torch.testing.assert_close(value, losses[0])
        torch.testing.assert_close(gradient, gradients[0])


def test_a_constant_added_to_all_logits_changes_nothing() -> None:
    logits = torch.randn(1, 3, 5).requires_grad_()
    targets, mask = torch.tensor([[1, 4, 0]]), torch.tensor([[True, True, False]])
    smoothed_nll_fused(logits, targets, mask, 0.1).backward()
    assert logits.grad is not None
    assert (logits.grad[0, 2] == 0).all()
    torch.testing.assert_close(logits.grad.sum(-1), torch.zeros(1, 3), atol=1e-6, rtol=0)  # softmax sees no constant


def test_gradients_of_parts_add_up_to_the_whole(batch: Batch) -> None:
    torch.manual_seed(1)
    config = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=1, decoder_layers=1, dropout=0.0)
    model = Transformer(config, 23, 23, True)

    def gradient(batches: list[Batch]) -> list[torch.Tensor]:
        model.zero_grad()
        tokens = sum(b.target_tokens for b in batches)
        for b in batches:
            (smoothed_nll_fused(model(b), b.tgt_out, b.tgt_mask, 0.1) / tokens).backward()
        return [p.grad.clone() for p in model.parameters() if p.grad is not None]

    rows = [
        flat_batch(
            [batch.src[i][batch.src_mask[i]][:-1].tolist()], [batch.tgt_out[i][batch.tgt_mask[i]][:-1].tolist()]
        ).pad()
        for i in range(len(batch))
    ]
    for a, b in zip(gradient([batch]), gradient(rows), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("chunk", [7, 10**9])
def test_the_projection_and_its_loss_together_equal_the_equation(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses_of, "CHUNK", chunk)
    torch.manual_seed(3)
    states, weight = torch.randn(2, 5, 8, requires_grad=True), torch.randn(11, 8, requires_grad=True)
    targets, mask = torch.randint(0, 11, (2, 5)), torch.rand(2, 5) < 0.7
    plain = smoothed_nll(states @ weight.T, targets, mask, 0.1) / 3
    expected = torch.autograd.grad(plain, (states, weight))
    lean = projected_nll(states, weight, targets, mask, 0.1) / 3
    torch.testing.assert_close(lean, plain)
    torch.testing.assert_close(torch.autograd.grad(lean, (states, weight)), expected)
