"""Work in a process of its own: what comes back, and that no process outlives the one that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from regard import workers
from regard.errors import InputError
from regard.workers import ParentProcess, Questions, WorkerKilledError, WorkerPool, in_new_process
from support import is_running, wait_for

PARENT = """
import sys
from test_workers import write_pid_and_wait
from regard.workers import in_new_process
if __name__ == "__main__":
    in_new_process(write_pid_and_wait, sys.argv[1])
"""

POOL = """
import sys
from test_workers import make_waiting
from regard.workers import WorkerPool
with WorkerPool(make_waiting, 1, {}) as pool:
    list(pool.results([sys.argv[1]]))
"""  # without a guard: the script is not imported again


def make_waiting(number: int, report: object) -> Callable[[str], None]:
    return write_pid_and_wait


def fail(message: str) -> None:
    raise InputError(message, parameter="src")


class UnsendableError(Exception):
    def __init__(self) -> None:
        super().__init__("it holds a function")
        self.function = lambda: None


def fail_strangely() -> None:
    raise UnsendableError


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def write_pid_and_wait(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


def test_what_comes_back() -> None:
    assert in_new_process(divmod, 17, 5) == (3, 2)
    assert in_new_process(os.getpid) != os.getpid()
    with pytest.raises(InputError, match="no such file") as problem:
        in_new_process(fail, "no such file")
    assert problem.value.parameters == ("src",)
    with pytest.raises(RuntimeError, match="UnsendableError: it holds a function"):
        in_new_process(fail_strangely)
    with pytest.raises(WorkerKilledError, match="SIGKILL"):
        in_new_process(die)


@pytest.mark.parametrize(
    ("number", "parent_script"),
    [
        (signal.SIGKILL, PARENT),
        (signal.SIGKILL, POOL),
        *(pytest.param(number, PARENT, marks=pytest.mark.long) for number in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_it_ends_with_the_process_that_started_it(tmp_path: Path, number: signal.Signals, parent_script: str) -> None:
    script, note = tmp_path / "parent.py", tmp_path / "pid"
    script.write_text(parent_script)
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    parent = subprocess.Popen(
        [sys.executable, str(script), str(note)], env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL
    )
    worker = int(wait_for(lambda: note.exists() and note.read_text()))
    parent.send_signal(number)
    parent.wait(timeout=30)
    assert wait_for(lambda: not is_running(worker))


def add_one(numbers: list[int]) -> list[int]:
    if 13 in numbers:
        raise InputError("13 is refused")
    return [number + 1 for number in numbers]


def make_asking(number: int, parent: ParentProcess) -> Callable[[int], int]:
    return lambda item: parent.ask(parent.ask(item))


@pytest.mark.parametrize("threads", [1, 2])
def test_workers_ask_this_process(threads: int) -> None:
    with WorkerPool(make_asking, 2, {}, [add_one] * threads) as pool:
        assert list(pool.results(range(8))) == [(number, number + 2) for number in range(8)]
        assert pool.cpu_seconds() >= 0
        with pytest.raises(InputError, match="13 is refused"):
            list(pool.results([12]))
        assert list(pool.results([20])) == [(20, 22)]


def test_questions_that_can_wait_are_answered_together(monkeypatch: pytest.MonkeyPatch) -> None:
    class Line:
        def send(self, answer: object) -> None:
            sent.append(answer)

    monkeypatch.setattr(workers, "AT_ONCE", 2)
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    questions, sent, asked = Questions(lambda number: number < 0), list[object](), list[list[int]]()

    def answer(some: list[int]) -> list[int]:
        asked.append(some)
        if some == [1, 2]:
            questions.add(Line(), -2)  # type: ignore[arg-type]
        if some == [-1, -2]:
            questions.close()
        return some

    for number in (-1, 1, 2, 3):
        questions.add(Line(), number)  # type: ignore[arg-type]
    questions.answer_all(answer)
    assert asked == [[1, 2], [3], [-1, -2]]
    assert sent == [("done", number) for number in (1, 2, 3, -1, -2)]
