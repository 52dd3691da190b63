"""Batches that memory has no room for: learnt from in parts.

Losses are sums, so the gradients of two halves add up to the batch's own: splitting costs time and changes nothing but
the dice (dropout draws other masks) and, in a mixture of experts, the balance loss, which is of each part. A pass that
fails leaves half of its gradients behind; so the whole update is begun anew. How large a part may be is kept with the
run's progress: a run that goes on splits as it did before. A process that Linux itself kills for want of memory cannot
be helped here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from regard.batch import Batch
from regard.errors import RunError
from regard.training.checkpoint import Progress


def is_out_of_memory(problem: BaseException) -> bool:
    """Torch has a type of its own for a GPU; on a CPU only the words tell."""
    if isinstance(problem, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(problem, RuntimeError) and "can't allocate memory" in str(problem)


def positions(batch: Batch) -> int:
    """What a batch's memory grows with, about: positions of both sides, padding included."""
    return batch.src.numel() + batch.tgt_in.numel()


def in_parts(batch: Batch, room: int | None) -> list[Batch]:
    """Halves of halves of the rows, until each part has at most `room` positions or is a single row."""
    if room is None or positions(batch) <= room or len(batch) == 1:
        return [batch]
    half = (len(batch) + 1) // 2
    return [*in_parts(batch.rows(slice(None, half)), room), *in_parts(batch.rows(slice(half, None)), room)]


def learn_within_memory(
    learn: Callable[[Batch], Tensor], batches: Sequence[Batch], forget: Callable[[], None], progress: Progress
) -> Tensor:
    """The sum of `learn`, which adds to gradients, over all batches, those without room in parts. `forget` drops the
    gradients."""
    dice = torch.get_rng_state()
    while True:
        failed, losses = None, []
        for part in [part for batch in batches for part in in_parts(batch, progress.room)]:
            try:
                losses.append(learn(part))
            except (RuntimeError, MemoryError) as problem:
                if not is_out_of_memory(problem):
                    raise
                failed, said = part, " ".join(str(problem).split())[:150]
                break  # what the failed pass held is freed once the problem is out of sight
        if failed is None:
            return torch.stack(losses).sum()
        losses.clear()
        forget()
        if len(failed) == 1:
            raise RunError(
                f"out of memory even with one row of {failed.src.shape[1]} and {failed.tgt_in.shape[1]} tokens; use a "
                f"smaller model (--preset tiny) or shorter sentences (--max-length) ({said})"
            )
        half = (len(failed) + 1) // 2
        progress.room = positions(failed.rows(slice(None, half)))
        torch.set_rng_state(dice)  # as if it had been known from the start
        if failed.src.is_cuda:
            torch.cuda.empty_cache()
