"""Verifies that a run's last checkpoint is reproducible: repeats the steps since the previous checkpoint.

They are repeated in a temporary folder from the weights, moments, random state and position of the previous checkpoint,
and must give the same result: on a CPU to the last bit, with as many threads as then. On a GPU the order of some sums
varies, so that a run may differ there without a fault. The run itself is only read. What happened before the previous
checkpoint, and the quality of the data, are not checked.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from regard.data.splits import Splits, find_splits
from regard.errors import RunError
from regard.recipe.read import recipe_from_toml
from regard.training.checkpoint import CURRENT, PREVIOUS, Checkpoint, Progress, load_checkpoint
from regard.training.folder import RunFolder, StopRequest
from regard.training.job import restore
from regard.training.log import RunLog, read_rows
from regard.training.loop import train_loop

NOT_COMPARED = ("seconds",)  # fields of the progress that depend on the machine


@dataclass(frozen=True)
class Verdict:
    good: bool
    line: str


class StopAt(StopRequest):
    """A stop request that makes the loop save and stop after a given step."""

    def __init__(self, progress: Progress, step: int) -> None:
        super().__init__()
        self._progress, self._step = progress, step

    @property
    def reason(self) -> str | None:
        return "the last step to verify" if self._progress.step >= self._step else None

    @reason.setter
    def reason(self, why: str | None) -> None:
        """Ignored: Ctrl-C does not stop the loop in order, but ends a verification at once."""


def verify(run: Path, console: Console | None = None) -> Verdict:
    console = console or Console(stderr=True)
    folder = RunFolder(run)
    if not all((run / name).exists() for name in (CURRENT, PREVIOUS)):
        raise RunError(
            f"{run} has only one checkpoint, or none; what lies between two is verified (train.save_every decides "
            "how often a run saves one)"
        )
    folder.check_unlocked()
    last, before = load_checkpoint(run), load_checkpoint(run, previous=True)
    first, step = before.progress.step + 1, last.progress.step
    if step < first:
        raise RunError(
            f"the last checkpoint of {run} (step {step}) is not after the one before it (step {first - 1}); "
            f"continue the run first: regard resume {run}"
        )
    if last.progress.processes > 1:
        raise RunError(f"{run} was trained by {last.progress.processes} processes; only those of one are verified")
    recipe = recipe_from_toml(last.recipe)
    if recipe.train.schedule_by == "budget" and recipe.train.minutes is not None:
        raise RunError(
            f"the learning rate of {run} followed the clock (train.schedule_by budget with train.minutes), so its "
            "steps cannot be repeated exactly; runs by steps or flops can be verified"
        )
    splits = find_splits(recipe.data)
    if splits.fingerprint() != last.data:
        return Verdict(False, f"not verified: the training data is not what {run} was trained with")
    logs = read_trajectories(folder.metrics)
    console.print(f"training steps {first:,} to {step:,} of {run} again", highlight=False, markup=False)
    with tempfile.TemporaryDirectory() as place, torch_threads(last.progress.threads):
        repeated = replay(folder, before, last, splits, Path(place), console)
        repeated_logs = read_trajectories(Path(place) / folder.metrics.name)
    return verdict_of(run, first, last, repeated, logs, repeated_logs)


def replay(
    folder: RunFolder, before: Checkpoint, last: Checkpoint, splits: Splits, place: Path, console: Console
) -> Checkpoint:
    """Repeats the steps in the folder `place`, with the recipe of the last checkpoint; returns the new checkpoint."""
    recipe = recipe_from_toml(last.recipe)
    recipe = dataclasses.replace(recipe, train=dataclasses.replace(recipe.train, minutes=None))
    job = restore(recipe, folder, before, splits, Console(quiet=True))
    job.folder = RunFolder(place)
    stop = StopAt(job.progress, last.progress.step)
    shown = dataclasses.replace(job.config, steps=last.progress.step)
    with RunLog(job.folder, console, shown, job.progress) as log:
        train_loop(job, log, stop)
    return load_checkpoint(place)


def verdict_of(
    run: Path, first: int, last: Checkpoint, repeated: Checkpoint, logs: dict[int, str], repeated_logs: dict[int, str]
) -> Verdict:
    steps = f"steps {first:,} to {last.progress.step:,} of {run}"
    known = [step for step in sorted(repeated_logs) if step in logs]
    parted = next((step for step in known if logs[step] != repeated_logs[step]), None)
    if parted is not None:
        since = max((step for step in known if step < parted), default=first - 1) + 1
        where = f"at step {parted:,}" if since == parted else f"between steps {since:,} and {parted:,}"
        return Verdict(False, f"not verified: trained once more, {steps} depart {where} (loss or gradient differs)")
    tensors = [n for n in last.tensors if n not in repeated.tensors or not same(last.tensors[n], repeated.tensors[n])]
    names = [field.name for field in dataclasses.fields(Progress) if field.name not in NOT_COMPARED]
    numbers = [name for name in names if getattr(last.progress, name) != getattr(repeated.progress, name)]
    if tensors or numbers:
        what = f"another checkpoint than it has ({', '.join([*tensors[:2], *numbers[:2]])} differ)"
        return Verdict(False, f"not verified: trained once more, {steps} lead to {what}")
    count = len(last.tensors)
    return Verdict(True, f"verified: trained once more, {steps} give the same losses and {count} tensors, bit for bit")


def same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and torch.equal(a, b)


def read_trajectories(metrics: Path) -> dict[int, str]:
    """Step → trajectory, from a run's log."""
    rows = read_rows(metrics) if metrics.exists() else []
    return {row["step"]: row["trajectory"] for row in rows if row["kind"] == "train" and "trajectory" in row}


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Sets torch's number of threads, on which the rounding of sums depends; restored afterwards."""
    now = torch.get_num_threads()
    torch.set_num_threads(count or now)
    try:
        yield
    finally:
        torch.set_num_threads(now)
