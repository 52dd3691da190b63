"""`regard pack`: a model as one small folder, to give away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import bundled_models
from regard.cli.options import Model, number, subject
from regard.errors import InputError


def pack(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help="The model; --model is the same."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="A folder that does not exist yet.")] = ...,  # type: ignore[assignment]
    model_flag: Model = None,
    weights: Annotated[
        Literal["float32", "float16", "int8"],
        typer.Option("--weights", help="How weights are stored: int8 takes a quarter of the bytes, float16 half."),
    ] = "int8",
    lexicon: Annotated[
        Literal["keep", "drop"],
        typer.Option("--lexicon", help="What to do with the lexicon beside the model, if there is one."),
    ] = "keep",
    about: Annotated[
        Path | None,
        typer.Option(
            "--about", metavar="FILE", help="What its card says about it (TOML; docs/bundled-models.md shows one)."
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option(
            "--tag", metavar="TAG", help="One of the model's tags; the packed model puts it before every source."
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option(
            "--beside",
            metavar="FOLDER",
            help="A model next to --out with the same weights and vocabulary: they are not written again.",
        ),
    ] = None,
    rank: Annotated[
        int,
        typer.Option(
            "--rank",
            parser=number("--rank", int, 0),
            metavar="N",
            help="With --beside: write only the difference from its weights, at this rank, as training with "
            "--start-from and --lora-rank makes it.",
        ),
    ] = 0,
    src: Annotated[
        Path | None,
        typer.Option(
            "--src",
            metavar="FILE",
            help="Of a model that learnt slots in several directions: sources of this one, for the words it knows.",
        ),
    ] = None,
    tgt: Annotated[
        Path | None, typer.Option("--tgt", metavar="FILE", help="With --src: their translations, line by line.")
    ] = None,
) -> None:
    """Write a model as one small folder, to copy or publish.

    Where the weights change, the scores in the card are dropped, because they were measured with other weights. Names
    of folders on this machine are dropped too. With a new tag, scores, the view of attention and the lexicon are
    dropped.
    A model for both directions (--tag) and a model that was adapted from another (--rank) can share the files of a
    model next to it (--beside); docs/bundled-models.md shows both.

    \b
      regard pack runs/mine --out small
      regard pack en-fr --weights float16 --out en-fr-float16
    """
    from regard.bundle.pack import PackOptions, pack_bundle

    if (src is None) != (tgt is None):
        raise InputError("--src and --tgt are two sides of the same pairs; give both or none")
    pairs = (src, tgt) if src and tgt else None
    options = PackOptions(weights, lexicon == "keep", about, tag, beside, rank, pairs)
    for line in pack_bundle(subject(model, model_flag) or bundled_models.folder_of(), out, options):
        typer.echo(line)
