"""On a GPU: a recorded pass gives the gradients of a plain one, micro-batches add up, dropout differs each time."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.batch import Batch, Places, flat_batch
from regard.data.rows import lay_out_rows
from regard.layers.kernels import HAS_TRITON
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.training.loss import loss_and_gradient, projected_nll
from regard.training.loss import loss_and_gradient_on_gpu as kernel
from regard.training.update import CudaGraphPass

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA"),
    pytest.mark.filterwarnings("default"),  # torch's compiler warns about itself, and as an error that ends it
]
SMALL = TransformerConfig(width=64, heads=4, inner=128, encoder_layers=2, decoder_layers=2, dropout=0.0)


def batch(seed: int) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, 15, (20, 2), generator=generator).tolist()
    ids = [[torch.randint(3, 40, (n,), generator=generator).tolist() for n in pair] for pair in sizes]
    flat = flat_batch([s for s, _ in ids], [t for _, t in ids])
    layout = lay_out_rows(flat.src_offsets.diff().tolist(), flat.tgt_offsets.diff().tolist(), 64)
    places = Places(8, 64, *(torch.from_numpy(a) for a in (layout.row, layout.src_start, layout.tgt_start)))
    return replace(flat, places=places).pad().to("cuda")


def make(dropout: float) -> tuple[Transformer, list[Tensor]]:
    torch.manual_seed(1)
    model = Transformer(replace(SMALL, dropout=dropout), 40, 40, True).cuda()
    return model, list(model.parameters())


def recorded(model: Transformer, first: Batch) -> CudaGraphPass:
    def work(some: Batch, scale: Tensor) -> Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            loss = projected_nll(model.states(some), model.output.weight, some.tgt_out, some.tgt_mask, 0.1) * scale
        loss.backward()
        return loss.detach()

    return CudaGraphPass(work, first, list(model.parameters()))


def test_recorded_gradients_are_the_plain_ones_and_add_up() -> None:
    model, parameters = make(0.0)
    one, other = batch(1), batch(2)
    total = torch.zeros((), device="cuda")
    for some in (one, other):
        with torch.autocast("cuda", torch.bfloat16):
            loss = projected_nll(model.states(some), model.output.weight, some.tgt_out, some.tgt_mask, 0.1) * 0.5
        loss.backward()
        total += loss.detach()
    del loss  # what it holds was made outside the recording and would be waited for within it
    expected = [p.grad.clone() for p in parameters if p.grad is not None]
    model.zero_grad(set_to_none=True)
    replay = recorded(model, one)
    found = replay(one, 0.5) + replay(other, 0.5)
    torch.testing.assert_close(found, total)
    for parameter, gradient in zip(parameters, expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=0.02, atol=1e-3)


def test_recording_keeps_the_gradients_that_are_there() -> None:
    model, parameters = make(0.0)
    one = batch(1)
    recorded(model, one)(one, 1.0)
    before = [p.grad.clone() for p in parameters if p.grad is not None]
    recorded(model, one)  # as for wider rows, in the middle of an update
    for parameter, gradient in zip(parameters, before, strict=True):
        torch.testing.assert_close(parameter.grad, gradient, rtol=0, atol=0)


def test_every_replay_has_dropout_of_its_own_and_can_be_repeated() -> None:
    model, _ = make(0.3)
    one = batch(1)
    replay = recorded(model, one)
    state = torch.cuda.get_rng_state()
    first, second = float(replay(one, 1.0)), float(replay(one, 1.0))
    torch.cuda.set_rng_state(state)
    assert first != second
    assert (float(replay(one, 1.0)), float(replay(one, 1.0))) == (first, second)


@pytest.mark.skipif(not HAS_TRITON, reason="needs Triton")
def test_the_loss_kernel_equals_the_equation() -> None:
    torch.manual_seed(2)
    logits = torch.randn(50, 9001, device="cuda") * 3
    targets, mask = torch.randint(0, 9001, (50,), device="cuda"), torch.rand(50, device="cuda") < 0.8
    total, gradient = loss_and_gradient(logits, targets, mask, 0.1)
    found, written = kernel(logits.clone(), targets, mask, 0.1)
    torch.testing.assert_close(found, total)
    torch.testing.assert_close(written, gradient)
