"""Cross-entropy with label smoothing (Szegedy et al. 2016), summed over target tokens.

    ℓ = −(1 − ε) log p(y) − ε/V Σ_w log p(w)            ∂ℓ/∂logits = p − (1 − ε) onehot(y) − ε/V

`smoothed_nll` is the equation. `smoothed_nll_fused` is the same for training: it computes the gradient together with
the loss and keeps nothing else, where torch's autograd keeps several arrays as large as the logits. `projected_nll`
includes the output projection: logits exist for some rows at a time, in the precision of the product, and only the
gradients of states and matrix are kept. All return a sum, not a mean: the loop divides by the tokens of all
micro-batches, so that splitting a batch changes nothing.

    B batch   T target   M = B·T positions   D width   V vocabulary

`loss_and_gradient_on_gpu` is `loss_and_gradient` as one Triton kernel: it reads a row of logits and writes the gradient
in its place, while the row is still in the cache. Torch's compiled version of the same lines is slower, and needs a
second array as large as the logits.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.layers.kernels import HAS_TRITON

CHUNK = 2**29  # logits computed at a time
CACHED = 2**19  # logits at a time on a CPU: two arrays of this size fit into a core's cache
BLOCK = 4096  # logits at a time of the GPU kernel


def smoothed_nll(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    """The equation: logits (B, T, V), targets (B, T), mask (B, T) True where a token counts → the summed loss."""
    log_probs = logits.float().log_softmax(dim=-1)
    right = log_probs.gather(-1, targets[..., None])[..., 0]  # (B, T)
    everywhere = log_probs.mean(dim=-1)  # (B, T)
    return -((1 - smoothing) * right + smoothing * everywhere)[mask].sum()


def smoothed_nll_fused(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    flat = logits.flatten(0, 1), targets.flatten(), mask.flatten()  # (B·T, V), (B·T,), (B·T,)
    total: Tensor = _SmoothedNLL.apply(*flat, smoothing)  # type: ignore[no-untyped-call]
    return total


class _SmoothedNLL(torch.autograd.Function):
    """Computes some rows at a time on a CPU, so that they stay in its cache."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
        size = logits.shape[-1]
        rows = len(logits) if logits.is_cuda else max(1, CACHED // size)
        gradient, losses = torch.empty_like(logits), []
        for at in range(0, len(logits), rows):
            part = slice(at, at + rows)
            z, target = logits[part].float(), targets[part, None]  # (m, V), (m, 1)
            normalizer = z.logsumexp(dim=-1, keepdim=True)  # (m, 1); log p(w) = logit(w) − normalizer
            right = z.gather(-1, target)  # (m, 1)
            everywhere = z.mean(dim=-1, keepdim=True) if smoothing else 0.0
            losses.append(normalizer - (1 - smoothing) * right - smoothing * everywhere)
            derivative = (z - normalizer).exp_()  # p
            derivative.scatter_add_(-1, target, torch.full_like(right, smoothing - 1))
            if smoothing:
                derivative.sub_(smoothing / size)
            gradient[part] = derivative.mul_(mask[part, None])
        ctx.save_for_backward(gradient)
        return torch.cat(losses)[:, 0].masked_fill(~mask, 0.0).sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient.mul_(scale), None, None, None  # in place: it is used once


def projected_nll(states: Tensor, weight: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
    """`smoothed_nll(states @ weightᵀ, …)`: states (B, T, D), weight (V, D), targets (B, T), mask (B, T)."""
    flat = states.flatten(0, 1), weight, targets.flatten(), mask.flatten()
    total: Tensor = _ProjectedNLL.apply(*flat, smoothing)  # type: ignore[no-untyped-call]
    return total


class _ProjectedNLL(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> Tensor:
        device = states.device.type
        kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
        narrow, table = states.to(kind), weight.to(kind)
        rows = max(1, CHUNK // len(weight))
        total = states.new_zeros((), dtype=torch.float32)
        of_states, of_weight = torch.empty_like(narrow), torch.zeros_like(weight)
        work = loss_and_gradient_on_gpu if states.is_cuda and HAS_TRITON else loss_and_gradient
        for at in range(0, len(narrow), rows):
            part = slice(at, at + rows)
            loss, gradient = work(narrow[part] @ table.T, targets[part], mask[part], smoothing)  # (rows, V)
            total += loss
            torch.mm(gradient, table, out=of_states[part])
            of_weight += gradient.T @ narrow[part]
        ctx.save_for_backward(of_states, of_weight)
        ctx.kind = states.dtype
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        of_states, of_weight = ctx.saved_tensors
        return (of_states * scale).to(ctx.kind), of_weight * scale, None, None, None


def loss_and_gradient(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """The equations above for logits (M, V): the summed loss, and the gradient in the precision of the logits."""
    z = logits.float()
    normalizer = z.logsumexp(dim=-1, keepdim=True)  # (M, 1)
    right = z.gather(-1, targets[:, None])  # (M, 1)
    losses = normalizer - (1 - smoothing) * right - smoothing * z.mean(dim=-1, keepdim=True)
    onehot = torch.arange(logits.shape[-1], device=logits.device) == targets[:, None]  # (M, V)
    gradient = (z - normalizer).exp() - smoothing / logits.shape[-1] - (1 - smoothing) * onehot
    counts = mask[:, None]
    return losses.masked_fill(~counts, 0).sum(), gradient.masked_fill(~counts, 0).to(logits.dtype)


if HAS_TRITON:
    import triton
    import triton.language as tl

    @triton.jit
    def _loss_kernel(logits, targets, counts, losses, smoothing, size: tl.constexpr, block: tl.constexpr):
        row = tl.program_id(0).to(tl.int64)
        z = logits + row * size
        places = tl.arange(0, block)
        top, total, plain = -1.0e30, 0.0, 0.0
        for at in range(0, size, block):
            inside = at + places < size
            some = tl.load(z + at + places, inside, other=-1.0e30).to(tl.float32)
            higher = tl.maximum(top, tl.max(some))
            total = total * tl.exp(top - higher) + tl.sum(tl.exp(some - higher))
            plain += tl.sum(tl.where(inside, some, 0.0))
            top = higher
        normalizer = top + tl.log(total)
        target, count = tl.load(targets + row), tl.load(counts + row).to(tl.float32)
        right = tl.load(z + target).to(tl.float32)
        tl.store(losses + row, count * (normalizer - (1 - smoothing) * right - smoothing * plain / size))
        for at in range(0, size, block):
            inside = at + places < size
            some = tl.load(z + at + places, inside, other=-1.0e30).to(tl.float32)
            gradient = (
                tl.exp(some - normalizer) - smoothing / size - tl.where(at + places == target, 1 - smoothing, 0.0)
            )
            tl.store(z + at + places, (count * gradient).to(logits.dtype.element_ty), inside)


def loss_and_gradient_on_gpu(logits: Tensor, targets: Tensor, mask: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """(summed loss, gradient); the gradient overwrites the logits (M, V)."""
    losses = torch.empty(len(logits), dtype=torch.float32, device=logits.device)
    _loss_kernel[(len(logits),)](
        logits, targets, mask, losses, smoothing, size=logits.shape[1], block=BLOCK, num_warps=8
    )
    return losses.sum(), logits
