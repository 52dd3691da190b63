"""The command line: one file per command, which parses its flags, calls the package and shows the result.

Whatever goes wrong because of the input is one line on standard error and exit code 2. Commands import what they need
when they run, so that `regard --help` answers at once. `app.py` lists the commands, `options.py` has the flags that
several share, `words.py` recipe keys as flags, `flags.py` the flags that an error is about.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from regard.cli.app import app
from regard.errors import RegardError

__all__ = ["app", "main"]


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run one command, then leave with its exit code: 0, or 2 for what the user can mend, or 1 for a bug."""
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors=errors)  # as all our files, whatever the locale says
    # Threads that wait for each other by spinning starve beside any other work: steps took thirty times longer.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    gc.set_threshold(30_000)  # what imports make is not garbage, and looking through it takes a quarter of a second
    words = list(sys.argv[1:] if words is None else words)
    try:
        _run(words or ["--help"])
        sys.exit(0)
    except RegardError as problem:
        from regard.cli.flags import with_flags

        _leave(with_flags(problem, typer.main.get_command(app), words))
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe left; what it did not want is not an error
        _forget_output()
        sys.exit(0)
    except Exception as problem:
        if isinstance(code := getattr(problem, "exit_code", None), int) and not hasattr(problem, "format_message"):
            sys.exit(code)  # typer.Exit
        if os.environ.get("REGARD_TRACEBACK"):
            raise
        _leave(*_explained(problem, words))


def _run(words: list[str]) -> None:
    """Parse the words and call the command. Typer's own way to do so would answer in lines of its own."""
    command = typer.main.get_command(app)
    if "_REGARD_COMPLETE" in os.environ:  # set by the shell's completion function, which reads what is printed
        command(prog_name="regard")
    with command.make_context("regard", words) as context:
        command.invoke(context)
    sys.stdout.flush()


def _explained(problem: Exception, words: list[str]) -> tuple[str, int]:
    """A line and an exit code for what is not an error of our own."""
    text = " ".join(str(problem).split())[:300]
    if hasattr(problem, "format_message"):  # a wrong flag or command, seen by the parser
        said = problem.format_message().replace("Value error, ", "").strip().rstrip(".")
        names = [command.callback.__name__ for command in app.registered_commands if command.callback]
        names += [group.name for group in app.registered_groups if group.name]
        where = " ".join(["regard", *(w for w in words[:1] if w in names)])
        return f"{said[:1].lower()}{said[1:]} ({where} --help shows what is allowed)", 2
    if isinstance(problem, OSError):  # no room, no right, a folder that is a file
        if problem.filename is None:
            _forget_output()
        where = f"{problem.filename} cannot be used" if problem.filename else "output cannot be written"
        return f"{where}: {problem.strerror or text}", 2
    if isinstance(problem, MemoryError) or "out of memory" in text.lower() or "can't allocate memory" in text:
        return f"out of memory; use a smaller model (--preset tiny) or smaller batches (--batch-tokens): {text}", 2
    kind = type(problem).__name__
    return f"unexpected {kind}: {text} (a bug of regard's; REGARD_TRACEBACK=1 shows where)", 1


def _leave(line: str, code: int = 2) -> NoReturn:
    print(f"regard: {' '.join(line.split())}", file=sys.stderr)
    sys.exit(code)


def _forget_output() -> None:
    """What is still unwritten would fail again, and noisily, when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
