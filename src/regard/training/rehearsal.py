"""Timing of a run's updates before the run: for `regard bench train` and for the doctor's prediction.

    share of peak = operations by the model's own formula ÷ seconds ÷ FLOP/s of the device

Updates are timed as in training: the host does not wait for a GPU within a window of updates. Operations are those of
tokens; padding is not counted, so it shows as a smaller share. `regard bench train` then times the parts of an update,
waiting for the device after each. Nothing is evaluated, saved or written.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from regard.batch import Batch
from regard.recipe.recipe import Recipe
from regard.training.cost import FlopCounter, Time, now, peak_bytes, peak_flops, since
from regard.training.feed import PreparedBatch, feed
from regard.training.folder import RunFolder
from regard.training.job import Job, prepare
from regard.training.optim import set_rate
from regard.training.regularize import forward_passes
from regard.training.schedule import learning_rate
from regard.training.update import split_batch

WARM_UP = 3  # updates that are not counted: workspaces, moments, compilation, a recorded graph
WINDOW = 10  # updates on a GPU between two readings of the clock
WAITING, FORWARD, BACKWARD, BOTH, OPTIMIZER = (
    "waiting for data",
    "forward",
    "backward",
    "forward and backward, recorded",
    "clipping and optimizer",
)

Shape = tuple[int, int, int]  # rows, source tokens and target tokens of a batch


class Trial:
    """The parts of a run without its loop: updates change the weights, and nothing is saved."""

    def __init__(self, job: Job) -> None:
        model, data = job.bundle.model, job.data
        model.train()
        self.job = job
        self.cost = FlopCounter(model, forward_passes(job.config))
        self.batches = feed(data.batches, self.cost, model.device, data.guide)
        self.window = WINDOW if model.device.type == "cuda" else 1

    def close(self) -> None:
        self.batches.close()

    def micro_batches(self) -> list[PreparedBatch]:
        return [next(self.batches) for _ in range(self.job.config.accumulate)]

    def learn(self, updates: int) -> tuple[list[UpdateSize], Time]:
        """Makes updates; returns the size of each, and their total time."""
        job, learnt, began = self.job, [], now()
        for _ in range(updates):
            set_rate(job.update.optimizer, learning_rate(1, job.config))
            micro_batches = self.micro_batches()
            loss, norm = job.update(micro_batches)
            job.average.after_update(1)
            learnt.append(UpdateSize.of(micro_batches))
        float(loss), float(norm)  # waits for a GPU
        return learnt, since(began)

    def wait(self) -> None:
        if self.job.bundle.model.device.type == "cuda":
            torch.cuda.synchronize()


@dataclass(frozen=True)
class UpdateSize:
    """The size of an update's batches, stored because the batches themselves would count as the run's memory."""

    flops: float
    tokens: int
    filled: torch.Tensor  # share of positions that hold a token; a tensor, so that nothing waits for a GPU
    shapes: frozenset[Shape]

    @classmethod
    def of(cls, micro_batches: list[PreparedBatch]) -> UpdateSize:
        masks = [mask for prepared in micro_batches for mask in (prepared.batch.src_mask, prepared.batch.tgt_mask)]
        filled = torch.stack([mask.sum() for mask in masks]).sum() / sum(mask.numel() for mask in masks)
        shapes = frozenset(shape_of(prepared.batch) for prepared in micro_batches)
        return cls(
            sum(prepared.flops for prepared in micro_batches),
            sum(prepared.tokens for prepared in micro_batches),
            filled,
            shapes,
        )


@dataclass(frozen=True)
class UpdateTimes:
    warm_up: list[Time]  # of each update that is not counted
    count: int
    mean: Time
    noise: float  # standard error of the mean, as a share of it
    flops: float  # mean of an update
    tokens: float  # target tokens, mean of an update
    filled: float  # share of positions that hold a token
    shapes: set[Shape]


def time_updates(trial: Trial, most: int, enough: Callable[[int, float], bool]) -> UpdateTimes:
    """Times at most `most` updates, until `enough` is true for their number and seconds."""
    warm_up = [trial.learn(1)[1] for _ in range(WARM_UP)]
    learnt: list[UpdateSize] = []
    taken: list[Time] = []
    rates: list[float] = []  # seconds per operation of each window
    while len(learnt) < most and not enough(len(learnt), sum(took.wall for took in taken)):
        some, took = trial.learn(min(trial.window, most - len(learnt)))
        learnt += some
        taken.append(took)
        rates.append(took.wall / sum(one.flops for one in some))
    return UpdateTimes(
        warm_up=warm_up,
        count=len(learnt),
        mean=sum(taken, Time()) * (1 / len(learnt)),
        noise=statistics.stdev(rates) / statistics.mean(rates) / len(rates) ** 0.5 if len(rates) > 1 else 1.0,
        flops=statistics.mean(one.flops for one in learnt),
        tokens=statistics.mean(one.tokens for one in learnt),
        filled=statistics.mean(float(one.filled) for one in learnt),
        shapes={shape for one in learnt for shape in one.shapes},
    )


def shape_of(batch: Batch) -> Shape:
    return len(batch), batch.src.shape[1], batch.tgt_in.shape[1]


def device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else str(device)


def uses_bfloat16(job: Job) -> bool:
    """Whether a job computes in bfloat16."""
    return bool(job.update.loss.autocast._enabled)  # torch has no public name for it


# ── regard bench train ──────────────────────────────────────────────────────────────────────────────────────────────


def measure(recipe: Recipe, updates: int, console: Console) -> dict[str, Any]:
    """Measures the speed of training with a recipe; returns JSON values."""
    with closing(Trial(prepare(recipe, RunFolder(Path()), console))) as trial:  # nothing is written to the folder
        job, model = trial.job, trial.job.bundle.model
        times = time_updates(trial, updates, lambda count, seconds: False)
        parts = time_parts(trial, updates)
    seconds, half = times.mean.wall, uses_bfloat16(job)
    peak, source = peak_flops(model.device, torch.bfloat16 if half else torch.float32)
    share = times.flops / seconds / peak
    return {
        "device": device_name(model.device),
        "precision": "bfloat16" if half else "float32",
        "threads": torch.get_num_threads() if model.device.type == "cpu" else None,
        "architecture": job.bundle.architecture,
        "parameters": model.parameter_count(),
        "updates": times.count,  # timed
        "target_tokens": times.tokens,  # of an update
        "seconds": seconds,  # of an update
        "tokens_per_second": times.tokens / seconds,  # target tokens, padding not counted
        "flops_per_second": times.flops / seconds,
        "peak_flops": peak,
        "peak_from": source,
        "peak_bytes": peak_bytes(model.device),
        "filled": times.filled,  # share of positions that hold a token, both sides
        "parts": parts,  # seconds of an update
        "bound": what_bounds(parts, share, times.filled),
        "share_of_peak": share,
    }


def time_parts(trial: Trial, updates: int) -> dict[str, float]:
    """Returns the seconds of an update by part. A CUDA graph and a pass with rewards are timed as a whole."""
    update, progress = trial.job.update, trial.job.progress
    whole = update.cuda_graph is not None or update.loss.reward.has_rewards
    taken: dict[str, float] = {}
    at = time.perf_counter()

    def stop(part: str) -> None:
        """Adds the time since the last stop to `part`."""
        nonlocal at
        trial.wait()
        before, at = at, time.perf_counter()
        taken[part] = taken.get(part, 0.0) + at - before

    for _ in range(updates):
        micro_batches = trial.micro_batches()
        stop(WAITING)
        scale = 1 / sum(prepared.tokens for prepared in micro_batches)
        for batch in (prepared.batch for prepared in micro_batches):
            if whole:
                update.accumulate_gradients([batch], scale)
                stop(BOTH)
                continue
            for part in split_batch(batch, progress.room):
                with update.compilation():
                    loss = update.loss(part, update.probability) * scale
                stop(FORWARD)
                loss.backward()
                stop(BACKWARD)
        update.apply()
        stop(OPTIMIZER)
    return {name: seconds / updates for name, seconds in taken.items()}


def what_bounds(parts: dict[str, float], share: float, filled: float) -> str:
    """Describes what limits the speed most."""
    total = sum(parts.values())
    if parts[WAITING] > 0.2 * total:
        return f"data: {parts[WAITING] / total:.0%} of the time is spent waiting for batches"
    if parts[OPTIMIZER] > 0.3 * total:
        return "the optimizer: updates are small; larger train.batch_tokens or train.accumulate spread its cost"
    if share > 0.5:
        return "arithmetic: matrix products run near the peak of the device"
    if filled < 0.7:
        return f"padding: only {filled:.0%} of the positions hold a token; larger train.batch_tokens fill better"
    return "memory and small operations between the matrix products; a larger model or batch uses the device better"


TEXT = """model     {architecture}, {parameters:,} parameters, {precision} on {device}{of_threads}
speed     {tokens_per_second:,.0f} target tokens/s: {target_tokens:,.0f} in {ms:,.1f} ms an update (mean of {updates})
work      {work}FLOP/s, {share_of_peak:.1%} of {peak}FLOP/s ({peak_from})
memory    {memory}
batches   {filled:.1%} filled
{rows}
bound by  {bound}"""


def as_text(found: dict[str, Any]) -> str:
    threads, peak_memory, parts = found["threads"], found["peak_bytes"], found["parts"]
    width, total = max(map(len, parts)), sum(parts.values())
    rows = [f"{name:{width}} {1000 * taken:9,.1f} ms {taken / total:6.1%}" for name, taken in parts.items()]
    return TEXT.format(
        **found,
        of_threads=f", {threads} thread{'s' * (threads != 1)}" if threads else "",
        ms=1000 * found["seconds"],
        work=_scaled(found["flops_per_second"]),
        peak=_scaled(found["peak_flops"]),
        memory=f"{peak_memory / 2**30:.2f} GiB at its peak" if peak_memory is not None else "not known here",
        rows="parts     " + "\n          ".join(rows),
    )


def _scaled(number: float) -> str:
    """
    >>> _scaled(2.5e12), _scaled(3e9)
    ('2.5 T', '3.0 G')
    """
    return f"{number / 1e12:.1f} T" if number >= 1e12 else f"{number / 1e9:.1f} G"
