"""The largest batch, tried before the first update, so that a run that needs more memory than there is says so at once.

A trial leaves no trace: random numbers, gradients and progress are put back (`untouched`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from regard.training.cost import peak_bytes
from regard.training.job import Job
from regard.training.memory import in_parts
from regard.training.update import Update


def foresee(update: Update, say: Callable[[str], None]) -> None:
    """Try the largest batch before the first update, and say what memory is planned for."""
    job, device = update.job, update.job.bundle.model.device
    if job.recipe.reward.has_rewards:  # its translations would be drawn for nothing
        return
    flat = job.batches.largest()
    batch = flat.pad().to(device)
    moments = 0 if job.optimizer.state else 2 * sum(p.numel() * p.element_size() for p in update.parameters)
    kept = torch.empty(moments, dtype=torch.uint8, device=device) if device.type == "cuda" else None
    with untouched(job):
        update.learn_from([batch], 1 / flat.target_tokens)
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
