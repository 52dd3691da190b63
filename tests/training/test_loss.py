"""The loss and its fused twin; and that splitting a batch changes nothing."""

from __future__ import annotations

import pytest
import torch

from regard.batch import Batch, pack
from regard.models.transformer import Transformer, TransformerConfig
from regard.training.loss import smoothed_nll, smoothed_nll_fused


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_equation_equals_its_fused_twin(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, 11, generator=generator)
    targets = torch.randint(0, 11, (3, 5), generator=generator)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0]]).bool()
    a, b = smoothed_nll(logits, targets, mask, smoothing), smoothed_nll_fused(logits, targets, mask, smoothing)
    torch.testing.assert_close(a, b)
    if smoothing == 0:
        expected = sum(-logits[i, j].log_softmax(-1)[targets[i, j]] for i, j in mask.nonzero().tolist())
        torch.testing.assert_close(a, expected)


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
        pack([batch.src[i][batch.src_mask[i]][:-1].tolist()], [batch.tgt_out[i][batch.tgt_mask[i]][:-1].tolist()]).pad()
        for i in range(len(batch))
    ]
    for a, b in zip(gradient([batch]), gradient(rows), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-6)
