"""One forced pass over several translations: what each of their tokens attended to.

B sentences   T target tokens   S source tokens, then EOS
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from regard.batch import flat_batch
from regard.decode.engine import Weights
from regard.decode.word_links import AlignmentView
from regard.models.base import Model


@torch.inference_mode()
def attended(
    model: Model,
    view: AlignmentView,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
) -> list[Weights]:
    """Each map (T + 1, S + 1) of a teacher-forced pass, EOS last on both sides."""
    layers = model.attention(flat_batch(sources, targets).pad().to(model.device)).cross
    weights = view.heads.average(layers).double().cpu().numpy()  # (B, T, S)
    found = []
    for row, source, target in zip(weights, sources, targets, strict=True):
        found.append(row[: len(target) + 1, : len(source) + 1])
    return found
