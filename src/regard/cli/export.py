"""`regard export`: a model in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import bundled_models
from regard.cli.options import Model, subject
from regard.errors import InputError


def export(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    kind: Annotated[
        Literal["ctranslate2", "huggingface"], typer.Option("--as", help="The program that is to load it.")
    ] = "ctranslate2",
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
            help="How weights are stored: int8 takes a quarter of the bytes, float16 half.",
        ),
    ] = None,
) -> None:
    """Write a model in the format of another program.

    ctranslate2: a folder for CTranslate2, which translates on CPUs several times faster than torch (docs/engines.md).
    It is used without being asked for if it lies in the model's folder and was made from the same weights. The model in
    the box is converted when it is first used and needs no export. Transformers can be exported, except those with
    rotary positions or experts. Weights: int8 (the default), int8_float32, int8_float16, int8_bfloat16, int16,
    float16, bfloat16 or float32; what stands after int8_ is what biases are stored in.

    huggingface: a folder that `transformers` loads, with its tokenizer (docs/marian.md). Weights: float32 (the
    default), float16 or bfloat16.

    \b
      regard export runs/mine
      regard export --as huggingface --out en-fr-huggingface
    """
    from regard.export.table import export_model

    chosen = subject(model, model_flag)
    if chosen is None and out is None:
        raise InputError("the model in the box is never written to; name a new folder: --out FOLDER")
    for line in export_model(chosen or bundled_models.folder_of(), kind, out, weights):
        typer.echo(line)
