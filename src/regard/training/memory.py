"""Batches that do not fit into memory: split into parts.

Losses are sums, so the gradients of two halves add up to the batch's own. Splitting costs time and changes nothing but
the random numbers (dropout draws other masks) and, in a mixture of experts, the balance loss, which is per part. A pass
that fails leaves some of its gradients behind, so the whole update is started again. The size of a part is kept with
the run's progress: a resumed run splits as before. A process that Linux kills for lack of memory cannot be helped here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from regard.batch import Batch
from regard.device import is_out_of_memory, save_random_state
from regard.errors import RunError
from regard.training.checkpoint import Progress


def positions(batch: Batch) -> int:
    """What the memory of a batch roughly grows with: positions of both sides, padding included."""
    return batch.src.numel() + batch.tgt_in.numel()


def in_parts(batch: Batch, room: int | None) -> list[Batch]:
    """The rows halved until each part has at most `room` positions or is a single row."""
    if room is None or positions(batch) <= room or len(batch) == 1:
        return [batch]
    half = (len(batch) + 1) // 2
    return [*in_parts(batch.rows(slice(None, half)), room), *in_parts(batch.rows(slice(half, None)), room)]


def learn_within_memory(
    learn: Callable[[Batch], Tensor], batches: Sequence[Batch], zero_grad: Callable[[], None], progress: Progress
) -> Tensor:
    """The sum of `learn`, which adds to gradients, over all batches, split where memory requires it."""
    restore_random = save_random_state(batches[0].src.device)
    while True:
        failed, losses = None, []
        for part in [part for batch in batches for part in in_parts(batch, progress.room)]:
            try:
                losses.append(learn(part))
            except (RuntimeError, MemoryError) as problem:
                if not is_out_of_memory(problem):
                    raise
                failed, reason = part, " ".join(str(problem).split())[:150]
                break  # the exception holds the tensors of the failed pass; they are freed when it is gone
        if failed is None:
            return torch.stack(losses).sum()
        losses.clear()
        zero_grad()
        if len(failed) == 1:
            raise RunError(
                f"out of memory even with one row of {failed.src.shape[1]} and {failed.tgt_in.shape[1]} tokens; use a "
                f"smaller model (model.preset) or shorter sentences (data.max_length) ({reason})"
            )
        half = (len(failed) + 1) // 2
        progress.room = positions(failed.rows(slice(None, half)))
        restore_random()  # as if the room had been known from the start
        if failed.src.is_cuda:
            torch.cuda.empty_cache()
