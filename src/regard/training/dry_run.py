"""The largest batch, tried before the first update, so that a run that lacks memory says so at once.

A trial changes nothing: random state, gradients and progress are restored (`unchanged`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from regard.device import save_random_state
from regard.training.batch_loss import BatchLoss
from regard.training.cost import peak_bytes
from regard.training.material import Material
from regard.training.memory import in_parts
from regard.training.update import Update


def try_largest_batch(update: Update, material: Material, say: Callable[[str], None]) -> None:
    """Learn from the largest batch once, and say how much memory it takes."""
    loss, device = update.loss, update.loss.device
    if loss.reward.has_rewards:  # its samples would take long and are of no use
        return
    batch = material.largest().to(device)
    moments = 0 if update.optimizer.state else 2 * sum(p.numel() * p.element_size() for p in update.parameters)
    reserved = torch.empty(moments, dtype=torch.uint8, device=device) if device.type == "cuda" else None
    with unchanged(loss):
        update.learn_from([batch], 1 / batch.target_tokens)
        update.zero_grad()
    peak = peak_bytes(device)
    del reserved
    if peak is not None:
        peak += moments if device.type != "cuda" else 0
        shape = f"{len(batch):,} rows of {batch.src.shape[1]} and {batch.tgt_in.shape[1]} tokens"
        say(f"memory      up to {peak / 2**30:,.2f} GiB, at the largest batch of {shape}")
    if loss.progress.room is not None:
        parts = len(in_parts(batch, loss.progress.room))
        say(f"memory      the largest batch does not fit and is split into {parts} parts, with the same gradient")


@contextmanager
def unchanged(loss: BatchLoss) -> Iterator[None]:
    """Random state and progress, except the room in memory, are as before afterwards."""
    restore_random, before = save_random_state(loss.device), dataclasses.replace(loss.progress)
    try:
        yield
    finally:
        restore_random()
        for field in dataclasses.fields(before):
            if field.name != "room":
                setattr(loss.progress, field.name, getattr(before, field.name))
