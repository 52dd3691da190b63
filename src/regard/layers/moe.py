"""Sparsely gated mixture of experts (Shazeer et al. 2017), balanced as in the Switch Transformer (Fedus et al. 2021).

    y = Σ_{e ∈ top-k} g_e(x) · FFN_e(x)       g = softmax over the k largest of the router's scores xW_r
    L = E · Σ_e f_e · P_e                     f_e share of all choices that fell on expert e (a count, no gradient)
                                              P_e mean over tokens of softmax(xW_r)_e, all E experts in the softmax

    B sentences   T positions   M = B·T tokens   D width   E experts   k experts per token

L is 1 when the load is even. The mixture is dropless: an expert serves all tokens that chose it, so what happens to a
sentence does not depend on its neighbours in the batch; only where two experts are almost tied can rounding, on another
device or in another batch, change the choice. `mix_all` is the equation; `mix_chosen` is faster and computes only the
chosen experts. It needs the number of tokens of each expert on the host: one synchronization per layer on a GPU.

How L enters training. A model returns logits only, and the loop minimizes ΣNLL / tokens. `with_loss` therefore passes
an activation through unchanged and gives the loss attached to it the gradient 1 in the backward pass, whatever gradient
comes from above. The division by tokens happens above, so it does not touch L: training then minimizes

    ΣNLL / tokens + balance · Σ_layers L

where `balance` is relative to a loss per token, as in the papers; a factor for the number of tokens would be wrong.
If an update is gathered from m micro-batches, each brings its own L with the gradient 1, and L weighs m times as much;
divide `balance` by m to keep its weight. The reported loss does not contain L. In eval mode L does not exist.

Not here: a capacity with dropped tokens, experts on several machines, two-level routing, and the importance and load
losses of the 2017 paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import require
from regard.layers.feedforward import Activation, FeedForward


def check_experts(experts: int, choice: int, balance: float) -> None:
    """Raise RecipeError unless the choice of experts and the weight of the balance are valid."""
    require(
        2 <= choice <= experts,  # a single expert always has weight 1, so the router would get no gradient
        f"model.expert_choice must be from 2 to model.experts = {experts}, but is {choice}",
    )
    require(balance >= 0, f"model.balance must not be negative, but is {balance}")


def route(scores: Tensor, choice: int) -> tuple[Tensor, Tensor]:
    """scores (M, E) → weights (M, k) that sum to 1, and the experts chosen (M, k), best first.

    >>> weights, chosen = route(torch.tensor([[1.0, 3.0, 2.0, 3.0]]), 2)
    >>> weights.tolist(), sorted(chosen[0].tolist())
    ([[0.5, 0.5]], [1, 3])
    """
    best, chosen = scores.topk(choice, dim=-1)
    return best.softmax(dim=-1), chosen


def mix_all(x: Tensor, weights: Tensor, chosen: Tensor, experts: Sequence[nn.Module]) -> Tensor:
    """Σ_e g_e(x) · FFN_e(x) with g_e = 0 for experts not chosen: every expert on every token, x (M, D) → (M, D)."""
    gates = weights.new_zeros(len(x), len(experts)).scatter(-1, chosen, weights)  # (M, E)
    return torch.stack([gates[:, e, None] * expert(x) for e, expert in enumerate(experts)]).sum(dim=0)


def mix_chosen(x: Tensor, weights: Tensor, chosen: Tensor, experts: Sequence[nn.Module]) -> Tensor:
    """`mix_all` with each expert on its own tokens only. An expert without tokens gets the gradient 0."""
    order = chosen.flatten().argsort(stable=True)  # (M·k,) the choices, expert by expert
    token = order // chosen.shape[1]  # the token of each choice
    load = chosen.new_zeros(len(experts)).index_add(0, chosen.flatten(), torch.ones_like(order))  # (E,)
    sizes = load.tolist()  # the host waits for these
    served = [e(own) for e, own in zip(experts, x.index_select(0, token).split(sizes), strict=True)]
    weighted = torch.cat(served) * weights.flatten()[order, None]  # (M·k, D)
    return weighted.new_zeros(x.shape).index_add(0, token, weighted)


def balance_loss(scores: Tensor, chosen: Tensor, real: Tensor | None = None) -> Tensor:
    """E · Σ_e f_e · P_e over real tokens: scores (M, E), chosen (M, k), real (M,) True where there is a token.

    >>> even, uneven = 9 * torch.eye(4), torch.tensor([[9.0, 0, 0, 0]] * 4)  # to each its own; all to the first
    >>> [round(balance_loss(s, route(s, 1)[1]).item(), 2) for s in (even, uneven)]
    [1.0, 4.0]
    """
    experts = scores.shape[-1]
    counted = scores.new_ones(len(scores)) if real is None else real.to(scores.dtype)  # (M,)
    tokens = counted.sum().clamp(min=1)
    each = counted[:, None].expand_as(chosen).flatten()  # (M·k,)
    share = scores.new_zeros(experts).index_add(0, chosen.flatten(), each) / (tokens * chosen.shape[1])  # f (E,)
    mean = (counted[:, None] * scores.softmax(dim=-1)).sum(dim=0) / tokens  # P (E,)
    return experts * (share.detach() * mean).sum()


def with_loss(x: Tensor, loss: Tensor) -> Tensor:
    """Returns x; in the backward pass `loss` gets the gradient 1, as if it had been added to the final loss."""
    out: Tensor = _WithLoss.apply(x, loss)  # type: ignore[no-untyped-call]
    return out


class _WithLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, loss: Tensor) -> Tensor:
        ctx.kind = loss.dtype
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient.new_ones((), dtype=ctx.kind)


class MixtureOfExperts(nn.Module):
    """(B, T, D) → (B, T, D): replaces a feed-forward layer by several experts; each token is routed to a few of them.

    With `noise`, training adds N(0, 1) · softplus(xW_n) to the scores before the choice (Shazeer et al. 2017, eq. 4).
    """

    def __init__(
        self,
        width: int,
        inner: int,
        activation: Activation,
        experts: int,
        choice: int,
        balance: float,
        noise: bool = False,
    ) -> None:
        super().__init__()
        assert 1 <= choice <= experts, "checked by the model's configuration"
        self.choice, self.balance = choice, balance
        self.router = nn.Linear(width, experts, bias=False)
        self.noise = nn.Linear(width, experts, bias=False) if noise else None
        self.experts = nn.ModuleList(FeedForward(width, inner, activation) for _ in range(experts))

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """`real` (B, T) is True at tokens; only these count for the balance loss. None: all positions are tokens."""
        flat = x.flatten(0, 1)  # (M, D)
        scores = self.score(flat)
        weights, chosen = route(scores, self.choice)
        out = mix_chosen(flat, weights, chosen, list(self.experts)).to(x.dtype).view_as(x)  # (B, T, D)
        if self.training and self.balance and torch.is_grad_enabled():
            loss = balance_loss(scores, chosen, None if real is None else real.flatten())
            out = with_loss(out, self.balance * loss)
        return out

    def score(self, flat: Tensor) -> Tensor:
        """(M, D) → (M, E), in the parameters' own precision: rounding must not choose the expert."""
        with torch.autocast(flat.device.type, enabled=False):
            flat = flat.to(self.router.weight.dtype)
            scores: Tensor = self.router(flat)
            if self.noise is not None and self.training:
                scores = scores + torch.randn_like(scores) * F.softplus(self.noise(flat))
            return scores

    def flops(self, tokens: int) -> float:
        """Operations of the router and of k experts per token, whatever the balance of the load."""
        expert = cast(FeedForward, self.experts[0])
        return 2.0 * tokens * self.router.weight.numel() + self.choice * expert.flops(tokens)
