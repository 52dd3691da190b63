"""`regard export`: a model in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import box
from regard.cli.options import Model, subject
from regard.errors import InputError


def export(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    kind: Annotated[
        Literal["huggingface"], typer.Option("--as", help="The program that is to load it.")
    ] = "huggingface",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FOLDER", help="A folder that does not exist yet.  [default: in the model's own]"
        ),
    ] = None,
    model_flag: Model = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="TYPE",
            help="How weights are stored: float32, float16 or bfloat16.  [default: float32]",
        ),
    ] = None,
) -> None:
    """Write a model in the format of another program.

    huggingface: a folder that `transformers` loads, with its tokenizer (docs/marian.md).

    \b
      regard export --as huggingface --out en-fr-huggingface
      regard export runs/mine --as huggingface
    """
    from regard.export.table import export_model

    chosen = subject(model, model_flag)
    if chosen is None and out is None:
        raise InputError("the model in the box is never written to; name a new folder: --out FOLDER")
    for line in export_model(chosen or box.boxed(), kind, out, weights):
        typer.echo(line)
