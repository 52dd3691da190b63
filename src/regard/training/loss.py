"""Cross-entropy with label smoothing (Szegedy et al. 2016), summed over target tokens.

    ℓ = −(1 − ε) log p(y) − ε/V Σ_w log p(w)            ∂ℓ/∂logits = p − (1 − ε) onehot(y) − ε/V

`smoothed_nll` is the equation. `smoothed_nll_fused` is its lean twin for training: it computes the gradient along
with the loss and keeps nothing else, where torch's own holds several arrays as large as the logits. Both give a sum,
not a mean: the loop divides by the tokens of all micro-batches together, so that splitting a batch changes nothing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def smoothed_nll(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    """logits (B, T, V), targets (B, T), mask (B, T) True where a token counts."""
    log_probs = logits.float().log_softmax(dim=-1)
    right = log_probs.gather(-1, targets[..., None])[..., 0]  # (B, T)
    everywhere = log_probs.mean(dim=-1)  # (B, T)
    return -((1 - smoothing) * right + smoothing * everywhere)[mask].sum()


def smoothed_nll_fused(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    flat = logits.float().flatten(0, 1)  # (B·T, V)
    total: Tensor = _SmoothedNLL.apply(flat, targets.flatten(), mask.flatten(), smoothing)  # type: ignore[no-untyped-call]
    return total


class _SmoothedNLL(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
        normaliser = logits.logsumexp(dim=-1, keepdim=True)  # (M, 1); log p(w) = logit(w) − normaliser
        right = logits.gather(-1, targets[:, None])  # (M, 1)
        everywhere = logits.mean(dim=-1, keepdim=True) if smoothing else 0.0
        losses = normaliser - (1 - smoothing) * right - smoothing * everywhere

        gradient = (logits - normaliser).exp_()  # p
        gradient.scatter_add_(-1, targets[:, None], torch.full_like(right, smoothing - 1))
        if smoothing:
            gradient.sub_(smoothing / logits.shape[-1])
        gradient[~mask] = 0.0
        ctx.save_for_backward(gradient)
        return losses[mask].sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(scale), None, None, None  # in place: it is needed once
