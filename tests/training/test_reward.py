"""Rewards: gradients against finite differences and against the exact expectation, and a model that gets better."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.batch import EOS, Batch, flat_batch
from regard.metrics.bleu import sentence_bleu
from regard.metrics.gleu import gleu, gleu_scores
from regard.models.transformer import Transformer
from regard.models.transformer_layers import TransformerConfig
from regard.recipe.train import RewardConfig
from regard.search.search import greedy, sample
from regard.training.loss import smoothed_nll, smoothed_nll_fused
from regard.training.reward import (
    bleu_scores,
    minimum_risk_loss,
    reward_loss,
    self_critical_loss,
    sequence_log_probs,
)

V = 9
CONFIG = TransformerConfig(width=8, heads=2, inner=16, encoder_layers=1, decoder_layers=1, dropout=0, activation="gelu")
RISK = RewardConfig("minimum-risk", samples=6, sharpness=0.7, likelihood_weight=0.0)
CRITIC = RewardConfig("self-critical", samples=6, likelihood_weight=0.0, baseline="greedy")


def tiny(std: float = 0.5, seed: int = 2) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(CONFIG, V, V, True)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return model


def fixed(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def pairs() -> Batch:
    return flat_batch([[3, 4, 5], [6, 3], [8]], [[5, 4, 3], [3, 6], [7, 8, 7, 8]]).pad()


# ── the equations ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_minimum_risk_by_hand() -> None:
    probs, rewards = torch.tensor([[0.4, 0.1]]), torch.tensor([[0.2, 0.9]])
    assert minimum_risk_loss(probs.log(), rewards, 1.0).tolist() == pytest.approx([-(0.8 * 0.2 + 0.2 * 0.9)])
    assert minimum_risk_loss(probs.log(), rewards, 0.5).tolist() == pytest.approx([-(2 * 0.2 + 1 * 0.9) / 3])
    empty = torch.tensor([[0.4, 0.0, 0.1]]).log().requires_grad_()
    loss = minimum_risk_loss(empty, torch.tensor([[0.2, 0.5, 0.9]]), 0.5)
    assert loss.tolist() == pytest.approx([-(2 * 0.2 + 1 * 0.9) / 3])
    loss.sum().backward()
    assert empty.grad is not None
    assert empty.grad.isfinite().all()


def test_minimum_risk_holds_to_finite_differences() -> None:
    generator = fixed()
    log_probs = torch.randn(3, 5, dtype=torch.double, generator=generator).requires_grad_()
    rewards = torch.rand(3, 5, dtype=torch.double, generator=generator)
    for alpha in (0.005, 1.0, 4.0):
        assert torch.autograd.gradcheck(lambda x, a=alpha: minimum_risk_loss(x, rewards, a), (log_probs,))


@pytest.mark.parametrize("config", [RISK, replace(RISK, with_reference=False), replace(RISK, reward="bleu")])
def test_the_gradient_of_minimum_risk_in_a_whole_model_holds_to_finite_differences(
    pairs: Batch, config: RewardConfig
) -> None:
    """Along random directions of all parameters at once; the same generator draws the same samples on both sides."""
    model = tiny().double()
    reward_loss(model, pairs, config, generator=fixed()).loss.backward()
    parameters = list(model.parameters())
    generator, step = fixed(9), 1e-5
    for _ in range(5):
        way = [torch.randn(p.shape, dtype=p.dtype, generator=generator) for p in parameters]
        expected = sum(float((p.grad * w).sum()) for p, w in zip(parameters, way, strict=True) if p.grad is not None)
        sides = []
        for sign in (1, -2):  # there, and to the other side
            with torch.no_grad():
                for p, w in zip(parameters, way, strict=True):
                    p.add_(sign * step * w)
                sides.append(float(reward_loss(model, pairs, config, generator=fixed()).loss))
        with torch.no_grad():
            for p, w in zip(parameters, way, strict=True):
                p.add_(step * w)
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-9)
        assert abs(expected) > 1e-4


def two_steps(first: Tensor, second: Tensor) -> tuple[list[tuple[int, ...]], Tensor]:
    """All outputs of a model of two words at most, and log p of each: first (V,), second (V, V) logits. A third step
    would say EOS for certain."""
    words = [w for w in range(V) if w != EOS]
    a, b = first.log_softmax(-1), second.log_softmax(-1)
    outputs = [(), *((w,) for w in words), *((w, x) for w in words for x in words)]
    log_probs = [a[EOS], *(a[w] + b[w, EOS] for w in words), *(a[w] + b[w, x] for w in words for x in words)]
    return outputs, torch.stack(log_probs)


@pytest.mark.parametrize("baseline", [0.0, 0.3, -5.0])
def test_the_expected_gradient_of_self_critical_is_that_of_the_expected_reward(baseline: float) -> None:
    generator = fixed()
    logits = [torch.randn(s, dtype=torch.double, generator=generator).requires_grad_() for s in ((V,), (V, V))]
    outputs, log_probs = two_steps(*logits)
    assert float(log_probs.exp().sum().detach()) == pytest.approx(1)
    rewards = torch.tensor([gleu(y, (4, 5)) for y in outputs], dtype=torch.double)
    exact = torch.autograd.grad(-(log_probs.exp() * rewards).sum(), logits, retain_graph=True)

    base = torch.full((len(outputs),), baseline, dtype=torch.double)
    losses = self_critical_loss(log_probs[:, None], rewards[:, None], base)  # (outputs,): each as if it was drawn
    expected = torch.autograd.grad((log_probs.exp().detach() * losses).sum(), logits)
    for a, b in zip(exact, expected, strict=True):
        torch.testing.assert_close(a, b)
    assert exact[0].abs().max() > 1e-3


def test_the_mean_of_all_samples_as_baseline_shrinks_the_gradient_and_no_more() -> None:
    """Over all pairs of draws from three outputs: (n − 1)/n = 1/2 of the exact gradient."""
    logits = torch.tensor([0.3, -0.2, 0.9], dtype=torch.double).requires_grad_()
    rewards = torch.tensor([0.1, 0.7, 0.4], dtype=torch.double)
    log_probs = logits.log_softmax(-1)
    (exact,) = torch.autograd.grad(-(log_probs.exp() * rewards).sum(), logits, retain_graph=True)
    drawn = torch.tensor([[i, j] for i in range(3) for j in range(3)])  # (9, 2)
    losses = self_critical_loss(log_probs[drawn], rewards[drawn], rewards[drawn].mean(dim=1))
    chance = log_probs[drawn].sum(dim=1).exp().detach()
    (expected,) = torch.autograd.grad((chance * losses).sum(), logits)
    torch.testing.assert_close(expected, exact / 2)


# ── rewards on ids ──────────────────────────────────────────────────────────────────────────────────────────────────

lines = st.lists(st.integers(3, 7), max_size=9)


@given(st.lists(st.tuples(lines, lines.filter(bool)), min_size=1, max_size=5))
def test_bleu_of_ids_is_bleu_of_the_sentences_they_spell(pairs: list[tuple[list[int], list[int]]]) -> None:
    def text(ids: list[int]) -> str:
        return " ".join(map(str, ids))

    expected = [sentence_bleu(text(h), [text(r)], tokenize="none").score / 100 for h, r in pairs]
    np.testing.assert_allclose(bleu_scores([h for h, _ in pairs], [r for _, r in pairs]), expected, atol=1e-12)


# ── one batch ───────────────────────────────────────────────────────────────────────────────────────────────────────


def by_hand(model: Transformer, pairs: Batch, config: RewardConfig) -> float:
    """The loss from what search itself says of its hypotheses, sentence by sentence, in plain numbers."""
    src, mask = pairs.src, pairs.src_mask
    targets = [(5, 4, 3), (3, 6), (7, 8, 7, 8)]
    draws = sample(model, src, mask, config.samples, seed=fixed())
    log_p = model(pairs).log_softmax(-1).gather(-1, pairs.tgt_out[..., None])[..., 0].masked_fill(~pairs.tgt_mask, 0)
    total = 0.0
    for row, (target, drawn, best) in enumerate(zip(targets, draws, greedy(model, src, mask), strict=True)):
        scored = [(gleu(h.ids, target), h.log_prob) for h in drawn]
        if config.objective == "self-critical":
            mean = sum(r for r, _ in scored) / len(scored)
            base = gleu(best.ids, target) if config.baseline == "greedy" else mean
            total += sum(-(r - base) * p for r, p in scored) / len(scored)
        else:
            known = {h.ids: s for h, s in zip(drawn, scored, strict=True)}
            if config.with_reference:
                known[target] = (1.0, float(log_p[row].sum().detach()))
            powers = [math.exp(config.sharpness * p) for _, p in known.values()]
            total -= sum(q * r for q, (r, _) in zip(powers, known.values(), strict=True)) / sum(powers)
    return total


@pytest.mark.parametrize(
    "config", [RISK, replace(RISK, with_reference=False, samples=40), CRITIC, replace(CRITIC, baseline="mean")]
)
@pytest.mark.parametrize("ends", [0.0, 4.0, -30.0])
def test_the_loss_of_a_batch_by_hand(pairs: Batch, config: RewardConfig, ends: float) -> None:
    """`ends` makes EOS likely, so that samples repeat, or so unlikely that all of them are cut at their limit."""
    model = tiny()
    model.output = torch.nn.Linear(CONFIG.width, V)
    with torch.no_grad():
        model.output.bias.zero_()[EOS] = ends
    found = reward_loss(model, pairs, config, generator=fixed())
    assert float(found.loss.detach()) == pytest.approx(by_hand(model, pairs, config), rel=1e-4, abs=1e-5)
    drawn = sample(model, pairs.src, pairs.src_mask, config.samples, seed=fixed())
    targets = [(5, 4, 3), (3, 6), (7, 8, 7, 8)]
    rewards = [gleu(h.ids, target) for some, target in zip(drawn, targets, strict=True) for h in some]
    assert found.reward == pytest.approx(float(np.mean(rewards)), abs=1e-6)
    if ends > 0:  # that the case is the one it is meant to be
        assert any(len({h.ids for h in some}) < config.samples for some in drawn)
    if ends < 0:
        assert all(len(h.log_probs) == len(h.ids) for some in drawn for h in some)


def test_likelihood_is_added_by_its_weight(pairs: Batch) -> None:
    model = tiny()
    for config in (RISK, CRITIC):
        plain = reward_loss(model, pairs, config, 0.1, fixed()).loss
        mixed = reward_loss(model, pairs, replace(config, likelihood_weight=0.25), 0.1, fixed()).loss
        nll = smoothed_nll(model(pairs), pairs.tgt_out, pairs.tgt_mask, 0.1)
        torch.testing.assert_close(mixed - plain, 0.25 * nll)
    assert RewardConfig("self-critical").likelihood_share == 0.017
    assert RewardConfig("minimum-risk").likelihood_share == 0


@pytest.mark.parametrize("config", [RISK, CRITIC, replace(CRITIC, likelihood_weight=0.3)])
def test_micro_batches_sum_up_to_the_whole_batch(pairs: Batch, config: RewardConfig) -> None:
    """So the loop may divide by the tokens of all of them, and accumulation changes nothing."""
    model = tiny()
    whole = reward_loss(model, pairs, config, generator=fixed())
    sources, targets = [[3, 4, 5], [6, 3], [8]], [[5, 4, 3], [3, 6], [7, 8, 7, 8]]
    parts = [
        reward_loss(model, flat_batch([s], [t]).pad(), config, generator=fixed())
        for s, t in zip(sources, targets, strict=True)
    ]
    torch.testing.assert_close(sum(part.loss for part in parts), whole.loss)
    assert sum(part.flops for part in parts) == pytest.approx(whole.flops)


def test_log_probs_of_rows_ignore_what_is_masked() -> None:
    logits, targets = torch.randn(2, 3, V, generator=fixed()), torch.tensor([[1, 2, 0], [4, 0, 0]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    log_p = logits.log_softmax(-1)
    expected = torch.stack([log_p[0, 0, 1] + log_p[0, 1, 2], log_p[1, 0, 4]])
    torch.testing.assert_close(sequence_log_probs(logits, targets, mask), expected)


def test_many_samples_give_the_gradient_of_the_expected_reward() -> None:
    """The whole way through a model that hardly ever says more than two words: its exact gradient by listing them."""
    model = tiny(std=0.3)
    model.output = torch.nn.Linear(CONFIG.width, V)
    with torch.no_grad():
        model.output.bias.zero_()[EOS] = 4.0  # most outputs have no word, or one
    pair = flat_batch([[3, 4]], [[5]]).pad()
    words = [w for w in range(V) if w != EOS]
    outputs = [(), *((w,) for w in words), *((w, x) for w in words for x in words)]
    wide = flat_batch([[3, 4]] * len(outputs), outputs).pad()
    log_probs = sequence_log_probs(model(wide), wide.tgt_out, wide.tgt_mask)
    assert float(log_probs.exp().sum().detach()) > 0.99
    rewards = torch.tensor([gleu(y, (5,)) for y in outputs])
    exact = torch.autograd.grad(-(log_probs.exp() * rewards).sum(), model.output.bias)[0]
    found = torch.autograd.grad(
        reward_loss(model, pair, replace(CRITIC, samples=20_000), generator=fixed()).loss, model.output.bias
    )[0]
    torch.testing.assert_close(found, exact, atol=0.002, rtol=0)  # some 4 standard errors
    assert exact.abs().max() > 0.01


@pytest.mark.parametrize("config", [replace(RISK, likelihood_weight=0.1), replace(CRITIC, likelihood_weight=0.1)])
def test_inside_autocast_every_parameter_still_learns(pairs: Batch, config: RewardConfig) -> None:
    model = tiny()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = reward_loss(model, pairs, config, generator=fixed()).loss
    assert loss.dtype == torch.float32
    loss.backward()
    silent = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert [n for n in silent if not n.endswith("key.bias")] == []


def test_the_mode_comes_back_and_torchs_own_seed_decides(pairs: Batch) -> None:
    model = tiny()
    losses = []
    for mode in (True, False):
        model.train(mode)
        for _ in range(2):
            torch.manual_seed(11)
            losses.append(float(reward_loss(model, pairs, CRITIC).loss.detach()))
            assert model.training is mode
    assert len(set(losses)) == 1
    assert float(reward_loss(model, pairs, CRITIC).loss.detach()) != losses[0]  # the next draws are others


@pytest.mark.parametrize(
    "config",
    [
        RewardConfig("self-critical", samples=8, likelihood_weight=0.0),
        RewardConfig("minimum-risk", samples=8, sharpness=0.5, with_reference=False),
    ],
    ids=["self-critical", "minimum-risk"],
)
@pytest.mark.long
def test_fine_tuning_raises_the_reward_of_samples_and_of_greedy_translations(config: RewardConfig) -> None:
    """No likelihood in it and no reference among the candidates: what the model learns, it learns from rewards."""
    generator = fixed(3)
    sources = [torch.randint(3, 13, (4,), generator=generator).tolist() for _ in range(20)]
    targets = [source[::-1] for source in sources]
    pairs = flat_batch(sources, targets).pad()
    torch.manual_seed(5)
    small = TransformerConfig(width=32, heads=2, inner=64, encoder_layers=1, decoder_layers=1, dropout=0.0)
    model = Transformer(small, 13, 13, True)

    def quality() -> float:
        return float(gleu_scores([h.ids for h in greedy(model, pairs.src, pairs.src_mask)], targets).mean())

    def expected() -> float:
        return reward_loss(model, pairs, replace(config, samples=30), generator=fixed()).reward

    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(15):  # a model that has only begun to learn
        optimizer.zero_grad()
        (smoothed_nll_fused(model(pairs), pairs.tgt_out, pairs.tgt_mask, 0.0) / pairs.target_tokens).backward()
        optimizer.step()
    before, drawn_before = quality(), expected()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(40):
        optimizer.zero_grad()
        (reward_loss(model, pairs, config, generator=generator).loss / len(pairs)).backward()
        optimizer.step()
    assert 0.1 < before < 0.3
    assert quality() > before + 0.1
    assert expected() > drawn_before + 0.1
