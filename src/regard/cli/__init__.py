"""The command line: modules of commands, which parse their flags, call the package and show the result.

An error caused by the input is one line on standard error and exit code 2. Commands import what they need when they
run, so that `regard --help` is fast, and only the command that is called is built: building all of them takes typer
longer than the translation of a sentence. `app.py` lists the commands, `options.py` declares flags, `recipe_flags.py`
turns recipe keys into flags, `flags.py` finds the flags that an error is about, and `process.py` has exit codes,
streams and signals.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from regard.cli.process import ExitCode, discard_output, forget_interrupt, open_streams, stopped_by_signals, warn
from regard.errors import RegardError, RunFinishedError

__all__ = ["main"]

# Commands that can do nothing without PyTorch; others need it for some of their flags (docs/commands.md).
NEED_TORCH = frozenset(
    ("align", "claims", "compare", "complexity", "demo", "doctor", "import", "pack", "page", "resume", "train")
)


def main(words: Sequence[str] | None = None) -> NoReturn:
    """Run one command, then exit the process with its exit code (`process.ExitCode`)."""
    open_streams()
    # OpenMP threads that spin while they wait are slow on a busy machine: training steps took thirty times longer.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    gc.set_threshold(30_000)  # imported objects are not garbage, and scanning them takes a quarter of a second
    words = list(sys.argv[1:] if words is None else words)
    code: int = ExitCode.INTERRUPTED
    with contextlib.suppress(KeyboardInterrupt), stopped_by_signals():
        code = _exit_code(words)
    forget_interrupt()
    if code == ExitCode.INTERRUPTED and any(not one.daemon for one in threading.enumerate()[1:]):
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        os._exit(code)  # without waiting for searches in other threads, which nothing interrupts
    sys.exit(int(code))


def _exit_code(words: list[str]) -> int:
    """Run the command and return its exit code; an error is one line on standard error."""
    try:
        _run(words or ["--help"])
    except RunFinishedError as problem:
        warn(str(problem))
        return ExitCode.NOTHING_LEFT
    except RegardError as problem:
        from regard.cli.flags import with_flags

        warn(with_flags(problem, _command(words), words))
        return ExitCode.BAD_INPUT
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has closed it, which is not an error
        discard_output()
    except Exception as problem:
        if isinstance(code := getattr(problem, "exit_code", None), int) and not hasattr(problem, "format_message"):
            return code  # typer.Exit
        if os.environ.get("REGARD_TRACEBACK"):
            raise
        line, status = _describe_error(problem, words)
        warn(line)
        return status
    return ExitCode.DONE


def _command(words: Sequence[str]) -> Any:
    """The program as a click command, with only the command that the first word names, if there is one."""
    from typer.main import get_command

    from regard.cli.app import program

    return get_command(program(words[0] if words else None))


def _run(words: list[str]) -> None:
    """Parse the words and call the command, without typer's own handling of errors."""
    gc.enable()
    command = _command(words)
    if words[0] in NEED_TORCH and not {"-h", "--help"}.intersection(words):
        from regard.device import require_torch

        require_torch(f"regard {words[0]}")
    if "_REGARD_COMPLETE" in os.environ:  # set by the shell's completion function, which reads the output
        command(prog_name="regard")
    with command.make_context("regard", words) as context:
        command.invoke(context)
    sys.stdout.flush()


def _describe_error(problem: Exception, words: list[str]) -> tuple[str, ExitCode]:
    """A message and an exit code for an exception that is not a RegardError."""
    text = " ".join(str(problem).split())[:300]
    if hasattr(problem, "format_message"):  # a wrong flag or command, found by the parser
        from regard.cli.flags import find_command, unknown_option

        message = problem.format_message().replace("Value error, ", "").strip().rstrip(".")
        command, names = find_command(_command(words), words)
        if (flag := getattr(problem, "option_name", None)) and message.startswith("No such option"):
            message = unknown_option(command, flag)
        where = " ".join(["regard", *names])
        return f"{message[:1].lower()}{message[1:]} ({where} --help shows what is allowed)", ExitCode.BAD_INPUT
    if isinstance(problem, OSError):  # disk full, no permission, a folder in place of a file
        if problem.filename is None:
            discard_output()
        where = f"{problem.filename} cannot be used" if problem.filename else "output cannot be written"
        return f"{where}: {problem.strerror or text}", ExitCode.BAD_INPUT
    from regard.device import is_out_of_memory, missing_torch

    if isinstance(problem, ModuleNotFoundError) and problem.name == "torch":
        return str(missing_torch(" ".join(["regard", *words[:1]]))), ExitCode.BAD_INPUT
    if is_out_of_memory(problem):
        advice = "use a smaller model (--preset tiny) or smaller batches (--batch-tokens)"
        return f"out of memory; {advice}: {text}", ExitCode.BAD_INPUT
    kind = type(problem).__name__
    return f"unexpected {kind}: {text} (a bug of regard's; REGARD_TRACEBACK=1 shows where)", ExitCode.FAULT
