"""`regard info`: the model card as text."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from regard.bundle import box
from regard.cli.options import Json, Model, subject
from regard.cli.process import for_terminal

LEFT, WIDTH = 14, 110  # columns of the headings, and the longest line of prose
PROSE = ("title", "data", "training", "limits", "tags")


def info(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    model_flag: Model = None,
    as_json: Json = False,
) -> None:
    """Show what a model is and where it comes from.

    Architecture, sizes, data with licences, training, cost, scores with their signatures, limits. With --json the whole
    card.

    \b
      regard info
      regard info en-fr --json
    """
    from regard.bundle.describe import describe_json, describe_rows

    folder = subject(model, model_flag) or box.boxed()
    if as_json:
        typer.echo(json.dumps(describe_json(folder), indent=2, ensure_ascii=False))
        return
    rows = describe_rows(folder)
    for name, lines in rows.items():
        shown = [part for line in lines for part in (wrapped(line) if name in PROSE else [line])]
        for i, line in enumerate(shown):
            typer.echo(for_terminal(f"{name if i == 0 else '':<{LEFT}}{line}"))


def wrapped(line: str) -> list[str]:
    """Prose in lines; a word such as an address is never cut."""
    return textwrap.wrap(line, WIDTH - LEFT, break_long_words=False, break_on_hyphens=False)
