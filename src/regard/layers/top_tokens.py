"""The most probable next tokens, exactly, without sorting the vocabulary.

    N rows   V vocabulary   k tokens

The vocabulary is laid out as a table of r rows and c columns. The k best tokens are in the k columns with the largest
maxima, so only these k·r tokens are compared with each other. `top_tokens_by_sorting` is the definition.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.batch import EOS
from regard.layers.kernels import HAS_TRITON, MOST_TOP_TOKENS, top_tokens_kernel

FIRST = EOS  # PAD and BOS, whose ids are smaller, are never generated
COLUMNS = 256


def top_tokens_by_sorting(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Returns the log-probabilities (N, k) and ids (N, k) of the best tokens, best first. PAD and BOS are part of the
    softmax, but are never returned.

    >>> log_probs, ids = top_tokens_by_sorting(torch.tensor([[9.0, 9.0, 0.5, 2.0, 1.0]]), 2)
    >>> ids.tolist(), [round(p, 2) for p in log_probs[0].tolist()]
    ([[3, 4]], [-7.69, -8.69])
    """
    log_probs = logits.float().log_softmax(dim=-1)
    log_probs[:, :FIRST] = -math.inf
    best, ids = log_probs.topk(k, dim=-1)
    return best, ids


def top_tokens(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Computes `top_tokens_by_sorting` faster. The order of ties is unspecified, but deterministic."""
    if HAS_TRITON and logits.is_cuda and k <= MOST_TOP_TOKENS:
        return top_tokens_kernel(logits, k, FIRST)
    best, ids = top_of_rows(logits.log_softmax(dim=-1, dtype=torch.float32)[:, FIRST:], k)  # of (N, V − 2)
    return best, ids + FIRST


def top_of_rows(scores: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Returns the k best scores of each row and their indices, best first: (N, V) → (N, k) each."""
    deep = scores.shape[1] // COLUMNS  # rows of the table
    if k == 1:
        return scores.max(dim=-1, keepdim=True)
    if k > COLUMNS or deep < 2:
        return scores.topk(k, dim=-1)
    return _top_of_table(scores, k, deep)


def _top_of_table(log_probs: Tensor, k: int, deep: int) -> tuple[Tensor, Tensor]:
    table = log_probs[:, : deep * COLUMNS].unflatten(1, (deep, COLUMNS))  # (N, r, c)
    columns = table.amax(dim=1).topk(k, dim=-1).indices  # (N, k)
    ids = columns[:, None] + COLUMNS * torch.arange(deep, device=log_probs.device)[:, None]  # (N, r, k)
    rest = torch.arange(deep * COLUMNS, log_probs.shape[1], device=log_probs.device)  # ids of the incomplete last row
    ids = torch.cat([ids.flatten(1), rest.expand(len(log_probs), -1)], dim=1)  # (N, r·k + rest)
    best, which = log_probs.gather(1, ids).topk(k, dim=-1)
    return best, ids.gather(1, which)
