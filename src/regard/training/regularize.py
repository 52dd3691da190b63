"""Regularisation for small corpora, off by default (`train.r_drop word_dropout sampling_rate`).

    R-Drop (Liang et al. 2021)     two passes with different dropout should agree, p₁ and p₂ at each target token:
                                   ℓ = ½(NLL₁ + NLL₂) + α/4 · (KL(p₁‖p₂) + KL(p₂‖p₁))
    word dropout (Gal and Ghahramani 2016; in translation Sennrich et al. 2016)
                                   embeddings of whole source and target words are dropped: e ← 0 with probability p,
                                   else e / (1 − p)
    scheduled sampling (Bengio et al. 2015; in two passes Mihaylova and Martins 2019)
                                   the decoder reads its own words: y_t ← argmax p(· | y<t, x) with probability c,
                                   which grows linearly from 0 to `sampling_rate` at the last update

R-Drop's loss is half the paper's, so that it is comparable with plain training's; α is the paper's own (they use 5).
Both passes are one batch of twice the rows, at twice the time and memory. KL needs the logits of both passes at once,
so in shared rows they are kept, which `projected_nll` avoids: 2 · M · V numbers, and as many gradients.

A dropped word is not replaced by another token: vocabularies have no <unk>, and ByteNet uses the vector of PAD. Its
position stays. The words read in the second pass are those of a first pass without gradients, at the cost of one
more forward pass. BOS is never replaced, and no word is replaced by a special token, since no decoder ever reads EOS.

Random numbers come from torch's global generator, whose state is in the checkpoints. Nothing here waits for a GPU.
Stochastic depth is in `layers/residual.py`, means of weights in `average.py`, BPE-dropout in `text/bpe.py`.

    B rows   T target   M = B·T positions   V vocabulary   D width
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.batch import BOS, EOS, Batch
from regard.models.base import Model
from regard.recipe.train import TrainConfig
from regard.training.cost import FORWARD_AND_BACKWARD
from regard.training.loss import CHUNK, smoothed_nll

IN_CACHE = 2**18  # logits at a time on a CPU, so that they stay in its cache


def forward_passes(config: TrainConfig) -> int:
    """Returns the cost of learning from a batch, in forward passes over it."""
    twice = config.r_drop or config.guided_weight
    return FORWARD_AND_BACKWARD * (2 if twice else 1) + (1 if config.sampling_rate else 0)


# ── R-Drop ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def symmetric_kl(logits: Tensor, others: Tensor, mask: Tensor) -> Tensor:
    """KL(p‖q) + KL(q‖p) = Σ_w (p − q)(log p − log q), summed over tokens: logits (B, T, V), mask (B, T)."""
    p, q = (z.float().log_softmax(dim=-1) for z in (logits, others))
    return ((p.exp() - q.exp()) * (p - q)).sum(dim=-1).masked_fill(~mask, 0).sum()


def r_drop(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float, alpha: float) -> Tensor:
    """The equation: logits (2B, T, V), one pass after the other, targets (B, T), mask (B, T)."""
    first, second = logits.chunk(2)
    nll = sum(smoothed_nll(z, targets, mask, smoothing) for z in (first, second))
    return nll / 2 + alpha / 4 * symmetric_kl(first, second, mask)


def r_drop_fused(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float, alpha: float) -> Tensor:
    """Like `r_drop`, but computes the gradient together with the loss and stores nothing else."""
    both = logits.float().reshape(2, -1, logits.shape[-1])  # (2, M, V)
    total: Tensor = _RDrop.apply(both, targets.flatten(), mask.flatten(), smoothing, alpha)  # type: ignore[no-untyped-call]
    return total


class _RDrop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, both: Tensor, targets: Tensor, mask: Tensor, smoothing: float, alpha: float) -> Tensor:
        gradient, total = torch.empty_like(both), both.new_zeros(())
        rows = max(1, (CHUNK if both.is_cuda else IN_CACHE) // both.shape[-1])
        for at in range(0, both.shape[1], rows):
            part = slice(at, at + rows)
            loss, *of = r_drop_and_gradient(both[0, part], both[1, part], targets[part], mask[part], smoothing, alpha)
            total += loss
            gradient[0, part], gradient[1, part] = of
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(scale), None, None, None, None  # in place: it is needed once


def r_drop_and_gradient(
    first: Tensor, second: Tensor, targets: Tensor, mask: Tensor, smoothing: float, alpha: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Returns the loss and both gradients, for logits (M, V) of each pass. With c = α/4, d = log p − log q, and y the
    smoothed target, ∂ℓ/∂first = ½(p − y) + c (p(d − KL(p‖q)) + p − q); for the second, p and q are exchanged.
    """
    c, counts = alpha / 4, mask[:, None]
    logits = first, second
    norms = [z.logsumexp(dim=-1, keepdim=True) for z in logits]  # (M, 1)
    p, q = ((z - norm).exp_() for z, norm in zip(logits, norms, strict=True))
    d = (first - second).sub_(norms[0] - norms[1])
    total, gradients = first.new_zeros(()), []
    for z, norm, own, other, sign in zip(logits, norms, (p, q), (q, p), (1, -1), strict=True):
        right = z.gather(-1, targets[:, None])  # (M, 1)
        kl = sign * (own * d).sum(dim=-1, keepdim=True)
        nll = norm - (1 - smoothing) * right - smoothing * z.mean(dim=-1, keepdim=True)
        total = total + (nll / 2 + c * kl).masked_fill(~counts, 0).sum()
        of = torch.mul(d, sign * c).add_(0.5 + c - c * kl).mul_(own).sub_(other, alpha=c)  # everything except y
        of.sub_(smoothing / 2 / z.shape[-1])
        of.scatter_add_(-1, targets[:, None], torch.full_like(right, (smoothing - 1) / 2))
        gradients.append(of.masked_fill_(~counts, 0))
    return total, gradients[0], gradients[1]


