"""`regard export`: a model in the format of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import box
from regard.cli.options import Model, subject


def export(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    format: Annotated[
        str,
        typer.Option("--as", metavar="FORMAT", help="What to write: ctranslate2."),
    ] = "ctranslate2",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FOLDER", help="Where to write.  [default: a folder FORMAT in the model's own]"),
    ] = None,
    weights: Annotated[
        Literal["float32", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16"]
        | None,
        typer.Option("--weights", help="How weights are stored: int8 takes a quarter of the bytes, float16 half."),
    ] = None,
    model_flag: Model = None,
) -> None:
    """Write a model in the format of another program.

    ctranslate2: a folder for CTranslate2, which translates on CPUs several times faster than torch. regard translate
    uses it by itself if it lies in the model's folder and was made from the same weights; --engine chooses. A model in
    the box is converted when it is first used and needs no export. Weights are int8 unless named otherwise; what
    stands after int8_ is what biases are stored in. Transformers can be exported, except those with rotary positions
    or experts.

    \b
      regard export runs/mine
      regard export runs/mine --weights float32 --out mine-ct2
    """
    from regard.bundle.folder import find_bundle
    from regard.export.table import export as write

    folder = find_bundle(Path(subject(model, model_flag) or box.boxed()))
    for line in write(folder, format, out, weights):
        typer.echo(line)
