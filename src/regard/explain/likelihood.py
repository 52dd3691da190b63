"""How probable a model holds given translations: log p of every token under teacher forcing.

B pairs   T target tokens and EOS   V vocabulary
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.batch import Batch, budgeted, flat_batch
from regard.models.base import Model

Ids = Sequence[int]


def token_log_probs(model: Model, batch: Batch) -> Tensor:
    """(B, T) log p of each token that is to be predicted, EOS last; 0 at padding."""
    logits: Tensor = model(batch)  # (B, T, V)
    log_probs = logits.log_softmax(dim=-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    said = log_probs.gather(2, batch.tgt_out[..., None])[..., 0]  # (B, T)
    return said.masked_fill(~batch.tgt_mask, 0.0)


@torch.inference_mode()
def forced_log_probs(
    model: Model, sources: Sequence[Ids], targets: Sequence[Ids], batch_tokens: int = 4096
) -> list[NDArray[np.float64]]:
    """Of each pair, given without BOS and EOS: log p of its target tokens and of EOS, (T + 1,)."""
    found: list[NDArray[np.float64]] = [np.empty(0)] * len(sources)
    lengths = [max(len(s), len(t)) for s, t in zip(sources, targets, strict=True)]
    for group in budgeted(lengths, batch_tokens):
        batch = flat_batch([sources[i] for i in group], [targets[i] for i in group]).pad().to(model.device)
        rows = token_log_probs(model, batch).cpu().double().numpy()
        for i, row in zip(group, rows, strict=True):
            found[i] = row[: len(targets[i]) + 1]
    return found
