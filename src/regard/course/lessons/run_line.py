"""Runs one line of Python that a learner wrote, in a process with limits.

    before (of the lesson) ─▶ limits ─▶ the line ─▶ values of the tests' expressions

The line is refused if it imports, or uses a name with two underscores at its beginning; then it has only harmless
built-in functions, an audit hook refuses whatever Python reports about files, processes and sockets, and limits of the
kernel hold for all that Python does not report: no further file or socket can be opened, and memory, processor time and
the time until the answer are bounded. The process has an empty environment.

What this does not promise: it is no jail. Python reports no `mknod`, and neither threads nor signal handlers, so a
line that got hold of `os` could make an empty file. A line that corrupts memory (numpy and torch have functions for
that) can run machine code with the rights of the user, for as long as the limits allow; it cannot open files or
sockets then, but delete files whose names it knows, or send signals. On macOS the limit of memory has no effect.
Where several people share a machine, each of them can reach a server on loopback, and send a line to another's.

It is enough for a learner's own machine, whose server listens on loopback and refuses requests of other pages: the
learner could open a terminal as well. It is not enough for a server that others use, so `regard serve` runs no lines.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.course.lessons import line_process
from regard.course.lessons.exercises import LineExercise

SECONDS = 30.0  # until the answer, the imports of the lesson included
TOO_LONG = "This took too long and was stopped."
ENDED = "This ended Python before there was a result."
TIME_SIGNALS = (signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL)


@dataclass(frozen=True)
class LineRun:
    """The values of the expressions as JSON, up to the one at which something went wrong, and what (Markdown)."""

    values: tuple[Any, ...] = ()
    problem: str | None = None


def run_line(exercise: LineExercise, line: str, seconds: float = SECONDS) -> LineRun:
    """Runs the exercise's own code, then a learner's line, and evaluates the expressions of the tests."""
    if problem := line_process.refusal(line):
        return LineRun(problem=problem)
    given = {"path": sys.path, "line": line, **own_code(exercise)}
    # -I: no environment, no user's packages, nothing from the working folder. Output goes to a file, whose size the
    # process limits.
    command = [sys.executable, "-I", "-X", "utf8", str(Path(line_process.__file__))]
    with tempfile.TemporaryFile() as out:
        try:
            done = subprocess.run(
                command,
                input=json.dumps(given).encode(),
                stdout=out,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,
                env={"OMP_NUM_THREADS": "1"},
                timeout=seconds,
                start_new_session=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return LineRun(problem=TOO_LONG)
        out.seek(0)
        return read_answer(done.returncode, out.read(line_process.MOST_BYTES))


def own_code(exercise: LineExercise) -> dict[str, Any]:
    """The code of an exercise as `line_process.evaluate` takes it."""
    expressions = [one.expression for one in exercise.tests]
    return {"before": exercise.before, "solution": exercise.solution, "expressions": expressions}


def read_answer(code: int, answer: bytes) -> LineRun:
    """What the process wrote, or how it ended."""
    try:
        found = json.loads(answer)
        values, problem = tuple(found["values"]), found["problem"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return LineRun(problem=TOO_LONG if -code in TIME_SIGNALS else ENDED)
    return LineRun(values, problem)
