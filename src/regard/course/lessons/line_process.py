"""The program of the process in which a learner's line runs; `run_line.py` starts it and says what it does not promise.

It reads JSON from its standard input and writes JSON to its standard output. It imports nothing of regard.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CPU_SECONDS = 3  # of the line
ANSWER_SECONDS = 5  # of the line, sleeping included
MEMORY = 512 << 20  # bytes, beyond what the imports of the lesson took
MOST_BYTES = 65_536  # of the answer
MOST_LETTERS = 300  # of a line
MOST_NUMBERS = 1000  # of a value
REFUSED_NAMES = frozenset((
    *("breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input"),
    *("locals", "memoryview", "open", "quit", "setattr", "vars"),
))  # fmt: skip
# What Python reports of harmless lines; everything else that it reports is refused.
HARMLESS = frozenset((
    *("array.__new__", "builtins.id", "code.__new__", "compile", "exec", "object.__getattr__", "sys._getframe"),
))  # fmt: skip


def refusal(line: str) -> str | None:
    """Why a line is not run, or None.

    >>> refusal("import os"), refusal("x = ().__class__"), refusal("weights = scores.softmax(-1)")
    ('The line may not import; what it needs is imported already.', 'Names that begin with __ are not allowed.', None)
    """
    line = line.strip()
    if not line:
        return "Write a line of Python."
    if len(line) > MOST_LETTERS or "\n" in line or "\r" in line:
        return f"One line of at most {MOST_LETTERS} characters is needed."
    try:
        tree = ast.parse(line)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        return f"This is not Python: {getattr(problem, 'msg', problem)}."
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            return "The line may not import; what it needs is imported already."
        name = getattr(node, "id", None) or getattr(node, "attr", None) or ""
        if name.startswith("__"):
            return "Names that begin with __ are not allowed."
        if isinstance(node, ast.Name) and name in REFUSED_NAMES:
            return f"`{name}` is not allowed here."
    return None


def evaluate(given: dict[str, Any], limit: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The answer of the process. `limit` is called between the lesson's own code and the line."""
    trees = [compile(expression, "test", "eval") for expression in given["expressions"]]
    try:
        names = lesson_names(given["before"])
    except ImportError as problem:
        return {"values": [], "problem": f"This exercise needs what is not installed here: `{problem}`."}
    exec(given["solution"], names)  # what this imports at its first use cannot be imported later
    for tree in trees:
        as_json(eval(tree, names))
    names = lesson_names(given["before"])
    names["__builtins__"] = {name: value for name, value in vars(builtins).items() if name not in REFUSED_NAMES}
    limit()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        values: list[Any] = []
        try:
            exec(compile(given["line"].strip(), "line", "exec"), names)
            for tree in trees:
                values.append(as_json(eval(tree, names)))
            return {"values": values, "problem": None}
        except BaseException as problem:  # whatever a learner writes
            return {"values": values, "problem": described(problem)}


def lesson_names(before: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(before, names)
    return names


def described(problem: BaseException) -> str:
    if isinstance(problem, MemoryError):
        return "This needs too much memory."
    text = str(problem).splitlines()[0][:200] if str(problem) else ""
    return f"`{type(problem).__name__}{': ' if text else ''}{text}`"


def as_json(value: Any) -> Any:
    """A value of a test as JSON: arrays and tensors become lists."""
    if callable(getattr(value, "tolist", None)):
        if (count := math.prod(getattr(value, "shape", ()))) > MOST_NUMBERS:
            raise ValueError(f"there are {count:,} numbers")
        value = value.tolist()
    if isinstance(value, list | tuple):
        if len(value) > MOST_NUMBERS:
            raise ValueError(f"there are {len(value):,} entries")
        return [as_json(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    raise TypeError(f"a number or a list of numbers is needed, but this is of type {type(value).__name__}")


def set_limits() -> None:
    """Bounds what the process can do from here on, as far as the platform permits."""
    import resource
    import signal

    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(used.ru_utime + used.ru_stime) + CPU_SECONDS
    with contextlib.suppress(OSError, ValueError, IndexError):
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()  # Linux
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for name, value in (
        ("RLIMIT_CPU", seconds), ("RLIMIT_FSIZE", MOST_BYTES), ("RLIMIT_NPROC", 0), ("RLIMIT_CORE", 0),
        ("RLIMIT_NOFILE", 0),
    ):  # fmt: skip
        with contextlib.suppress(OSError, ValueError, AttributeError):
            resource.setrlimit(getattr(resource, name), (value, value))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(ANSWER_SECONDS)
    sys.addaudithook(audit_hook())


def audit_hook() -> Any:
    """A hook that refuses what is not harmless. Its names are its own: nothing that a line reaches can change them."""

    def hook(event: str, _: Any, harmless: frozenset[str] = HARMLESS, error: type[Exception] = PermissionError) -> None:
        if event not in harmless:
            raise error(f"{event} is not allowed here")

    return hook


def main() -> None:
    given = json.load(sys.stdin.buffer)
    sys.path[:] = given["path"]
    answer = evaluate(given, set_limits)
    os.write(1, json.dumps(answer).encode())  # sys.stdout may have been closed
    os._exit(0)  # without what the line registered for the end


if __name__ == "__main__":
    main()
