"""LSTMs with mixtures of experts, against an outside LSTM, and counted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import Batch, flat_batch
from regard.errors import RecipeError
from regard.models.moe import PRESETS, Moe, MoeConfig
from regard.training.loss import smoothed_nll_fused
from variants import MOE_KINDS as KINDS
from variants import PROJECTS, V, close
from variants import SMALL_MOE as SMALL

pytestmark = PROJECTS


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_learns(kind: str, batch: Batch) -> None:
    """All experts are chosen here; one that nobody chose has nothing to learn from."""
    config = KINDS[kind]
    torch.manual_seed(7)
    model = Moe(replace(config, expert_choice=config.experts), V, V, True).train()
    (smoothed_nll_fused(model(batch), batch.tgt_out, batch.tgt_mask, 0.1) / batch.target_tokens).backward()
    assert [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0] == []


def test_gradients_in_double_precision() -> None:
    """The whole model as a function of some of its matrices, a router's among them."""
    torch.manual_seed(3)
    model = Moe(MoeConfig(width=4, cells=4, inner=3, experts=3), 7, 7, True).double().eval()
    batch = flat_batch([[3, 4], [5]], [[6], [3, 5]]).pad()
    names = ("join.weight", "encoder_experts.router.weight", "decoder_experts.experts.1.contract.weight")
    values = tuple(model.get_parameter(name).detach().clone().requires_grad_() for name in names)

    def run(*weights: torch.Tensor) -> torch.Tensor:
        named = dict(zip(names, weights, strict=True))
        logits: torch.Tensor = torch.func.functional_call(model, named, (batch,))
        return logits[batch.tgt_mask].log_softmax(-1)

    assert torch.autograd.gradcheck(run, values)


@torch.inference_mode()
def test_the_first_encoder_layer_reads_from_both_ends(batch: Batch) -> None:
    """Against torch's cell, token by token, each sentence on its own."""
    torch.manual_seed(2)
    model = Moe(SMALL, V, V, True).eval()
    lstm, x = model.both_ways, model.source_embedding(batch.src)
    found = []
    handle = lstm.register_forward_hook(lambda _, __, out: found.append(out[0]))
    model.encode(batch.src, batch.src_mask)
    handle.remove()
    packed, lengths = torch.nn.utils.rnn.pad_packed_sequence(found[0], batch_first=True)
    for row, length in enumerate(lengths.tolist()):
        for suffix, places in (("", range(length)), ("_reverse", reversed(range(length)))):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            weights = [getattr(lstm, f"{name}_l0{suffix}") for name in names]
            h = c = torch.zeros(1, 8)
            for place in places:
                h, c = torch.lstm_cell(x[row, place][None], (h, c), *weights)
                half = packed[row, place].chunk(2)[1 if suffix else 0]
                close(half[None], h)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), [(1, 1), (6, 4), (3, 9)])
def test_the_formula_is_what_torch_counts(kind: str, source: int, target: int) -> None:
    """In double precision, where an LSTM on a CPU is made of products that the counter sees. It does not see a product
    with a vector, the v of the additive score."""
    model = Moe(KINDS[kind], V, V + 4, False).double().eval()
    batch = flat_batch([[5] * (source - 1)], [[6] * (target - 1)]).pad()
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(batch)
    unseen = 2 * source * target * model.config.width if model.config.score == "additive" else 0
    assert model.flops(source, target) == counter.get_total_flops() + unseen


def test_under_autocast_it_is_nearly_the_same(batch: Batch) -> None:
    torch.manual_seed(6)
    model = Moe(replace(SMALL, dropout=0.0), V, V, True).train()
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(batch)
    smoothed_nll_fused(logits, batch.tgt_out, batch.tgt_mask, 0.1).backward()
    torch.testing.assert_close(logits.float(), model(batch), rtol=0.05, atol=0.05)


def test_presets_have_about_the_papers_size() -> None:
    with torch.device("meta"):
        tiny, paper = Moe(PRESETS["tiny"], 3200, 3200, True), Moe(PRESETS["moe"], 32000, 32000, True)
    assert 0.8e6 < tiny.parameter_count() < 1.5e6
    mixture = paper.encoder_experts
    assert sum(p.numel() for p in mixture.experts.parameters()) == pytest.approx(32 * 2 * 2**20, rel=0.01)


@pytest.mark.long
def test_the_largest_has_the_papers_size() -> None:
    """Table 2 of the paper: 8.7 billion parameters, 85 million multiplications a step; here one layer is narrower."""
    with torch.device("meta"):
        largest = Moe(PRESETS["moe-2048"], 32_000, 32_000, True)
    assert largest.parameter_count() == pytest.approx(8.7e9, rel=0.01)
    assert largest.flops(1, 1) / 2 == pytest.approx(85e6, rel=0.06)


@pytest.mark.parametrize(
    "change",
    [
        {"width": 15},
        {"cells": 8},
        {"cells": 17},
        {"encoder_layers": 1},
        {"decoder_layers": 0},
        {"experts": 1},
        {"expert_choice": 1},
        {"balance": -1.0},
        {"dropout": 1.0},
    ],
)
def test_impossible_values_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=r"model\.\w+ must"):
        replace(SMALL, **change)


def test_sharing_follows_the_vocabularies() -> None:
    joint, apart = Moe(SMALL, V, V, True), Moe(SMALL, V, V + 1, False)
    assert joint.source_embedding.weight is joint.output.weight
    assert apart.source_embedding.weight is not apart.output.weight
    assert apart.target_embedding.weight is apart.output.weight
    with pytest.raises(RecipeError, match="joint"):
        Moe(replace(SMALL, tie="all"), V, V, False)
