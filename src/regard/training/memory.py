"""Batches that memory has no room for: tried before training begins, and learnt from in parts if need be.

Losses are sums, so the gradients of two halves add up to the batch's own: splitting costs time and changes nothing but
the dice (dropout draws other masks) and, in a mixture of experts, the balance loss, which is of each part. A pass that
fails leaves half of its gradients behind; so the whole update is begun anew. How large a part may be is kept with the
run's progress: a run that goes on splits as it did before. A process that Linux itself kills for want of memory cannot
be helped here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.batch import Batch
from regard.errors import RunError
from regard.training.checkpoint import Progress
from regard.training.cost import peak_bytes

if TYPE_CHECKING:
    from regard.training.loop import Job
    from regard.training.update import Update


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


def foresee(update: Update, say: Callable[[str], None]) -> None:
    """Try the largest batch before the first update, and say what memory is planned for."""
    job, device = update.job, update.job.bundle.model.device
    if job.recipe.reward.has_rewards:  # its translations would be drawn for nothing
        return
    packed = job.batches.largest()
    batch = packed.pad().to(device)
    moments = 0 if job.optimizer.state else 2 * sum(p.numel() * p.element_size() for p in update.parameters)
    kept = torch.empty(moments, dtype=torch.uint8, device=device) if device.type == "cuda" else None
    with untouched(job):
        update.learn_from([batch], 1 / packed.target_tokens)
        update.forget()
    peak = peak_bytes(device)
    del kept
    if peak is not None:
        peak += moments if device.type != "cuda" else 0
        shape = f"{len(batch):,} rows of {batch.src.shape[1]} and {batch.tgt_in.shape[1]} tokens"
        say(f"memory      up to {peak / 2**30:,.2f} GiB, at the largest batch of {shape}")
    if job.progress.room is not None:
        parts = len(in_parts(batch, job.progress.room))
        say(f"memory      the largest batch does not fit and is learnt from in {parts} parts, with the same gradient")


@contextmanager
def untouched(job: Job) -> Iterator[None]:
    """Random numbers and progress, but for the room there is, stay as they were."""
    device, before = job.bundle.model.device, dataclasses.replace(job.progress)
    dice = torch.get_rng_state()
    on_gpu = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    try:
        yield
    finally:
        torch.set_rng_state(dice)
        if on_gpu is not None:
            torch.cuda.set_rng_state(on_gpu, device)
        for field in dataclasses.fields(before):
            if field.name != "room":
                setattr(job.progress, field.name, getattr(before, field.name))
