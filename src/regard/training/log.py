"""The log of a run: a progress bar in a terminal, plain lines elsewhere, `metrics.jsonl` and TensorBoard.

`metrics.jsonl` has one object per line, with "step" and "kind": "train" every `log_every` updates, "dev" per
evaluation. When a run is resumed, the lines past the checkpoint are removed, so that the file is that of an
uninterrupted run.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from regard.files import write_atomically
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import Progress
from regard.training.evaluate import Evaluation
from regard.training.folder import RunFolder

PLAIN_SECONDS = 15  # interval between lines if there is no terminal for a progress bar


@dataclass(frozen=True)
class Throughput:
    """The numbers of an update, and the speed of the updates that were read with it."""

    step: int
    loss: float
    norm: float
    smoothed_loss: float
    tokens_per_second: float

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class RunLog:
    def __init__(
        self, folder: RunFolder, console: Console, config: TrainConfig, progress: Progress, disabled: bool = False
    ) -> None:
        """With `disabled` nothing is written: only one of several processes writes the log."""
        self.console, self.config, self.progress = console, config, progress
        done = progress.step
        if not disabled:
            drop_rows_after(folder.metrics, done)
        self._metrics = (Path(os.devnull) if disabled else folder.metrics).open("a", encoding="utf-8")
        self._board = None if disabled else _tensorboard(folder.path / "tensorboard", done)
        self._bar = Bar(
            TextColumn("[bold]training"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:,.0f}/{task.total:,.0f} steps"),
            TextColumn("{task.fields[status]}"),
            TimeElapsedColumn(),
            TextColumn("ETA {task.fields[eta]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task("training", total=config.steps, completed=done, status="", eta="–")
        self._bleu = "–"
        self._printed = self._began = time.monotonic()
        self._done_before = done

    def __enter__(self) -> RunLog:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
        self._metrics.close()
        if self._board is not None:
            self._board.close()

    def show(self, step: int, loss: float, tokens_per_second: float) -> None:
        """Updates the progress bar, or prints a plain line every `PLAIN_SECONDS`; called at every update."""
        status = f"loss {loss:.3f} · BLEU {self._bleu} · {tokens_per_second:,.0f} tok/s"
        now = time.monotonic()
        eta = format_hours(
            seconds_left(self.config, self.progress, (now - self._began) / max(1, step - self._done_before))
        )
        self._bar.update(self._task, completed=step, status=status, eta=eta)
        if not self.console.is_terminal and now - self._printed > PLAIN_SECONDS:
            self._printed = now
            self.print(f"step {step:,}/{self.config.steps:,} · {status} · ETA {eta}")

    def write_update(self, update: Throughput, rate: float) -> None:
        progress = self.progress
        values = {
            "loss": update.loss,
            "rate": rate,
            "norm": update.norm,
            "tokens": progress.tokens,
            "flops": progress.flops,
            "tokens_per_second": update.tokens_per_second,
            "trajectory": progress.trajectory,
        }
        self._write("train", values | ({} if progress.reward is None else {"reward": progress.reward}))

    def write_evaluation(self, found: Evaluation, best: bool) -> None:
        bleu, step, train_loss = found.bleu.score, self.progress.step, self.progress.loss or 0.0
        values = {"loss": found.loss, "perplexity": found.perplexity, "bleu": bleu, "signature": found.bleu.signature}
        self._write("dev", {**values, "train_loss": train_loss})
        self._bleu = f"{bleu:.1f}"
        mark = "  [green]best so far[/green]" if best else ""
        self.print(
            f"step {step:>7,}  loss {train_loss:.3f}  dev loss {found.loss:.3f}  "
            f"dev perplexity {found.perplexity:.2f}  dev BLEU {bleu:5.2f}{mark}"
        )

    def print(self, line: str) -> None:
        self.console.print(line, highlight=False)

    def flush(self) -> None:
        """Flushes the log; called before a checkpoint, so that no row up to its step is lost."""
        self._metrics.flush()

    def _write(self, kind: str, values: dict[str, Any]) -> None:
        step = self.progress.step
        self._metrics.write(json.dumps({"step": step, "kind": kind, **values}) + "\n")
        if self._board is not None:
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    self._board.add_scalar(f"{kind}/{name}", value, step)


def seconds_left(config: TrainConfig, progress: Progress, seconds: float) -> float:
    """Returns the time to the last step, at `seconds` per step, or to the limit `train.minutes`, whichever is first."""
    left = seconds * (config.steps - progress.step)
    if config.minutes is not None:
        left = min(left, 60 * config.minutes - progress.seconds)
    return max(0.0, left)


def format_hours(seconds: float) -> str:
    """
    >>> format_hours(20), format_hours(3600), format_hours(40_000)
    ('0:01', '1:00', '11:07')
    """
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def drop_rows_after(metrics: Path, step: int) -> None:
    """Removes lines past `step`, and a last line that a crash cut short."""
    if not metrics.exists():
        return
    kept = "".join(json.dumps(row) + "\n" for row in read_rows(metrics) if row["step"] <= step)
    if kept != metrics.read_text(encoding="utf-8", errors="replace"):
        write_atomically(metrics, lambda path: path.write_text(kept, encoding="utf-8"))


def read_rows(metrics: Path) -> list[dict[str, Any]]:
    """Reads the rows of a log; lines that are not rows are skipped."""
    rows = []
    for line in metrics.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int) and "kind" in row:
            rows.append(row)
    return rows


@contextmanager
def progress_bar(console: Console, what: str) -> Iterator[Any]:
    """Shows the progress of preparatory work; yields a function to call with the number done."""
    columns = [TextColumn(f"[bold]{what}"), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn()]
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done: bar.update(task, completed=done)


def _tensorboard(folder: Path, done: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # TensorBoard is optional; metrics.jsonl has the same numbers
        return None
    return SummaryWriter(str(folder), purge_step=done + 1)
