"""Measurements before the first update: the memory of the largest batch, and whether bfloat16 is faster on a CPU.

The largest batch comes first, so that a run that lacks memory fails at once. Where a recipe leaves the precision open,
it is bfloat16 on a GPU; on a CPU both are timed on a part of a batch: processors with matrix units for bfloat16 (AMX,
AVX512-BF16) multiply in it several times as fast, others are far slower. The choice is kept with the run's progress, so
that a resumed run keeps it on any machine. Small models and short runs use float32, where there is nothing to gain.

A measurement changes nothing: random state, gradients and progress are restored (`preserve_state`).
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from regard.device import save_random_state
from regard.training.cost import FlopCounter, peak_bytes
from regard.training.training_data import TrainingData
from regard.training.update import BatchLoss, Update, split_batch

POSITIONS = 2048  # size of the part of a batch that is timed, both sides together
LEAST_FLOPS = 1e10  # of a batch; smaller ones gain nothing, and the measurement would be noise
LEAST_STEPS = 100
LEAST_GAIN = 1.15
TRIALS = 3  # the first is not counted


@contextmanager
def preserve_state(loss: BatchLoss) -> Iterator[None]:
    """Restores random state and progress afterwards, except the size of parts that fit into memory (`room`)."""
    restore_random, before = save_random_state(loss.device), dataclasses.replace(loss.progress)
    try:
        yield
    finally:
        restore_random()
        for field in dataclasses.fields(before):
            if field.name != "room":
                setattr(loss.progress, field.name, getattr(before, field.name))


def try_largest_batch(update: Update, data: TrainingData, log: Callable[[str], None]) -> None:
    """Learns from the largest batch once, and logs how much memory it takes."""
    loss, device = update.loss, update.loss.device
    if loss.reward.has_rewards:  # sampling would take long and is not needed
        return
    batch = data.largest().to(device)
    moments = 0 if update.optimizer.state else 2 * sum(p.numel() * p.element_size() for p in update.parameters)
    reserved = torch.empty(moments, dtype=torch.uint8, device=device) if device.type == "cuda" else None
    with preserve_state(loss):
        update.accumulate_gradients([batch], 1 / batch.target_tokens)
        update.zero_grad()
    peak = peak_bytes(device)
    del reserved
    if peak is not None:
        peak += moments if device.type != "cuda" else 0
        shape = f"{len(batch):,} rows of {batch.src.shape[1]} and {batch.tgt_in.shape[1]} tokens"
        log(f"memory      up to {peak / 2**30:,.2f} GiB, at the largest batch of {shape}")
    if loss.progress.room is not None:
        parts = len(split_batch(batch, loss.progress.room))
        log(f"memory      the largest batch does not fit and is split into {parts} parts, with the same gradient")


# ── float32 or bfloat16 ─────────────────────────────────────────────────────────────────────────────────────────────


def autocast(device: str, bfloat16: bool) -> torch.autocast:
    return torch.autocast(device, torch.bfloat16, enabled=bfloat16)


def choose_precision(update: Update, data: TrainingData) -> None:
    """Sets the loss's `autocast` by a measurement, if the recipe leaves the precision open."""
    loss = update.loss
    if loss.config.precision != "auto" or loss.device.type != "cpu":
        return
    if loss.progress.half is None:
        new = loss.progress.step == 0
        loss.progress.half = new and bfloat16_may_be_faster(update, data) and bfloat16_is_faster(update, data)
    loss.autocast = autocast("cpu", loss.progress.half)


def bfloat16_may_be_faster(update: Update, data: TrainingData) -> bool:
    loss = update.loss
    supported = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    single = update.group.size == 1  # several processes would measure different times
    if not supported or not single or loss.config.steps < LEAST_STEPS or loss.reward.has_rewards:
        return False
    return FlopCounter(loss.model).of_batch(data.batches.largest()) >= LEAST_FLOPS


def bfloat16_is_faster(update: Update, data: TrainingData) -> bool:
    loss = update.loss
    largest = data.largest()
    part = split_batch(largest, POSITIONS)[0]
    before = loss.autocast, loss.model.training
    loss.model.train()

    def seconds(bfloat16: bool) -> float:
        loss.autocast = autocast("cpu", bfloat16)
        began = time.perf_counter()
        update.accumulate_gradients([part], 1 / largest.target_tokens)
        update.zero_grad()
        return time.perf_counter() - began

    try:
        with preserve_state(loss):
            pairs = [(seconds(False), seconds(True)) for _ in range(TRIALS)][1:]
    finally:
        loss.autocast = before[0]
        loss.model.train(before[1])
    return min(full for full, _ in pairs) > LEAST_GAIN * min(half for _, half in pairs)
