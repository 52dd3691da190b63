"""What training costs on this machine, measured before a long run: speed, memory, and where an update's time goes.

    share of peak = operations by the model's own formula ÷ seconds ÷ what the device can do

Some updates are timed as training does them, then some more with a clock at each part. Operations are those of real
tokens; padding is not counted, so it shows as a smaller share. The peak is a datasheet's for tensor cores where one is
known here, else what a large matrix product reaches on the spot. Nothing is evaluated, saved or written to a run.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from regard.recipe.recipe import Recipe
from regard.training.cost import Cost, peak_bytes
from regard.training.feed import Ready, feed
from regard.training.folder import RunFolder
from regard.training.memory import in_parts
from regard.training.optim import set_rate
from regard.training.regularise import forward_passes
from regard.training.run import prepare
from regard.training.schedule import learning_rate
from regard.training.update import Update, batch_loss

WARM = 3  # updates before the clock starts: workspaces, moments, compilation
DATASHEET = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "L4": 121e12}  # dense bfloat16, FLOP/s
WAITING, FORWARD, BACKWARD, BOTH, OPTIMIZER = (
    "waiting for data",
    "forward",
    "backward",
    "forward and backward, recorded",
    "clipping and optimizer",
)


@dataclass(frozen=True)
class Profile:
    device: str
    precision: str
    threads: int | None  # of a CPU
    architecture: str
    parameters: int
    updates: int  # timed
    target_tokens: float  # of an update
    seconds: float  # of an update
    tokens_per_second: float  # target tokens, padding not counted
    flops_per_second: float
    peak_flops: float
    peak_from: str
    peak_bytes: int | None
    filled: float  # share of positions that hold a token, both sides
    parts: dict[str, float]  # seconds of an update
    bound: str

    @property
    def share_of_peak(self) -> float:
        return self.flops_per_second / self.peak_flops

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "share_of_peak": self.share_of_peak}


class Bench:
    """A run's parts with no run around them: updates happen, and lead nowhere."""

    def __init__(self, recipe: Recipe, console: Console) -> None:
        self.job, _ = prepare(recipe, RunFolder(Path()), console)  # a folder that nothing is written to
        model = self.job.bundle.model
        model.train()
        set_rate(self.job.optimizer, learning_rate(1, recipe.train))
        self.update = Update(self.job)
        self.batches = feed(self.job.batches, Cost(model, forward_passes(recipe.train)), model.device, self.job.guide)

    def micro(self) -> list[Ready]:
        return [next(self.batches) for _ in range(self.job.recipe.train.accumulate)]

    def wait(self) -> None:
        if self.job.bundle.model.device.type == "cuda":
            torch.cuda.synchronize()


def measure(recipe: Recipe, updates: int, console: Console) -> Profile:
    bench = Bench(recipe, console)
    job, model = bench.job, bench.job.bundle.model
    for _ in range(WARM):
        bench.update(bench.micro())
    bench.wait()
    began, learnt = time.perf_counter(), []
    for _ in range(updates):
        micro = bench.micro()
        bench.update(micro)
        learnt += micro
    bench.wait()
    seconds = (time.perf_counter() - began) / updates
    parts = time_parts(bench, updates)
    tokens = sum(ready.tokens for ready in learnt) / updates
    flops = sum(ready.flops for ready in learnt) / updates / seconds
    half = job.autocast._enabled  # torch has no public name for it
    peak, source = peak_of(model.device, torch.bfloat16 if half else torch.float32)
    filled = float(fill(learnt))
    return Profile(
        device=torch.cuda.get_device_name() if model.device.type == "cuda" else str(model.device),
        precision="bfloat16" if half else "float32",
        threads=torch.get_num_threads() if model.device.type == "cpu" else None,
        architecture=job.recipe.architecture,
        parameters=model.parameter_count(),
        updates=updates,
        target_tokens=tokens,
        seconds=seconds,
        tokens_per_second=tokens / seconds,
        flops_per_second=flops,
        peak_flops=peak,
        peak_from=source,
        peak_bytes=peak_bytes(model.device),
        filled=filled,
        parts=parts,
        bound=what_bounds(parts, flops / peak, filled),
    )


