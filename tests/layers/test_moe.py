"""The mixture of experts: its equation, its lean twin, its balance, and how the balance enters training."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.errors import RecipeError
from regard.layers.feedforward import FeedForward
from regard.layers.moe import (
    MixtureOfExperts,
    balance_loss,
    check_experts,
    mix_all,
    mix_chosen,
    route,
    with_loss,
)
from regard.training.loss import smoothed_nll_fused

M, D, E, K = 13, 6, 5, 2


def some_experts(dtype: torch.dtype = torch.float32) -> list[FeedForward]:
    torch.manual_seed(4)
    return [FeedForward(D, 8, "gelu").to(dtype) for _ in range(E)]


def layer(**change: object) -> MixtureOfExperts:
    torch.manual_seed(5)
    keys = {"experts": E, "choice": K, "balance": 0.5} | change
    return MixtureOfExperts(D, 8, "relu", **keys)  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", [1, 2, E])
def test_the_twin_equals_the_equation(choice: int) -> None:
    experts, x, scores = some_experts(), torch.randn(M, D, requires_grad=True), torch.randn(M, E, requires_grad=True)
    found = []
    for mix in (mix_all, mix_chosen):
        out = mix(x, *route(scores, choice), experts)
        leaves = [x, scores, *(p for e in experts for p in e.parameters())]
        found.append([out, *torch.autograd.grad(out.sin().sum(), leaves)])
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.gpu
def test_on_a_gpu_an_expert_that_nobody_chose_gets_nothing() -> None:
    mixture, x = layer(balance=0.0).cuda(), torch.randn(3, 1, D, device="cuda")
    with torch.no_grad():
        mixture.router.weight.zero_()  # all alike: the same two are chosen by all
    with torch.autocast("cuda", torch.bfloat16):
        mixture(x).sum().backward()
    grads = [expert.contract.weight.grad for expert in mixture.experts]
    assert sum(grad is not None and bool(grad.any()) for grad in grads) == K


def test_both_equal_a_naive_loop() -> None:
    experts, x, scores = some_experts(), torch.randn(M, D), torch.randn(M, E)
    rows = []
    for token, score in zip(x, scores, strict=True):
        best = sorted(range(E), key=lambda e: -float(score[e]))[:K]
        total = sum(float(score[e].exp()) for e in best)
        rows.append(sum(float(score[e].exp()) / total * experts[e](token) for e in best))
    torch.testing.assert_close(mix_chosen(x, *route(scores, K), experts), torch.stack(rows))


def test_gradients_of_the_equations() -> None:
    experts, scores = some_experts(torch.float64), 3 * torch.randn(4, E, dtype=torch.float64)
    x = torch.randn(4, D, dtype=torch.float64, requires_grad=True)
    scores.requires_grad_()
    for mix in (mix_all, mix_chosen):
        assert torch.autograd.gradcheck(lambda x, s, mix=mix: mix(x, *route(s, K), experts), (x, scores))
    chosen, real = route(scores, K)[1], torch.tensor([True, False, True, True])
    assert torch.autograd.gradcheck(lambda s: balance_loss(s, chosen, real), (scores,))


def test_nothing_is_dropped_however_uneven_the_load() -> None:
    experts, x = some_experts(), torch.randn(M, D)
    scores = torch.tensor([[9.0, 8.0, 0, 0, 0]]).repeat(M, 1)  # all tokens to the same two
    out = mix_chosen(x, *route(scores, K), experts)
    weights = torch.tensor([9.0, 8.0]).softmax(0)
    torch.testing.assert_close(out, weights[0] * experts[0](x) + weights[1] * experts[1](x))
    out.sum().backward()
    idle = experts[4].expand.weight.grad
    assert idle is not None  # zero, not missing: optimizers and several machines want one for every weight
    assert not idle.any()


def test_the_balance_is_one_when_even_and_more_when_not() -> None:
    even = torch.eye(E) * 4
    torch.testing.assert_close(balance_loss(even, route(even, 1)[1]), torch.tensor(1.0))
    everyone = torch.zeros(M, E)
    everyone[:, 2] = 4
    probability = everyone[0].softmax(0)[2]
    torch.testing.assert_close(balance_loss(everyone, route(everyone, 1)[1]), E * probability)


def test_the_balance_sees_real_tokens_only() -> None:
    scores = torch.randn(M, E)
    real = torch.arange(M) < 7
    chosen = route(scores, K)[1]
    torch.testing.assert_close(balance_loss(scores, chosen, real), balance_loss(scores[:7], chosen[:7]))
    naive = torch.stack([(chosen[:7] == e).float().mean() * scores[:7].softmax(-1)[:, e].mean() for e in range(E)])
    torch.testing.assert_close(balance_loss(scores, chosen, real), E * naive.sum())
    assert balance_loss(scores, chosen, torch.zeros(M, dtype=torch.bool)) == 0  # not NaN


def test_an_attached_loss_has_the_gradient_one() -> None:
    x, w = torch.randn(3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    out = with_loss(x, w**2)
    assert torch.equal(out, x)
    (1e-3 * out.sum()).backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, torch.full((3,), 1e-3))
    assert w.grad == 4.0


def test_the_weight_of_the_balance_is_the_configured_one() -> None:
    """What the training loop does, ΣNLL / tokens, against the same loss with the balance written out."""
    mixture, head = layer(balance=0.3).train(), torch.nn.Linear(D, 7)
    x, real = torch.randn(3, 4, D), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0]]).bool()
    targets, weights = torch.randint(7, (3, 4)), list(mixture.parameters())

    loss = smoothed_nll_fused(head(mixture(x, real)), targets, real, 0.1) / real.sum()
    found = torch.autograd.grad(loss, weights)

    scores = mixture.score(x.flatten(0, 1))
    balance = balance_loss(scores, route(scores, K)[1], real.flatten())
    plain = smoothed_nll_fused(head(mixture.eval()(x)), targets, real, 0.1) / real.sum()
    torch.testing.assert_close(loss, plain)  # it is not part of what is reported
    wanted = torch.autograd.grad(plain + 0.3 * balance, weights)
    for a, b in zip(found, wanted, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.long
@pytest.mark.parametrize("balance", [0.0, 0.1])
def test_the_balance_loss_evens_the_load(balance: float) -> None:
    """Tokens that are much alike go to the same experts, unless the balance speaks against it."""
    mixture = layer(balance=balance).train()
    x = torch.randn(1, 200, D) * 0.3 + torch.randn(D)
    optimizer = torch.optim.Adam(mixture.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        F.mse_loss(mixture(x), x).backward()
        optimizer.step()
    chosen = route(mixture.score(x[0]), K)[1]
    busiest = float(chosen.flatten().bincount(minlength=E).max() / chosen.numel())
    assert busiest < 0.3 if balance else busiest > 0.35  # even: 0.2; at worst 0.5


def test_eval_has_no_balance_and_no_noise() -> None:
    mixture, x = layer(noise=True), torch.randn(2, 4, D)
    mixture.eval()
    out = mixture(x)
    assert torch.equal(out, mixture(x))
    assert mixture.noise is not None
    torch.autograd.backward(out.sum())
    assert mixture.noise.weight.grad is None
    mixture.train()
    assert not torch.equal(mixture(x), mixture(x))
    mixture(x).sum().backward()
    assert mixture.noise.weight.grad is not None
    assert "noise.weight" not in dict(layer().named_parameters())


def test_under_autocast_the_router_keeps_its_precision() -> None:
    mixture, x = layer().train(), torch.randn(2, 4, D)
    with torch.autocast("cpu", torch.bfloat16):
        out = mixture(x)
        assert mixture.score(x.flatten(0, 1)).dtype == torch.float32
    out.float().sum().backward()
    torch.testing.assert_close(out, layer().eval()(x), rtol=0.05, atol=0.05)


def test_impossible_choices_are_refused() -> None:
    check_experts(4, 4, 0.0)
    for bad in ((4, 1, 0.01), (4, 5, 0.01), (4, 2, -1.0)):
        with pytest.raises(RecipeError, match=r"model\.(expert_choice|balance) must"):
            check_experts(*bad)
