"""The Transformer's operations, by its formula and as torch counts them, and its experts on the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from regard.batch import BOS, PAD, Batch, flat_batch
from regard.errors import RecipeError
from regard.layers.feedforward import FeedForward
from regard.layers.moe import MixtureOfExperts
from regard.models.transformer import PRESETS, Transformer
from regard.models.transformer_layers import TransformerConfig
from variants import scattered

V = 23
SMALL = TransformerConfig(width=16, heads=2, inner=24, encoder_layers=2, decoder_layers=3)
KINDS: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post"},
    "swiglu": {"activation": "swiglu"},
    "gelu": {"activation": "gelu", "positions": "rotary"},
    "untied": {"tie": "none", "positions": "learned"},
    "experts": {"experts": 4},
    "three-experts": {"experts": 5, "expert_choice": 3, "activation": "swiglu", "norm": "post"},
}
EXPERTS = ("experts", "three-experts")


def make(kind: str) -> Transformer:
    torch.manual_seed(7)
    model = Transformer(replace(SMALL, **KINDS[kind]), V, V + 4, False)
    return scattered(model)


def close(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("source", "target"), [(1, 1), (6, 4), (3, 9)])
def test_the_formula_is_what_torch_counts(kind: str, source: int, target: int) -> None:
    model = make(kind)
    batch = flat_batch([[5] * (source - 1)], [[6] * (target - 1)]).pad()
    # The counter does not see into the fused attention of a CPU; the plain kernel is made of products that it sees.
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(batch)
    assert model.flops(source, target) == counter.get_total_flops()


def test_training_costs_three_times_as_much() -> None:
    model, one = make("pre"), flat_batch([[5, 6, 7]], [[8, 9]]).pad()
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(one).sum().backward()
    assert counter.get_total_flops() == pytest.approx(3 * model.flops(4, 3), rel=0.01)


def test_the_papers_own_count_is_near() -> None:
    """Table 2 says 3.3·10¹⁸ for base: hours × what a GPU sustains, not a count, so only the magnitude can agree."""
    with torch.device("meta"):
        base = Transformer(PRESETS["base"], 37000, 37000, True)
    pairs = 100_000 * 25_000 / 25  # updates × target tokens of one ÷ target tokens of a sentence
    assert 0.1 < 3 * base.flops(25, 25) * pairs / 3.3e18 < 1


# ── with experts ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_second_layer_from_the_last_has_experts() -> None:
    model = make("experts")
    kinds = [[type(layer.feed_forward) for layer in stack] for stack in (model.encoder, model.decoder)]
    assert kinds == [[FeedForward, MixtureOfExperts], [MixtureOfExperts, FeedForward, MixtureOfExperts]]
    assert not any("expert" in name or "router" in name for name, _ in make("pre").named_parameters())


def test_without_experts_nothing_has_changed() -> None:
    """The weights' names and their order: old bundles fit, and old seeds give the same first values."""
    assert TransformerConfig().experts == 0
    names = [name for name, _ in make("pre").named_parameters() if ".feed_forward." in name and "coder.0" in name]
    tails = ("expand.weight", "expand.bias", "contract.weight", "contract.bias")
    assert names == [f"{side}.0.feed_forward.{tail}" for side in ("encoder", "decoder") for tail in tails]


@pytest.mark.parametrize("kind", EXPERTS)
@torch.inference_mode()
def test_steps_equal_teacher_forcing(kind: str, batch: Batch) -> None:
    model = make(kind)
    forced = model(batch).log_softmax(-1)
    state, rows = model.start(model.encode(batch.src, batch.src_mask)), []
    for token in batch.tgt_in.unbind(1):
        step = model.step(token, state)
        state = step.state  # type: ignore[assignment]
        rows.append(step.log_probs)
    close(torch.stack(rows, dim=1)[batch.tgt_mask], forced[batch.tgt_mask])


@pytest.mark.parametrize("kind", EXPERTS)
@torch.inference_mode()
def test_neighbours_padding_and_the_future_change_nothing(kind: str, batch: Batch) -> None:
    model = make(kind)
    together = model(batch)
    for row in range(len(batch)):
        source = batch.src[row][batch.src_mask[row]][:-1].tolist()
        target = batch.tgt_out[row][batch.tgt_mask[row]][:-1].tolist()
        close(model(flat_batch([source], [target]).pad())[0], together[row][batch.tgt_mask[row]])

    def wider(rows: torch.Tensor) -> torch.Tensor:
        return torch.cat([rows, torch.full((len(rows), 4), PAD).to(rows.dtype)], dim=1)

    padded = Batch(*map(wider, (batch.src, batch.src_mask, batch.tgt_in, batch.tgt_out, batch.tgt_mask)))
    close(model(padded)[:, : together.shape[1]][batch.tgt_mask], together[batch.tgt_mask])
    changed = batch.tgt_in.clone()
    changed[:, 3:] = (changed[:, 3:] + 5) % (V - 3) + 3
    close(model(replace(batch, tgt_in=changed))[:, :3], together[:, :3])


@pytest.mark.parametrize("kind", EXPERTS)
@torch.inference_mode()
def test_select_commutes_with_step(kind: str, batch: Batch) -> None:
    model, rows = make(kind), torch.tensor([1, 1, 0, 2])
    first = model.step(torch.full((3,), BOS), model.start(model.encode(batch.src, batch.src_mask)))
    token = batch.tgt_in[:, 1]
    after = model.step(token[rows], first.state.select(rows)).log_probs
    close(after, model.step(token, first.state).log_probs[rows])


@pytest.mark.parametrize("kind", EXPERTS)
def test_every_parameter_learns(kind: str, batch: Batch) -> None:
    """All experts are chosen here; one that nobody chose has nothing to learn from."""
    model = Transformer(replace(SMALL, **KINDS[kind] | {"expert_choice": KINDS[kind]["experts"]}), V, V, True)
    model(batch).log_softmax(-1).gather(-1, batch.tgt_out[..., None])[batch.tgt_mask].sum().backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert [n for n in silent if not n.endswith("key.bias")] == []


def test_padding_does_not_weigh_in_the_balance(batch: Batch) -> None:
    """Gradients of a batch are those of the same batch with more padding; the balance is strong here, to be seen."""
    model = Transformer(replace(SMALL, experts=4, balance=10.0, dropout=0.0), V, V, True).train()

    def wider(rows: torch.Tensor) -> torch.Tensor:
        return torch.cat([rows, torch.full((len(rows), 4), PAD).to(rows.dtype)], dim=1)

    padded = Batch(*map(wider, (batch.src, batch.src_mask, batch.tgt_in, batch.tgt_out, batch.tgt_mask)))
    found = []
    for each in (batch, padded):
        right = model(each).log_softmax(-1).gather(-1, each.tgt_out[..., None])[each.tgt_mask]
        found.append(torch.autograd.grad(-right.mean(), list(model.parameters())))
    for a, b in zip(*found, strict=True):
        close(a, b)


@pytest.mark.parametrize(
    "change", [{"experts": 1}, {"experts": -2}, {"experts": 4, "expert_choice": 5}, {"experts": 4, "balance": -0.1}]
)
def test_impossible_experts_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(RecipeError, match=r"model\.(experts|expert_choice|balance) must"):
        replace(SMALL, **change)
