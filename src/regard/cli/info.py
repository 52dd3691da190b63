"""`regard info`: the model card as text, or all models in the box in a table."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.bundle import bundled_models
from regard.cli.options import Json, Model, subject
from regard.cli.process import for_terminal
from regard.errors import InputError

LEFT, WIDTH = 14, 110  # columns of the headings, and the longest line of prose
PROSE = ("title", "data", "training", "limits", "tags")


def info(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    model_flag: Model = None,
    all_models: Annotated[
        bool, typer.Option("--all", help="List the models in the box: languages, size, scores, licences of their data.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what a model is and where it comes from.

    Architecture, sizes, data with licences, training, cost, scores with their signatures, limits. With --json the whole
    card. With --all the models in the box, one a line; a name of two languages, such as en-fr, is one of --to.

    \b
      regard info --all
      regard info en-fr --json
    """
    from regard.bundle.describe import describe_box, describe_json, describe_rows

    named = subject(model, model_flag)
    if all_models:
        if named is not None:
            raise InputError(f"--all is about every model in the box, and {named} is one; give one of them")
        show_box(describe_box(), as_json)
        return
    folder = named or bundled_models.folder_of()
    if as_json:
        typer.echo(json.dumps(describe_json(folder), indent=2, ensure_ascii=False))
        return
    rows = describe_rows(folder)
    for name, lines in rows.items():
        shown = [part for line in lines for part in (wrapped(line) if name in PROSE else [line])]
        for i, line in enumerate(shown):
            typer.echo(for_terminal(f"{name if i == 0 else '':<{LEFT}}{line}"))


def show_box(models: list[dict[str, Any]], as_json: bool) -> None:
    """Scores in the table are BLEU; cards have more."""
    if as_json:
        typer.echo(json.dumps(models, indent=2, ensure_ascii=False))
        return
    from regard.report.table import Table

    header = ["model", "MB", "title", "BLEU", "data"]
    rows = []
    for one in models:
        size = f"{one['bytes'] / 1e6:.1f}"
        scores = [f"{test} {found['BLEU']:.1f}" for test, found in one["tests"].items() if "BLEU" in found]
        title = one["title"] + (f" (weights of {one['beside']})" if one["beside"] else "")
        rows.append([one["name"], size, title, ", ".join(scores) or "not measured", ", ".join(one["licences"])])
    typer.echo(Table(header, rows, left=(0, 2, 3, 4)).text(WIDTH) if rows else "the box is empty")


def wrapped(line: str) -> list[str]:
    """Prose in lines; a word such as an address is never cut."""
    return textwrap.wrap(line, WIDTH - LEFT, break_long_words=False, break_on_hyphens=False)
