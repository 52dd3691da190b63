"""float32 or bfloat16, where a recipe leaves it open: bfloat16 on a GPU, on a CPU whichever is measured to be faster.

Processors with matrix units for bfloat16 (AMX, AVX512-BF16) multiply in it several times as fast; others are far
slower. So both are timed on a part of a batch before training, with weights and random state restored afterwards. The
choice is kept with the run's progress, so that a resumed run keeps it on any machine. Small models and short runs stay
with float32, where there is nothing to gain.
"""

from __future__ import annotations

import time

import torch

from regard.training.cost import Cost
from regard.training.dry_run import unchanged
from regard.training.material import Material
from regard.training.memory import in_parts
from regard.training.update import Update

POSITIONS = 2048  # of the part of a batch that is timed, both sides together
LEAST_FLOPS = 1e10  # of a batch: below, there is nothing to gain, and noise would decide
LEAST_STEPS = 100
LEAST_GAIN = 1.15
TRIALS = 3  # the first is not counted


def autocast(device: str, half: bool) -> torch.autocast:
    return torch.autocast(device, torch.bfloat16, enabled=half)


def settle_precision(update: Update, material: Material) -> None:
    """Set the loss's `autocast` where it has been left to a measurement."""
    loss = update.loss
    if loss.config.precision != "auto" or loss.device.type != "cpu":
        return
    if loss.progress.half is None:
        new = loss.progress.step == 0
        loss.progress.half = new and worth_trying(update, material) and faster_in_half(update, material)
    loss.autocast = autocast("cpu", loss.progress.half)


def worth_trying(update: Update, material: Material) -> bool:
    loss = update.loss
    supported = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    alone = update.world.size == 1  # each of several processes would measure something else
    if not supported or not alone or loss.config.steps < LEAST_STEPS or loss.reward.has_rewards:
        return False
    return Cost(loss.model).of(material.batches.largest()) >= LEAST_FLOPS


def faster_in_half(update: Update, material: Material) -> bool:
    loss = update.loss
    largest = material.largest()
    part = in_parts(largest, POSITIONS)[0]
    before = loss.autocast, loss.model.training
    loss.model.train()

    def seconds(half: bool) -> float:
        loss.autocast = autocast("cpu", half)
        began = time.perf_counter()
        update.learn_from([part], 1 / largest.target_tokens)
        update.zero_grad()
        return time.perf_counter() - began

    try:
        with unchanged(loss):
            pairs = [(seconds(False), seconds(True)) for _ in range(TRIALS)][1:]
    finally:
        loss.autocast = before[0]
        loss.model.train(before[1])
    full, half = min(a for a, _ in pairs), min(b for _, b in pairs)
    return full > LEAST_GAIN * half
