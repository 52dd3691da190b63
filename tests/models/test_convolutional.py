"""ByteNet and ConvS2S, what both are held to: the operations that torch counts, and half precision."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import variants
from regard.batch import Batch, flat_batch
from regard.models.base import Model
from variants import scattered, stepwise

MODELS = {
    f"{family}, {name}": make for family in ("BYTENET", "CONVS2S") for name, make in getattr(variants, family).items()
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Model:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model)


@pytest.mark.parametrize(("source", "target"), [(4, 6), (9, 3), (1, 1)])
def test_the_formula_counts_what_torch_counts(model: Model, source: int, target: int) -> None:
    batch = flat_batch([[5] * (source - 1)], [[6] * (target - 1)]).pad()
    with FlopCounterMode(display=False) as counter:
        model(batch)
    assert model.flops(source, target) == counter.get_total_flops()


@torch.inference_mode()
def test_half_precision_is_near(model: Model, batch: Batch) -> None:
    for parameter in model.parameters():
        parameter.mul_(0.3)
    with torch.autocast("cpu", torch.bfloat16):
        half, (stepped, _) = model(batch), stepwise(model, batch)
    assert half.dtype == torch.bfloat16
    assert stepped.dtype == torch.float32
    torch.testing.assert_close(half[batch.tgt_mask].float(), model(batch)[batch.tgt_mask], rtol=0.1, atol=0.1)
