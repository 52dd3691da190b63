"""The command line. Each command is a thin skin over the package; nothing is computed here.

Whatever goes wrong because of the input is one line on standard error and exit code 2. Commands import what they need when
they run, so that `regard --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import typer

from regard.cli.corpus import corpus
from regard.cli.demo import demo
from regard.cli.info import info
from regard.cli.score import bleu
from regard.cli.train import resume, train
from regard.cli.translate import translate
from regard.errors import RegardError

app = typer.Typer(
    name="regard",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: drawing boxes would cost half of the 0.3 s
    help="Neural machine translation you can see inside of.\n\n"
    "Start with regard demo, or with your own two files: "
    "regard train --src a.en --tgt a.fr --out runs/mine, then "
    'regard translate --model runs/mine "A sentence."',
)

WORDS = {"allow_extra_args": True, "ignore_unknown_options": True}  # these two read their own words
app.command(context_settings=WORDS, add_help_option=False)(train)
app.command(context_settings=WORDS, add_help_option=False)(resume)
app.command()(translate)
app.command()(bleu)
app.command()(corpus)
app.command()(info)
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


def main(words: Sequence[str] | None = None) -> None:
    try:
        app(args=list(words) if words is not None else None)
    except RegardError as problem:
        line = " ".join(str(problem).split())
        print(f"regard: {line}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of a pipe left; what it did not want is not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as problem:
        if os.environ.get("REGARD_TRACEBACK"):
            raise
        print(
            f"regard: unexpected {type(problem).__name__}: {' '.join(str(problem).split())[:300]} "
            "(a bug of regard's; REGARD_TRACEBACK=1 shows where)",
            file=sys.stderr,
        )
        sys.exit(1)
