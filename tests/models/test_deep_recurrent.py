"""GNMT and Deep-Att, what both are held to beyond the contract: beams that share a source, and half precision."""

from __future__ import annotations

import pytest
import torch

import variants
from regard.batch import Batch
from regard.models.deep_att import DeepAtt
from regard.models.gnmt import GNMT
from variants import close, scattered, stepwise

MODELS = {
    f"{family}, {name}": make for family in ("GNMTS", "DEEP_ATT") for name, make in getattr(variants, family).items()
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> GNMT | DeepAtt:
    torch.manual_seed(7)
    model = MODELS[request.param]()
    return scattered(model)


@torch.inference_mode()
def test_beams_of_one_sentence_change_places_without_moving_the_source(model: GNMT | DeepAtt, batch: Batch) -> None:
    beams = model.start(model.encode(batch.src[:2], batch.src_mask[:2]), beams=2)
    beams = model.step(torch.tensor([5, 6, 7, 8]), beams).state
    order = torch.tensor([1, 0, 2, 3])
    swapped = beams.select(order)
    assert swapped.source is beams.source
    token = torch.tensor([8, 9, 10, 11])
    close(model.step(token, swapped).log_probs[order], model.step(token[order], beams).log_probs)


@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed:UserWarning")  # a CPU without bfloat16 is slower, no more
def test_it_runs_in_bfloat16(model: GNMT | DeepAtt, batch: Batch) -> None:
    exact = model(batch)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = model(batch)
        stepped, _ = stepwise(model, batch)
    rough.float().sum().backward()
    assert stepped.dtype == torch.float32
    torch.testing.assert_close(rough.float(), exact, rtol=0.1, atol=0.15)
    torch.testing.assert_close(stepped, exact.log_softmax(-1), rtol=0.1, atol=0.15)
