"""Greedy search: at every step the most probable token (the notes' algorithm 3.1).

    y(t) = argmax_w P(w | y<t, x)

All sentences of a batch advance together; a finished row is dropped and costs nothing from then on.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.batch import BOS, EOS
from regard.decode.hypothesis import Hypothesis, check_log_probs, length_limits
from regard.models.base import Model


@torch.inference_mode()
def greedy(model: Model, src: Tensor, mask: Tensor) -> list[Hypothesis]:
    """One hypothesis per source sentence: src (B, S) ids with EOS, mask (B, S)."""
    limits = length_limits(mask, model.max_positions)
    ids: list[list[int]] = [[] for _ in limits]
    log_probs: list[list[float]] = [[] for _ in limits]
    live = list(range(len(limits)))  # the sentence of each row that is not finished
    state = model.start(model.encode(src, mask))
    token = torch.full((len(live),), BOS, device=src.device)
    while live:
        step = model.step(token, state)
        best, token = step.log_probs.max(dim=-1)  # (N,), (N,)
        best_log_probs = best.tolist()
        check_log_probs(best_log_probs)
        unfinished = []
        for row, (sentence, token_id, log_prob) in enumerate(zip(live, token.tolist(), best_log_probs, strict=True)):
            log_probs[sentence].append(log_prob)
            if token_id != EOS:
                ids[sentence].append(token_id)
                if len(ids[sentence]) < limits[sentence]:
                    unfinished.append(row)
        state = step.state
        if len(unfinished) < len(live):
            rows = torch.tensor(unfinished, device=src.device, dtype=torch.long)
            live, token = [live[r] for r in unfinished], token[rows]
            if unfinished:
                state = state.select(rows)
    return [Hypothesis(tuple(i), tuple(p), sum(p)) for i, p in zip(ids, log_probs, strict=True)]
