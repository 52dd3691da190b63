"""The process of a command: its exit code, its streams, and the signals that stop it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from enum import IntEnum
from types import FrameType
from typing import Any, TextIO, cast

from regard.report.text import printable


class ExitCode(IntEnum):
    """The exit codes of all commands (docs/commands.md)."""

    DONE = 0
    FAULT = 1  # a bug in regard
    BAD_INPUT = 2  # the input cannot be used
    DOUBTFUL = 3  # done, but the result is not reliable
    NOTHING_LEFT = 4  # the run had already reached its last step
    INTERRUPTED = 130


def open_streams() -> None:
    """Use UTF-8 for all streams, whatever the locale is, and open those that the caller has closed (`>&-`).

    A closed input is treated as empty. Writing to a closed output fails, so that no output is lost silently.
    """
    flags = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, access in flags.items():  # in this order, so that each gets its original descriptor
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, access)
            os.set_inheritable(handle, True)
            setattr(sys, name, open(handle, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)
    if sys.stdout.isatty() and not isinstance(sys.stdout, TerminalStream):
        sys.stdout = cast(TextIO, TerminalStream(sys.stdout))
    if sys.stderr.isatty() and not isinstance(sys.stderr, TerminalStream):
        sys.stderr = cast(TextIO, TerminalStream(sys.stderr, "\n\r"))  # counters overwrite each other with \r


def discard_output() -> None:
    """Discard unwritten output, which would fail again when Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Make SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, so that temporary files and workers are removed. A
    signal that the caller ignores, as nohup does, stays ignored."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        if hasattr(signal, "setitimer"):  # not on Windows
            signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        raise KeyboardInterrupt

    def interrupt_again(number: int, frame: FrameType | None) -> None:
        if not _is_leaving():
            raise KeyboardInterrupt

    def hear_others(problem: sys.UnraisableHookArgs) -> None:
        if problem.exc_type is not KeyboardInterrupt:  # sometimes raised in a destructor, and then again
            hook(problem)

    before, hook = {}, sys.unraisablehook
    sys.unraisablehook = hear_others
    with contextlib.suppress(ValueError):  # not the main thread
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, interrupt)
        if hasattr(signal, "SIGALRM"):
            before[signal.SIGALRM] = signal.signal(signal.SIGALRM, interrupt_again)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        if getattr(signal, "SIGALRM", None) in before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_leaving() -> bool:
    """Whether an interrupt is being handled, by a `finally`, an `except` or the end of a `with`. If not, a library
    swallowed it: the standard library's `copy`, for example, has a bare `except:`."""
    problem = sys.exception()
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__context__
    return problem is not None


def forget_interrupt() -> None:
    """Let the process end with its own exit code.

    Python ends a process by SIGINT if an interrupt left the `exec` of a string, even if it was caught later. Every
    `@dataclass` uses such an `exec`, so this happens for an interrupt during an import. The next `exec` resets it.
    """
    exec("")


def for_terminal(line: str) -> str:
    """Make a line safe for a terminal: control characters are replaced, tabs stay.

    >>> for_terminal("caf\\xe9\\t\\x1b]0;title\\x07")
    'café\\t�]0;title�'
    """
    return "\t".join(map(printable, line.split("\t")))


class TerminalStream:
    """A terminal stream without control characters except line ends, so that text of models or files cannot control it.

    Output of rich bypasses it: rich writes to `rich_proxied_file`, with its own control characters.
    """

    def __init__(self, stream: TextIO, allowed: str = "\n") -> None:
        self.rich_proxied_file, self._ends = stream, re.compile(f"([{allowed}])")

    def write(self, text: str) -> int:
        parts = self._ends.split(text)  # line ends have odd indices
        self.rich_proxied_file.write("".join(part if i % 2 else for_terminal(part) for i, part in enumerate(parts)))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def warn(line: str) -> None:
    """Write one line to standard error."""
    with contextlib.suppress(OSError):  # the terminal may be closed
        print(f"regard: {for_terminal(' '.join(line.split()))}", file=sys.stderr)