def time_parts(bench: Bench, updates: int) -> dict[str, float]:
    """Seconds of an update by part, the device waited for after each. A recorded pass cannot be taken apart; and
    training for rewards is timed as its whole pass."""
    taken: dict[str, float] = {}
    clock = _Clock(bench, taken)
    whole = bench.update.captured is not None or bench.job.recipe.reward.has_rewards
    for _ in range(updates):
        clock.start()
        micro = bench.micro()
        clock.stop(WAITING)
        scale = 1 / sum(ready.tokens for ready in micro)
        for batch in (ready.batch for ready in micro):
            if whole:
                bench.update.learn_from([batch], scale)
                clock.stop(BOTH)
                continue
            for part in in_parts(batch, bench.job.progress.room):
                loss = batch_loss(bench.job, part, bench.update.chance) * scale
                clock.stop(FORWARD)
                loss.backward()
                clock.stop(BACKWARD)
        bench.update.apply()
        clock.stop(OPTIMIZER)
    return {name: seconds / updates for name, seconds in taken.items()}


class _Clock:
    def __init__(self, bench: Bench, taken: dict[str, float]) -> None:
        self.bench, self.taken = bench, taken

    def start(self) -> None:
        self.at = time.perf_counter()

    def stop(self, part: str) -> None:
        """What has passed since the last stop belongs to `part`."""
        self.bench.wait()
        now = time.perf_counter()
        self.taken[part] = self.taken.get(part, 0.0) + now - self.at
        self.at = now


def fill(learnt: list[Ready]) -> torch.Tensor:
    """The share of positions that hold a token; a tensor, so that nobody waits for it."""
    masks = [mask for ready in learnt for mask in (ready.batch.src_mask, ready.batch.tgt_mask)]
    return torch.stack([mask.sum() for mask in masks]).sum() / sum(mask.numel() for mask in masks)


def peak_of(device: torch.device, kind: torch.dtype) -> tuple[float, str]:
    """(FLOP/s, where the number is from)"""
    if device.type == "cuda" and kind == torch.bfloat16:
        words = torch.cuda.get_device_name(device).replace("-", " ").split()
        known = next((DATASHEET[word] for word in words if word in DATASHEET), None)
        if known is not None and "PCIe" not in words:
            return known, "datasheet"
    size = 8192 if device.type == "cuda" else 1024
    return measured_peak(device, kind, size), f"a product of {size} × {size} matrices"


def measured_peak(device: torch.device, kind: torch.dtype, size: int, seconds: float = 0.5) -> float:
    """The best of many tries: other work on the machine makes some of them slow."""
    a, b = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    best, end = float("inf"), time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        (a @ b)[0, 0].item()  # the number is waited for
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best


def what_bounds(parts: dict[str, float], share: float, filled: float) -> str:
    """The largest thing that could be better, in words."""
    total = sum(parts.values())
    if parts[WAITING] > 0.2 * total:
        return f"data: {parts[WAITING] / total:.0%} of the time is spent waiting for batches"
    if parts[OPTIMIZER] > 0.3 * total:
        return "the optimizer: updates are small; larger batches (--batch-tokens) or --accumulate spread its cost"
    if share > 0.5:
        return "arithmetic: matrix products run near what the device can do"
    if filled < 0.7:
        return f"padding: only {filled:.0%} of the positions hold a token; larger --batch-tokens fill better"
    return "memory and small operations between the matrix products; a larger model or batch uses the device better"


def as_text(found: Profile) -> str:
    threads = f", {found.threads} thread{'s' * (found.threads != 1)}" if found.threads else ""
    memory = f"{found.peak_bytes / 2**30:.2f} GiB at its peak" if found.peak_bytes is not None else "not known here"
    peak = f"{found.share_of_peak:.1%} of {_scaled(found.peak_flops)}FLOP/s ({found.peak_from})"
    total = sum(found.parts.values())
    width = max(len(name) for name in found.parts)
    where = f"{found.precision} on {found.device}{threads}"
    update = f"{found.target_tokens:,.0f} in {1000 * found.seconds:,.1f} ms an update (mean of {found.updates})"
    lines = [
        f"model     {found.architecture}, {found.parameters:,} parameters, {where}",
        f"speed     {found.tokens_per_second:,.0f} target tokens/s: {update}",
        f"work      {_scaled(found.flops_per_second)}FLOP/s, {peak}",
        f"memory    {memory}",
        f"batches   {found.filled:.1%} filled",
        *(
            f"{'parts' * (not number):9} {name:{width}} {1000 * seconds:9,.1f} ms {seconds / total:6.1%}"
            for number, (name, seconds) in enumerate(found.parts.items())
        ),
        f"bound by  {found.bound}",
    ]
    return "\n".join(lines)


def _scaled(number: float) -> str:
    """
    >>> _scaled(2.5e12), _scaled(3e9)
    ('2.5 T', '3.0 G')
    """
    return f"{number / 1e12:.1f} T" if number >= 1e12 else f"{number / 1e9:.1f} G"
