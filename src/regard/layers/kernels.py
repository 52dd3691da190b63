"""Kernels in Triton for GPUs: a residual sum with its layer normalization, and the most probable tokens.

    s = x + y        n = LayerNorm(s)

`add_norm`: one program computes one row. The sum is needed by the next sublayer (pre-norm) or not at all (post-norm);
`Residual` of `residual.py` is the definition. `top_tokens_kernel`: one program computes one row and reads it once;
`top_tokens.py` has the definition.

The CPU builds of torch come without Triton. A file of kernels imports Triton and defines them only where `HAS_TRITON`
is true. A caller uses a kernel where this is true and the tensors are on a GPU.
"""

from __future__ import annotations

import torch
from torch import Tensor

try:
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice  # noqa: F401

    HAS_TRITON = True
except ImportError:
    HAS_TRITON = False

MOST_TOP_TOKENS = 64  # maximum k of the kernel

if HAS_TRITON:

    @triton.jit
    def _add_norm(x, y, weight, bias, summed, normed, eps, width: tl.constexpr, padded: tl.constexpr):
        row = tl.program_id(0).to(tl.int64) * width
        c = tl.arange(0, padded)
        inside = c < width
        s = tl.load(x + row + c, mask=inside, other=0.0).to(tl.float32)
        s += tl.load(y + row + c, mask=inside, other=0.0).to(tl.float32)
        s = s.to(summed.dtype.element_ty)
        tl.store(summed + row + c, s, mask=inside)
        s = s.to(tl.float32)  # the norm is of the rounded sum, as it is stored
        mean = tl.sum(s, 0) / width
        centred = tl.where(inside, s - mean, 0.0)
        n = centred * tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
        w = tl.load(weight + c, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(bias + c, mask=inside, other=0.0).to(tl.float32)
        tl.store(normed + row + c, (n * w + b).to(normed.dtype.element_ty), mask=inside)


def add_norm(x: Tensor, y: Tensor, norm: torch.nn.LayerNorm) -> tuple[Tensor, Tensor]:
    """Returns x + y and its normalization, each (N, D)."""
    if not x.is_cuda:
        return x + y, norm(x + y)
    summed, normed = torch.empty_like(x), torch.empty_like(x)
    width = x.shape[-1]
    _add_norm[(x.numel() // width,)](
        x, y, norm.weight, norm.bias, summed, normed, norm.eps,
        width=width, padded=triton.next_power_of_2(width), num_warps=1 if width <= 512 else 4,
    )  # fmt: skip
    return summed, normed


if HAS_TRITON:

    @triton.jit
    def _top_tokens(
        logits, log_probs, ids, vocabulary, row_step,
        first: tl.constexpr, count: tl.constexpr, places: tl.constexpr, columns: tl.constexpr, deep: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0).to(tl.int64)
        logits += row * row_step
        column = tl.arange(0, columns)
        top = tl.full([columns], -float("inf"), tl.float32)  # maximum of each column over all tokens
        best = tl.full([columns], -float("inf"), tl.float32)  # maximum of each column over tokens that may be generated
        total = tl.zeros([columns], tl.float32)  # Σ exp(x − top)
        for at in range(0, vocabulary, columns):
            token = at + column
            x = tl.load(logits + token, mask=token < vocabulary, other=-float("inf")).to(tl.float32)
            new = tl.maximum(top, x)
            level = tl.where(new == -float("inf"), 0.0, new)
            total = total * tl.exp(top - level) + tl.exp(x - level)
            top = new
            best = tl.maximum(best, tl.where(token >= first, x, -float("inf")))
        highest = tl.max(top, 0)
        norm = highest + tl.log(tl.sum(total * tl.exp(top - highest), 0))
        place = tl.arange(0, places)
        chosen = tl.full([places], -1, tl.int32)
        for i in tl.static_range(count):
            value, one = tl.max(best, 0, return_indices=True)
            chosen = tl.where((place == i) & (value > -float("inf")), one, chosen)
            best = tl.where(column == one, -float("inf"), best)
        token = chosen[:, None] + columns * tl.arange(0, deep)[None, :]  # (places, deep)
        real = (chosen[:, None] >= 0) & (token >= first) & (token < vocabulary)
        token = tl.reshape(token, [places * deep])
        real = tl.reshape(real, [places * deep])
        x = tl.load(logits + token, mask=real, other=-float("inf")).to(tl.float32)
        index = tl.arange(0, places * deep)
        for i in tl.static_range(count):
            value, one = tl.max(x, 0, return_indices=True)
            tl.store(log_probs + row * count + i, value - norm)
            tl.store(ids + row * count + i, tl.sum(tl.where(index == one, token, 0), 0).to(tl.int64))
            x = tl.where(index == one, -float("inf"), x)


def top_tokens_kernel(logits: Tensor, k: int, first: int) -> tuple[Tensor, Tensor]:
    """logits (N, V) → log-probabilities (N, k) in float32 and ids (N, k), best first, of the ids from `first` on."""
    rows, vocabulary = logits.shape
    log_probs = torch.empty(rows, k, dtype=torch.float32, device=logits.device)
    ids = torch.empty(rows, k, dtype=torch.long, device=logits.device)
    most, warps = (2048, 8) if k <= 2 else (1024, 4)  # as measured: docs/log.md
    columns = min(most, triton.next_power_of_2(max(vocabulary // 4, k, 128)))
    deep = triton.next_power_of_2(triton.cdiv(vocabulary, columns))
    if rows:
        _top_tokens[(rows,)](
            logits, log_probs, ids, vocabulary, logits.stride(0),
            first=first, count=k, places=triton.next_power_of_2(k), columns=columns, deep=deep, num_warps=warps,
        )  # fmt: skip
    return log_probs, ids
