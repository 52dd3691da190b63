"""Greedy search: at every step the most probable token (the notes' algorithm 3.1).

    y(t) = argmax_w P(w | y<t, x)

All sentences of a batch go on together; a finished row is dropped, so nothing is computed for it any more.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.hypothesis import Hypothesis, length_limits
from regard.models.base import Model


@torch.inference_mode()
def greedy(model: Model, src: Tensor, mask: Tensor) -> list[Hypothesis]:
    """One hypothesis per source sentence: src (B, S) ids with EOS, mask (B, S)."""
    limits = length_limits(mask)
    ids: list[list[int]] = [[] for _ in limits]
    log_probs: list[list[float]] = [[] for _ in limits]
    live = list(range(len(limits)))  # sentence of each row still going
    state = model.start(model.encode(src, mask))
    token = torch.full((len(live),), BOS, device=src.device)
    while live:
        step = model.step(token, state)
        best, token = step.log_probs.max(dim=-1)  # (N,), (N,)
        going = []
        for row, (sentence, word, log_prob) in enumerate(zip(live, token.tolist(), best.tolist(), strict=True)):
            log_probs[sentence].append(log_prob)
            if word != EOS:
                ids[sentence].append(word)
                if len(ids[sentence]) < limits[sentence]:
                    going.append(row)
        state = step.state
        if len(going) < len(live):
            rows = torch.tensor(going, device=src.device, dtype=torch.long)
            live, token = [live[r] for r in going], token[rows]
            if going:
                state = state.select(rows)
    return [Hypothesis(tuple(i), tuple(p), sum(p)) for i, p in zip(ids, log_probs, strict=True)]