# ── word dropout ────────────────────────────────────────────────────────────────────────────────────────────────────


def word_dropout(vectors: Tensor, p: float) -> Tensor:
    """Sets each of the embeddings (B, T, D) to zero with probability p, else divides it by 1 − p."""
    kept = torch.rand(vectors.shape[:-1], device=vectors.device) >= p  # (B, T)
    return vectors * (kept / (1 - p))[..., None].to(vectors.dtype)


def add_word_dropout(model: Model, p: float) -> None:
    """Adds word dropout to the two embeddings that every architecture has, whatever their class; active in training."""

    def dropped(table: nn.Module, _: Any, vectors: Tensor) -> Tensor:
        return word_dropout(vectors, p) if table.training else vectors

    tables: tuple[Any, Any] = (model.source_embedding, model.target_embedding)
    for table in tables:
        table.register_forward_hook(dropped)


# ── scheduled sampling ──────────────────────────────────────────────────────────────────────────────────────────────


def replace_with_predictions(batch: Batch, predicted: Tensor, probability: Tensor) -> Batch:
    """Replaces target inputs, with this probability, by `predicted` (B, T), the predictions of a first pass.

    The word read at t + 1 is the one predicted at t. In shared rows, BOS is where a sentence starts.
    """
    own = torch.cat([batch.tgt_in[:, :1], predicted[:, :-1]], dim=1)  # (B, T)
    may = (batch.tgt_in != BOS) & batch.tgt_mask & (own > EOS)
    replaced = may & (torch.rand(own.shape, device=own.device) < probability)
    return replace(batch, tgt_in=torch.where(replaced, own, batch.tgt_in))


@torch.no_grad()
def predictions(model: Model, batch: Batch) -> Tensor:
    """Returns the most probable word after each prefix of the reference, (B, T), with dropout as in the next pass."""
    logits: Tensor = model(batch)
    return logits.argmax(dim=-1)
