"""A learner's line in its process: what it may do, and what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exercise_tables import LINE
from regard.course.lessons import line_process
from regard.course.lessons.exercises import LineExercise, read_exercise
from regard.course.lessons.run_line import ENDED, TOO_LONG, LineRun, read_answer, run_line

# With more at hand than any lesson gives: whoever got hold of these modules meets the audit hook and the kernel.
MODULES = "import ctypes, gc, io, os, pathlib, resource, shutil, socket, subprocess, sys, tempfile, time"


def made(before: str, solution: str = "x = 1", **changes: Any) -> LineExercise:
    tests = [{"expression": "x", "value": 1.0}]
    found = read_exercise(LINE | {"before": before, "solution": solution, "tests": tests} | changes)
    assert isinstance(found, LineExercise)
    return found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "Write a line"),
        ("x = 1\ny = 2", "One line"),
        ("x = '" + "a" * 300 + "'", "at most 300"),
        ("x =", "not Python: invalid syntax"),
        ("import os", "may not import"),
        ("from os import system", "may not import"),
        ("x = ().__class__.__mro__[1].__subclasses__()", "begin with __"),
        ("x = __builtins__", "begin with __"),
        ("x = __import__('os')", "begin with __"),
        ("x = eval('1')", "`eval` is not allowed"),
        ("x = getattr(str, 'mro')", "`getattr` is not allowed"),
        ("x = open('/etc/passwd')", "`open` is not allowed"),
    ],
)
def test_a_line_that_is_not_run(line: str, said: str) -> None:
    found = run_line(made(""), line)
    assert said in (found.problem or "")


REPORTED = {  # attempts, and what the audit hook refuses; all in one process
    "os.system(f'touch {file}')": "os.system",
    "io.open(file, 'w')": "open",
    "pathlib.Path(file).touch()": "open",
    "os.unlink(file)": "os.remove",
    "os.kill(os.getppid(), 15)": "os.kill",
    "os.fork()": "os.fork",
    "os.execv('/bin/sh', ['sh'])": "os.exec",
    "subprocess.run(['id'])": "subprocess.Popen",
    "socket.socket()": "socket.__new__",
    "ctypes.CDLL(None)": "ctypes.dlopen",
    "ctypes.pythonapi.PyRun_SimpleString(b'1')": "ctypes.dlsym",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))": "resource.setrlimit",
    "gc.get_objects()": "gc.get_objects",
    "sys.modules['os'].listdir('/')": "os.listdir",
}
ATTEMPT = """
def attempt(work):
    try:
        return f"done: {work()}"
    except PermissionError as problem:
        return str(problem)
"""


def test_what_python_reports_is_refused(tmp_path: Path) -> None:
    file, names = tmp_path / "written", list(REPORTED)
    exercise = made(f"{MODULES}\nfile = {str(file)!r}{ATTEMPT}")
    for part in (names[:4], names[4:9], names[9:]):  # a line has 300 letters
        found = run_line(exercise, f"x = [{', '.join(f'attempt(lambda: {name})' for name in part)}]")
        assert found.values == ([f"{REPORTED[name]} is not allowed here" for name in part],), found
    assert not file.exists()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("os.dup(1)", "OSError"),  # the kernel: no further descriptor
        ("x = 'a' * 10**10", "too much memory"),
        ("os.posix_fallocate(1, 0, 10**9)", "too large"),
        ("x = [0] * 2000", "there are 2,000 entries"),
        ("x = object()", "is of type object"),
        ("raise SystemExit", "`SystemExit`"),
    ],
)
def test_what_a_line_may_not_do(line: str, problem: str) -> None:
    assert problem in (run_line(made(MODULES), line).problem or "")


def test_what_is_not_installed_is_said() -> None:
    assert "No module named 'none_such'" in (run_line(made("import none_such"), "x = 1").problem or "")


def test_the_environment_is_empty() -> None:
    exercise = made(MODULES, "x = list(os.environ)")
    assert set(run_line(exercise, exercise.solution).values[0]) <= {"OMP_NUM_THREADS", "LC_CTYPE"}


@pytest.mark.parametrize(
    ("line", "said"),
    [("time.sleep(60)", TOO_LONG), ("os._exit(0)", ENDED), ("os.abort()", ENDED), ("os.write(1, b'7')", ENDED)],
)
def test_a_process_that_ends_without_an_answer(line: str, said: str) -> None:
    seconds = 1.5 if "sleep" in line else 30
    assert run_line(made(MODULES), line, seconds) == LineRun(problem=said)


@pytest.mark.long
def test_the_time_of_a_line_is_limited_by_its_own_process() -> None:
    assert run_line(made(""), "while True: pass").problem == TOO_LONG  # takes line_process.ANSWER_SECONDS


def test_what_is_imported_late_is_there() -> None:
    exercise = made("from regard.metrics.bleu import bleu", "x = bleu(['a b c d'], ['a b c d']).score")
    assert run_line(exercise, "x = bleu(['a b c d'], ['a b c d']).score").values == pytest.approx((100.0,))


def test_arrays_become_lists() -> None:
    exercise = made("import numpy as np", "x = np.eye(2)")
    assert run_line(exercise, "x = np.eye(2) * 3").values == ([[3.0, 0.0], [0.0, 3.0]],)
    assert run_line(exercise, "x = np.zeros(2) / 0").values == (["nan", "nan"],)


@pytest.mark.parametrize("answer", [b"", b"{", b"[1]", b'{"values": 3, "problem": null}', b"null"])
def test_an_answer_that_is_none(answer: bytes) -> None:
    assert read_answer(0, answer) == LineRun(problem=ENDED)


def test_the_program_imports_nothing_of_regard() -> None:
    assert (
        "regard" not in Path(line_process.__file__).read_text(encoding="utf-8").partition('"""')[2].partition('"""')[2]
    )
