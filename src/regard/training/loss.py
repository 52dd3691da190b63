"""Cross-entropy with label smoothing (Szegedy et al. 2016), summed over target tokens.

    ℓ = −(1 − ε) log p(y) − ε/V Σ_w log p(w)

`smoothed_nll` is the equation, `smoothed_nll_fused` torch's kernel for it. Both give a sum, not a mean: the loop
divides by the tokens of all micro-batches together, so that splitting a batch changes nothing.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def smoothed_nll(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    """logits (B, T, V), targets (B, T), mask (B, T) True where a token counts."""
    log_probs = logits.float().log_softmax(dim=-1)
    right = log_probs.gather(-1, targets[..., None])[..., 0]  # (B, T)
    everywhere = log_probs.mean(dim=-1)  # (B, T)
    return -((1 - smoothing) * right + smoothing * everywhere)[mask].sum()


def smoothed_nll_fused(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    counted = targets.masked_fill(~mask, -100)  # torch's mark for "does not count"
    return F.cross_entropy(
        logits.float().flatten(0, 1),
        counted.flatten(),
        ignore_index=-100,
        label_smoothing=smoothing,
        reduction="sum",
    )
