"""`regard import`: a model that somebody else trained, as one of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def import_(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A Marian model as Hugging Face stores it.")],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A folder that does not exist yet.")],
    weights: Annotated[
        Literal["float32", "float16", "int8"],
        typer.Option("--weights", help="How weights are stored: int8 takes a quarter of the bytes, float16 half."),
    ] = "float32",
    tag: Annotated[
        str | None,
        typer.Option(
            "--tag", metavar="TAG", help="One of the model's tags, such as >>fra<<, to be put before every source."
        ),
    ] = None,
) -> None:
    """Read a Marian model (OPUS-MT) as Hugging Face stores it.

    The folder holds config.json, model.safetensors or pytorch_model.bin, vocab.json, source.spm and target.spm. The
    result is a model like any other: translate, explain, align, train --start-from and export work with it.
    docs/marian.md says what is taken over, and which other models cannot be read.

    \b
      regard import opus-mt-en-fr --out mine
      regard import opus-mt-en-ROMANCE --tag '>>fra<<' --out mine
    """
    from regard.bundle.marian import import_marian

    for line in import_marian(folder, out, weights, tag):
        typer.echo(line)
