"""The training that a learner watches: one at a time, in a process of its own, which ends with the server.

    start ─▶ process (`course/watched_training.py`) ─ events ─▶ a run's curves and looks ─▶ the page asks for them

Only a server that `regard course` started trains. The last runs are kept, so that their curves can be compared.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from regard.serve.errors import ServeError
from regard.workers import ParentProcess, WorkerKilledError, WorkerPool

log = logging.getLogger("regard.serve")
KEPT = 4  # runs
PAIRS = 6000  # about half are short enough to be learned from
END_SECONDS = 10.0  # until a killed process is gone

MODELS = ("rnn", "rnn-attention", "transformer")  # of watched_training.py, which imports torch


@dataclass
class WatchedRun:
    """A training as far as it has come."""

    number: int
    model: str
    seconds: float
    state: str = "preparing"  # running, then finished, stopped or failed
    is_stopped: bool = False  # by the learner, or with the server
    second: float = 0.0
    update: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    losses: list[list[float]] = field(default_factory=list)  # [second, loss]
    looks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        return self.state in ("preparing", "running")

    def hear(self, event: dict[str, Any]) -> None:
        """Take in an event of the training process."""
        told = dict(event)
        match told.pop("kind"):
            case "begin":
                self.about, self.state = told, "running"
            case "loss":
                self.second, self.update = told["second"], told["update"]
                self.losses.append([told["second"], told["loss"]])
            case "look":
                self.second, self.update = told["second"], told["update"]
                self.looks.append(told)


def training_process(pairs: int, number: int, parent: ParentProcess) -> Callable[[tuple[str, float]], None]:
    """The work of a process (`workers.py`): trains a model for so many seconds. Its events are its questions."""

    def train(item: tuple[str, float]) -> None:
        from regard.course.watched_training import ShortSentences, WatchedTraining  # torch: not in the server's process

        name, seconds = item
        WatchedTraining(name, ShortSentences(pairs), seconds).run(parent.ask)

    return train


def hear_all(run: WatchedRun, events: Sequence[dict[str, Any]]) -> list[None]:
    """The answers to events, which the training process sends as questions."""
    for event in events:
        run.hear(event)
    return [None] * len(events)


class TrainingService:
    """Starts and stops trainings, and keeps what they told."""

    def __init__(self, pairs: int = PAIRS) -> None:
        """`pairs` are drawn from the grammar for each training."""
        self.pairs = pairs
        self._lock = threading.Lock()
        self._runs: list[WatchedRun] = []
        self._count = 0
        self._pool: WorkerPool[tuple[str, float], None] | None = None
        self._thread: threading.Thread | None = None

    def start(self, model: str, seconds: float) -> None:
        with self._lock:
            if any(run.is_active for run in self._runs):
                raise ServeError(409, "a model is being trained; stop it first")
            self._count += 1
            run = WatchedRun(self._count, model, seconds)
            answers = [partial(hear_all, run)]
            pool = self._pool = WorkerPool(partial(training_process, self.pairs), 1, {}, answers)
            self._runs = [*self._runs, run][-KEPT:]
            self._thread = threading.Thread(target=self._train, args=(run, pool), daemon=True)
            self._thread.start()

    def _train(self, run: WatchedRun, pool: WorkerPool[tuple[str, float], None]) -> None:
        try:
            with pool:
                list(pool.results([(run.model, run.seconds)]))
            run.state = "finished"
        except WorkerKilledError as problem:
            run.state = "stopped" if run.is_stopped else "failed"
            if not run.is_stopped:
                log.error("the training of %s ended: %s", run.model, problem)
        except Exception:
            log.exception("the training of %s failed", run.model)
            run.state = "failed"

    def stop(self) -> None:
        """Stop the training, if there is one, and wait until its process is gone."""
        with self._lock:
            if self._pool is None or self._thread is None:
                return
            if self._thread.is_alive():
                self._runs[-1].is_stopped = True
                self._pool.workers[0].process.kill()
            self._thread.join(END_SECONDS)

    @property
    def process_id(self) -> int | None:
        """The process of the last training."""
        return self._pool.workers[0].process.pid if self._pool else None

    def state(self) -> dict[str, Any]:
        return {"models": list(MODELS), "runs": [asdict(run) for run in self._runs]}
