"""float32 or bfloat16, where a recipe leaves it open: bfloat16 on a GPU, on a CPU whichever is measured to be faster.

Processors with matrix units for bfloat16 (AMX, AVX512-BF16) multiply in it several times as fast; on others it is far
slower. So both are tried on a part of a batch before training begins, with weights and dice as if nothing had happened.
The choice is kept with the run's progress: it goes on as it began, wherever it goes on. A small model, or a short run,
has nothing to gain and stays with float32.
"""

from __future__ import annotations

import time

import torch

from regard.training.cost import Cost
from regard.training.dry_run import untouched
from regard.training.job import Job
from regard.training.memory import in_parts
from regard.training.update import Update

POSITIONS = 2048  # of the part of a batch that is tried, both sides together
LEAST_FLOPS = 1e10  # of a batch: one that takes less has nothing to gain, and the choice should not hang on chance
LEAST_STEPS = 100
LEAST_GAIN = 1.15
TRIES = 3  # of which the first only warms


def settle_precision(job: Job) -> None:
    """Sets `autocast` where it has been left to a measurement."""
    wanted, device = job.recipe.train.precision, job.bundle.model.device.type
    if wanted != "auto" or device != "cpu":
        return
    if job.progress.half is None:
        job.progress.half = job.progress.step == 0 and worth_trying(job) and faster_in_half(job)
    job.autocast = torch.autocast("cpu", torch.bfloat16, enabled=job.progress.half)


def worth_trying(job: Job) -> bool:
    recipe = job.recipe
    able = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    alone = job.world.size == 1  # processes that measure for themselves would disagree
    if not able or not alone or recipe.train.steps < LEAST_STEPS or recipe.reward.has_rewards:
        return False
    return Cost(job.bundle.model).of(job.batches.largest()) >= LEAST_FLOPS


def faster_in_half(job: Job) -> bool:
    update = Update(job)
    flat = job.batches.largest()
    part = in_parts(flat.pad(), POSITIONS)[0]
    before = job.autocast, job.bundle.model.training
    job.bundle.model.train()

    def seconds(half: bool) -> float:
        job.autocast = torch.autocast("cpu", torch.bfloat16, enabled=half)
        began = time.perf_counter()
        update.learn_from([part], 1 / flat.target_tokens)
        update.forget()
        return time.perf_counter() - began

    try:
        with untouched(job):
            pairs = [(seconds(False), seconds(True)) for _ in range(TRIES)][1:]
    finally:
        job.autocast = before[0]
        job.bundle.model.train(before[1])
    wide, half = min(a for a, _ in pairs), min(b for _, b in pairs)
    return wide > LEAST_GAIN * half
