"""What a run prints and records: a live line in a terminal, plain lines elsewhere, `metrics.jsonl` and TensorBoard.

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
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from regard.files import write_atomically
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import Progress
from regard.training.folder import RunFolder

PLAIN_SECONDS = 15  # between lines where there is no terminal to draw a bar in


class RunLog:
    def __init__(
        self, folder: RunFolder, console: Console, config: TrainConfig, progress: Progress, silent: bool = False
    ) -> None:
        """`silent` writes nothing: of several processes one keeps the log."""
        self.console, self.config, self.progress = console, config, progress
        done = progress.step
        if not silent:
            keep_until(folder.metrics, done)
        metrics = Path(os.devnull) if silent else folder.metrics
        self._metrics = metrics.open("a", encoding="utf-8")
        self._board = None if silent else _tensorboard(folder.path / "tensorboard", done)
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
        self._printed, self._began, self._done_before = time.monotonic(), time.monotonic(), done

    def __enter__(self) -> RunLog:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()
        self._metrics.close()
        if self._board is not None:
            self._board.close()

    def update(self, step: int, loss: float, tokens_per_second: float) -> None:
        """Called at every update; draws, or prints a plain line now and then."""
        status = f"loss {loss:.3f} · BLEU {self._bleu} · {tokens_per_second:,.0f} tok/s"
        now = time.monotonic()
        eta = hours(seconds_left(self.config, self.progress, (now - self._began) / max(1, step - self._done_before)))
        self._bar.update(self._task, completed=step, status=status, eta=eta)
        if not self.console.is_terminal and now - self._printed > PLAIN_SECONDS:
            self._printed = now
            self.say(f"step {step:,}/{self.config.steps:,} · {status} · ETA {eta}")

    def train(self, step: int, **values: float | str) -> None:
        self._write(step, "train", values)

    def dev(self, step: int, best: bool, **values: Any) -> None:
        self._write(step, "dev", values)
        self._bleu = f"{values['bleu']:.1f}"
        mark = "  [green]best so far[/green]" if best else ""
        self.say(
            f"step {step:>7,}  loss {values['train_loss']:.3f}  dev loss {values['loss']:.3f}  "
            f"dev perplexity {values['perplexity']:.2f}  dev BLEU {values['bleu']:5.2f}{mark}"
        )

    def say(self, line: str) -> None:
        self.console.print(line, highlight=False)

    def flush(self) -> None:
        """Before a checkpoint, so that no row up to its step is lost."""
        self._metrics.flush()

    def _write(self, step: int, kind: str, values: dict[str, Any]) -> None:
        self._metrics.write(json.dumps({"step": step, "kind": kind, **values}) + "\n")
        if self._board is not None:
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    self._board.add_scalar(f"{kind}/{name}", value, step)


def seconds_left(config: TrainConfig, progress: Progress, seconds: float) -> float:
    """Until the last step, at so many seconds a step, or until `train.minutes` are over, whichever is first."""
    left = seconds * (config.steps - progress.step)
    if config.minutes is not None:
        left = min(left, 60 * config.minutes - progress.seconds)
    return max(0.0, left)


def hours(seconds: float) -> str:
    """
    >>> hours(20), hours(3600), hours(40_000)
    ('0:01', '1:00', '11:07')
    """
    minutes = math.ceil(seconds / 60)
    return f"{minutes // 60}:{minutes % 60:02}"


def keep_until(metrics: Path, step: int) -> None:
    """Drop lines past `step`, and a last line that a crash cut short."""
    if not metrics.exists():
        return
    kept = "".join(json.dumps(row) + "\n" for row in read_rows(metrics) if row["step"] <= step)
    if kept != metrics.read_text(encoding="utf-8", errors="replace"):
        write_atomically(metrics, lambda path: path.write_text(kept, encoding="utf-8"))


def read_rows(metrics: Path) -> list[dict[str, Any]]:
    """The rows of a log; a line that is none is skipped."""
    rows = []
    for line in metrics.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int) and "kind" in row:
            rows.append(row)
    return rows


@contextmanager
def counting(console: Console, what: str, total: int | None = None) -> Iterator[Any]:
    """A bar over preparatory work; yields a function to call with the number done."""
    columns = [TextColumn(f"[bold]{what}"), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn()]
    if total is not None:
        columns.insert(1, BarColumn(bar_width=24))
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _tensorboard(folder: Path, done: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # curves are a comfort; metrics.jsonl holds the same numbers
        return None
    return SummaryWriter(str(folder), purge_step=done + 1)
