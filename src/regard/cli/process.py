"""A command as a process: its exit code, its streams, and the signals that stop it."""

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
    """The same for all commands (docs/commands.md)."""

    DONE = 0
    FAULT = 1  # a bug of ours
    BAD_INPUT = 2  # what was given cannot be used
    DOUBTFUL = 3  # done, but the result should not be trusted as it is
    NOTHING_LEFT = 4  # the run had already reached its last step
    INTERRUPTED = 130


def open_streams() -> None:
    """UTF-8 for all of them, whatever the locale says; and a stream for each that the caller has closed (`>&-`).

    A closed input is an empty one. Writing to a closed output fails, as it should: nothing is lost in silence.
    """
    flags = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, access in flags.items():  # in this order, so that each gets the number that it had
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
        sys.stderr = cast(TextIO, TerminalStream(sys.stderr, "\n\r"))  # counters are written over each other


def discard_output() -> None:
    """Send what is still unwritten nowhere: it would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt, so that temporary files and workers are removed. A signal
    that the caller ignores, as nohup does, stays ignored."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        if hasattr(signal, "setitimer"):  # not on Windows
            signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
        raise KeyboardInterrupt

    def interrupt_again(number: int, frame: FrameType | None) -> None:
        if not _is_leaving():
            raise KeyboardInterrupt

    def hear_others(problem: sys.UnraisableHookArgs) -> None:
        if problem.exc_type is not KeyboardInterrupt:  # which falls into a destructor at times, and comes again
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
    """Whether an interrupt is being handled, by a `finally`, an `except` or the end of a `with`. If not, some library
    swallowed it: the standard library's `copy`, for one, has an `except:` without a name."""
    problem = sys.exception()
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__context__
    return problem is not None


def forget_interrupt() -> None:
    """Let the process end with the exit code that it was given.

    Python ends a process by SIGINT if an interrupt left `exec` of a string, though it was caught further out: and every
    `@dataclass` is made by such an `exec`, so an interrupt during an import is one. The next `exec` resets it.
    """
    exec("")


def for_terminal(line: str) -> str:
    """A line as a terminal may get it: control characters are replaced, tabs stay.

    >>> for_terminal("caf\\xe9\\t\\x1b]0;title\\x07")
    'café\\t�]0;title�'
    """
    return "\t".join(map(printable, line.split("\t")))


class TerminalStream:
    """A terminal that gets no control characters but line ends: text of a model, a card or a file cannot act on it.

    What rich draws goes past it: rich writes to `rich_proxied_file`, with control characters of its own.
    """

    def __init__(self, stream: TextIO, allowed: str = "\n") -> None:
        self.rich_proxied_file, self._ends = stream, re.compile(f"([{allowed}])")

    def write(self, text: str) -> int:
        parts = self._ends.split(text)  # line ends at odd places
        self.rich_proxied_file.write("".join(part if i % 2 else for_terminal(part) for i, part in enumerate(parts)))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


def warn(line: str) -> None:
    """One line on standard error."""
    with contextlib.suppress(OSError):  # the terminal may be gone
        print(f"regard: {for_terminal(' '.join(line.split()))}", file=sys.stderr)
