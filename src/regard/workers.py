"""Runs work in other processes, which end when this one ends: one call in a fresh process, or items in a pool.

A worker of a pool can ask this process questions, for instance what only the process with the GPU can answer.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from pickle import PicklingError
from typing import Any, Generic, NamedTuple, TypeVar

from regard.errors import RegardError

T = TypeVar("T")
R = TypeVar("R")
REPORT_EVERY = 0.2  # seconds
PATIENCE = 0.01  # seconds that a question which can wait does so, for others
AT_ONCE = 16  # questions that are answered at a time if they cannot wait
GRACE = 5  # seconds a worker has to exit after its parent has ended
Report = Callable[[int], None]  # a worker calls it with the amount of work just done
Answer = Callable[[Sequence[Any]], Sequence[Any]]  # questions → their answers


class WorkerKilledError(RegardError):
    """A worker process ended without returning a result."""


def in_new_process(work: Callable[..., T], *given: object) -> T:
    """Runs `work(*given)` in a fresh process and returns its result. An exception raised there is raised here.

    KeyboardInterrupt in this process sends the other one SIGTERM and waits for it; a second one kills it. If this
    process is killed, the other one gets SIGTERM too.
    """
    context = multiprocessing.get_context("spawn")
    connection, other_end = context.Pipe()
    process = context.Process(target=_serve, args=(other_end,))
    process.start()
    other_end.close()
    try:
        connection.send((work, given))
        kind, answer = connection.recv()
        process.join()
    except (EOFError, OSError):
        process.join()
        raise WorkerKilledError(f"a process of this command {_end_of(process.exitcode or 0)}") from None
    except KeyboardInterrupt:
        process.terminate()
        process.join()
        raise
    finally:
        process.kill()
        process.join()
        connection.close()
    if kind == "failed":
        raise answer
    result: T = answer
    return result


def _end_of(code: int) -> str:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"{how}; the usual cause is too little memory"


def _serve(connection: Connection) -> None:
    """Runs in the other process: receives work, returns its result or exception. Ends by SIGTERM with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C reaches it too; the parent reports it
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end_with_parent() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        work, given = connection.recv()
        _send_result(connection, work, *given)


def _send_result(connection: Connection, work: Callable[..., object], *given: object) -> None:
    """Sends ("done", result of `work(*given)`) or ("failed", the exception it raised)."""
    try:
        answer: tuple[str, object] = "done", work(*given)
    except Exception as problem:
        problem.add_note("".join(traceback.format_exception(problem)))
        answer = "failed", problem
    try:
        connection.send(answer)
    except (TypeError, AttributeError, PicklingError):  # not picklable
        connection.send(("failed", RuntimeError(f"{type(answer[1]).__name__}: {answer[1]}")))


# ── several processes ────────────────────────────────────────────────────────────────────────────────────────────────

SERVE = "from regard.workers import serve_items; serve_items()"


