"""Forced decoding: log P of every token of a given translation under teacher forcing.

B pairs   T target tokens and EOS   V vocabulary
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.batch import Batch, flat_batch
from regard.models.base import Model
from regard.search.alignment_heads import AlignmentView
from regard.search.engine import Weights, token_batches

Ids = Sequence[int]


def token_log_probs(model: Model, batch: Batch) -> Tensor:
    """(B, T) log P of each target token, EOS last; 0 at padding."""
    logits: Tensor = model(batch)  # (B, T, V)
    log_probs = logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    chosen = log_probs.gather(2, batch.tgt_out[..., None])[..., 0]  # (B, T)
    return chosen.masked_fill(~batch.tgt_mask, 0.0)


@torch.inference_mode()
def forced_log_probs(
    model: Model, sources: Sequence[Ids], targets: Sequence[Ids], batch_tokens: int = 4096
) -> list[NDArray[np.float64]]:
    """Returns log P of the target tokens and of EOS, (T + 1,), for each pair, given without BOS and EOS."""
    found: list[NDArray[np.float64]] = [np.empty(0)] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for group in token_batches(lengths, batch_tokens):
        batch = flat_batch([sources[i] for i in group], [targets[i] for i in group]).pad().to(model.device)
        rows = token_log_probs(model, batch).cpu().double().numpy()
        for i, row in zip(group, rows, strict=True):
            found[i] = row[: len(targets[i]) + 1]
    return found


@torch.inference_mode()
def next_log_probs(model: Model, source: Ids, prefix: Ids) -> NDArray[np.float64]:
    """(V,): log P of each token after a prefix; source and prefix without BOS and EOS."""
    batch = flat_batch([source], [prefix]).pad().to(model.device)
    logits: Tensor = model(batch)[0, len(prefix)]  # (V,)
    found: NDArray[np.float64] = logits.double().log_softmax(dim=-1).cpu().numpy()
    return found


@torch.inference_mode()
def forced_attention(
    model: Model,
    view: AlignmentView,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int | None = None,
) -> list[Weights]:
    """Returns an attention map (T + 1, S + 1) of a teacher-forced pass for each pair, EOS last on both sides. All pairs
    are one batch, or several of so many tokens, which a GPU computes before the first result is read."""
    lengths = [len(source) + len(target) for source, target in zip(sources, targets, strict=True)]
    batches: list[Sequence[int]]
    batches = [range(len(lengths))] if batch_tokens is None else [*token_batches(lengths, batch_tokens)]
    computed = []
    for batch in batches:
        pairs = flat_batch([sources[i] for i in batch], [targets[i] for i in batch]).pad().to(model.device)
        computed.append(view.heads.average(model.attention(pairs).cross))  # (B, T, S)
    found: list[Weights] = [np.empty((0, 0))] * len(lengths)
    for batch, weights in zip(batches, computed, strict=True):
        for i, row in zip(batch, weights.cpu().double().numpy(), strict=True):
            found[i] = row[: len(targets[i]) + 1, : len(sources[i]) + 1]
    return found
