"""The command line. Each command is a thin skin over the package; nothing is computed here.

Whatever goes wrong because of the input is one line on standard error and exit code 2. Commands import what they need
when they run, so that `regard --help` answers at once.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from regard.cli.align import align
from regard.cli.bench import bench
from regard.cli.claims import claims
from regard.cli.compare import compare
from regard.cli.complexity import complexity
from regard.cli.corpus import corpus
from regard.cli.demo import demo
from regard.cli.doctor import doctor
from regard.cli.explain import app as explain
from regard.cli.fetch import fetch
from regard.cli.info import info
from regard.cli.lexicon import lexicon
from regard.cli.pack import pack
from regard.cli.score import ScoreCommand, bleu
from regard.cli.train import resume, train
from regard.cli.translate import translate
from regard.errors import RegardError

app = typer.Typer(
    name="regard",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: drawing boxes would cost half of the 0.3 s
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Neural machine translation you can see inside of.\n\n"
    "A small English-French model is in the box:\n\n"
    '  regard translate "The cat is on the mat."\n\n'
    "To see all of it at work, from training on:\n\n"
    "  regard demo\n\n"
    "With two text files of your own, line n of one translating line n of the other:\n\n"
    "  regard train --src a.en --tgt a.fr --out runs/mine\n\n"
    '  regard translate --model runs/mine "A sentence."',
)

WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}  # these read their own words
app.command(context_settings=WORDS, add_help_option=False)(train)
app.command(context_settings=WORDS, add_help_option=False)(resume)
app.command(context_settings=WORDS, add_help_option=False)(bench)
app.command(context_settings=WORDS, add_help_option=False)(doctor)
app.command()(translate)
app.add_typer(explain, name="explain")
app.command()(lexicon)
app.command()(align)
app.command(cls=ScoreCommand)(bleu)
app.command(context_settings=WORDS, add_help_option=False)(compare)
app.command()(claims)
app.command()(complexity)
app.command()(corpus)
app.command()(fetch)
app.command()(info)
app.command()(pack)
app.command()(demo)


def version(value: bool) -> None:
    if value:
        from regard import __version__

        typer.echo(f"regard {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=version, is_eager=True, help="Print the version."),
) -> None:
    pass


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
    with command.make_context("regard", words) as context:
        command.invoke(context)
    sys.stdout.flush()


def _explained(problem: Exception, words: list[str]) -> tuple[str, int]:
    """A line and an exit code for what is not an error of our own."""
    text = " ".join(str(problem).split())[:300]
    if hasattr(problem, "format_message"):  # a wrong flag or command, seen by the parser
        said = problem.format_message().strip().rstrip(".")
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