def usable_cores() -> int:
    """The number of CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """The value of OMP_NUM_THREADS if it is a positive integer, else the number of cores this process may use."""
    value = os.environ.get("OMP_NUM_THREADS", "")
    return int(value) if value.isdecimal() and int(value) > 0 else usable_cores()


class PoolWorker(NamedTuple):
    process: subprocess.Popen[bytes]
    connection: Connection


class WorkerPool(Generic[T, R]):
    """A pool of processes that work on a stream of items; results come in the order of the items.

    `make_work(number, report)` is called once in each process, with its number from 0, and returns the function that is
    applied to each item. At most two items per process are read ahead or kept waiting. An exception of the work is
    raised when its item's turn comes; a process that is killed ends everything with an error that names its item.

    The processes are fresh interpreters: nothing is forked alongside threads or a GPU, and the user's script is not
    imported again. Ctrl-C reaches only this process, which ends the others.

    `report` is a `ParentProcess`, whose `ask` sends a question to this process and waits for the answer. A thread for
    each of `answers` answers questions, several at a time, while the pool goes on.
    """

    def __init__(
        self,
        make_work: Callable[[int, ParentProcess], Callable[[T], R]],
        workers: int,
        environment: Mapping[str, str],
        answers: Sequence[Answer] = (),
        can_wait: Callable[[Any], bool] = lambda question: False,
    ) -> None:
        """`environment`: additional environment variables of the processes, such as a number of threads. Questions that
        can wait do so for a moment, and are answered together with all others that came meanwhile."""
        self.workers: list[PoolWorker] = []
        self._questions = Questions(can_wait)
        self._threads = [
            threading.Thread(target=self._questions.answer_all, args=(answer,), daemon=True) for answer in answers
        ]
        for thread in self._threads:
            thread.start()
        path = os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)
        try:
            for number in range(workers):
                self.workers.append(_started(number, {**os.environ, **environment, "PYTHONPATH": path}))
            work = pickle.dumps(make_work)
            for worker in self.workers:  # after all have started: sending waits until a process is up
                with contextlib.suppress(OSError):  # a process that has ended is reported with its first item
                    worker.connection.send_bytes(work)
        except BaseException:
            self.close()
            raise

    def results(self, items: Iterable[T], report: Report | None = None) -> Iterator[tuple[T, R]]:
        """Yields each item with its result. `report` is called with the amounts that the workers report."""
        remaining, busy = iter(items), dict[int, tuple[int, T]]()  # worker → its item and the item's number
        done: dict[int, tuple[T, bool, Any]] = {}
        read = given = 0
        more = True
        while True:
            for worker in range(len(self.workers)):
                if more and worker not in busy and read - given < 2 * len(self.workers):
                    item = next(remaining, None)
                    more = item is not None
                    if item is not None:
                        busy[worker] = read, item
                        try:
                            self.workers[worker].connection.send(item)
                        except OSError:
                            raise self._killed(worker, item) from None
                        read += 1
            if given in done:
                item, failed, answer = done.pop(given)
                if failed:
                    raise answer
                yield item, answer
                given += 1
            elif busy:
                self._receive(busy, done, report)
            elif not more:
                return

    def _receive(
        self, busy: dict[int, tuple[int, T]], done: dict[int, tuple[T, bool, Any]], report: Report | None
    ) -> None:
        """Waits for messages of the workers and handles them."""
        numbers = {self.workers[worker].connection: worker for worker in busy}
        for connection in wait(list(numbers)):
            worker = numbers[connection]  # type: ignore[index]
            number, item = busy[worker]
            try:
                kind, answer = self.workers[worker].connection.recv()
            except (EOFError, OSError):
                raise self._killed(worker, item) from None
            if kind == "report":
                if report is not None:
                    report(answer)
            elif kind == "question":
                self._questions.add(self.workers[worker].connection, answer)
            else:
                done[number] = item, kind == "failed", answer
                del busy[worker]

    def _killed(self, worker: int, item: T) -> WorkerKilledError:
        code = self.workers[worker].process.wait()
        return WorkerKilledError(f"process {worker + 1} of {len(self.workers)}, which had {item}, {_end_of(code)}")

    def cpu_seconds(self) -> float:
        """Returns the CPU time of the processes so far; 0 where the system does not tell."""
        return sum(_cpu_seconds(process.pid) for process, _ in self.workers)

    def close(self) -> None:
        """Kills all processes."""
        for process, _ in self.workers:
            process.kill()
        self._questions.close()
        for thread in self._threads:  # one that computes on a GPU must not be running when the interpreter ends
            thread.join()
        for process, connection in self.workers:
            process.wait()
            connection.close()
            assert process.stdin is not None
            process.stdin.close()

    def __enter__(self) -> WorkerPool[T, R]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Question(NamedTuple):
    connection: Connection  # for the answer
    content: Any
    since: float  # time.monotonic() when it came


class Questions:
    """The questions of the workers of a pool, which several threads answer."""

    def __init__(self, can_wait: Callable[[Any], bool]) -> None:
        self._can_wait = can_wait
        self._urgent: list[Question] = []
        self._patient: list[Question] = []
        self._is_open = True
        self._changed = threading.Condition()

    def add(self, connection: Connection, content: object) -> None:
        with self._changed:
            some = self._patient if self._can_wait(content) else self._urgent
            some.append(Question(connection, content, time.monotonic()))
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._is_open = False
            self._changed.notify_all()

    def answer_all(self, answer: Answer) -> None:
        """Answers questions until the pool is closed."""
        while some := self._next():
            self._answer(answer, some)

    def _next(self) -> list[Question]:
        """Waits for questions, and takes those to answer together; none if the pool is closed."""
        with self._changed:
            while self._is_open:
                left = self._patient[0].since + PATIENCE - time.monotonic() if self._patient else None
                if self._urgent:
                    some, self._urgent = self._urgent[:AT_ONCE], self._urgent[AT_ONCE:]
                    self._changed.notify()  # for those that remain
                    return some
                if left is not None and left <= 0:
                    some, self._patient = self._patient, []
                    return some
                self._changed.wait(left)
        return []

    def _answer(self, answer: Answer, some: Sequence[Question]) -> None:
        try:
            found: list[tuple[str, object]] = [("done", one) for one in answer([one.content for one in some])]
        except Exception as problem:
            found = [("failed", problem)] * len(some)
        for question, result in zip(some, found, strict=True):
            with contextlib.suppress(OSError):  # the worker has ended; the pool reports that with its item
                question.connection.send(result)


class ParentProcess:
    """The process that started a worker, as the worker sees it. The amounts that the worker reports are summed and sent
    a few times a second."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.amount, self.sent = connection, 0, time.monotonic()

    def ask(self, question: object) -> Any:
        """Sends a question, and returns its answer or raises the exception that it caused."""
        self.connection.send(("question", question))
        kind, answer = self.connection.recv()
        if kind == "failed":
            raise answer
        return answer

    def __call__(self, amount: int) -> None:
        self.amount += amount
        now = time.monotonic()
        if now - self.sent > REPORT_EVERY:
            self.connection.send(("report", self.amount))
            self.amount, self.sent = 0, now


def _cpu_seconds(pid: int) -> float:
    try:
        times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def _started(number: int, environment: dict[str, str]) -> PoolWorker:
    """Starts a process that waits for its work. Its standard input is a pipe that closes when this process ends."""
    ours, theirs = multiprocessing.Pipe()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", SERVE, str(theirs.fileno()), str(number)],
            stdin=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            process_group=0,  # its own group: Ctrl-C in a terminal does not reach it
            env=environment,
        )
    return PoolWorker(process, ours)


def serve_items() -> None:
    """Runs a worker: receives items until there are no more, sends back the result or exception of each."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent process may ignore SIGINT
    threading.Thread(target=_end_with_input, daemon=True).start()
    connection, number = Connection(int(sys.argv[1])), int(sys.argv[2])
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        make_work: Callable[[int, ParentProcess], Callable[[Any], Any]] = connection.recv()
        work = cache(lambda: make_work(number, ParentProcess(connection)))  # made with the first item
        while True:
            _send_result(connection, lambda item: work()(item), connection.recv())


def _end_with_input() -> None:
    """Ends this process when its parent ends, for whatever reason. SIGINT first lets it remove partly written files."""
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(GRACE)
    os._exit(1)
