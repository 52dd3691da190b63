"""Sentences that share rows are told apart: the same states, loss and gradients as with a row each."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regard.batch import FlatBatch, Places, flat_batch
from regard.data.rows import lay_out_rows
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.training.loss import projected_nll, smoothed_nll

SMALL = TransformerConfig(width=16, heads=2, inner=32, encoder_layers=2, decoder_layers=2, dropout=0.0)


def some_pairs() -> FlatBatch:
    generator = torch.Generator().manual_seed(4)
    sizes = torch.randint(1, 15, (20, 2), generator=generator).tolist()
    ids = [[torch.randint(3, 40, (n,), generator=generator).tolist() for n in pair] for pair in sizes]
    return flat_batch([s for s, _ in ids], [t for _, t in ids])


def in_rows(batch: FlatBatch, width: int = 32) -> FlatBatch:
    layout = lay_out_rows(batch.src_offsets.diff().tolist(), batch.tgt_offsets.diff().tolist(), width)
    places = Places(
        layout.rows + 1, width, *(torch.from_numpy(a) for a in (layout.row, layout.src_start, layout.tgt_start))
    )
    assert layout.rows < len(batch) / 1.5
    return replace(batch, places=places)  # and a row that nobody uses


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize(("norm", "bias"), [("pre", False), ("post", True)])
def test_shared_rows_change_nothing(positions: str, norm: str, bias: bool) -> None:
    torch.manual_seed(1)
    config = replace(SMALL, positions=positions, norm=norm, output_bias=bias)  # type: ignore[arg-type]
    model = Transformer(config, 40, 40, True).double()
    if bias:
        torch.nn.init.normal_(model.output.bias)
    packed = some_pairs()
    plain, shared = packed.pad(), in_rows(packed).pad()
    assert plain.target_tokens == shared.target_tokens == packed.target_tokens

    alone = model.states(plain)[plain.tgt_mask]  # (tokens, D), sentence after sentence
    assert shared.shared is not None
    rows = model.states(shared)
    together = torch.cat([rows[shared.shared.tgt_sentence == i] for i in range(1, len(packed) + 1)])
    torch.testing.assert_close(together, alone)

    def gradients(loss: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(loss, tuple(model.parameters()))

    expected = smoothed_nll(model(plain), plain.tgt_out, plain.tgt_mask, 0.1)
    found = projected_nll(model.states(shared), model.output_matrix, shared.tgt_out, shared.tgt_mask, 0.1)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-4)
    for ours, theirs in zip(gradients(found), gradients(expected), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
