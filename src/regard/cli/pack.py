"""`regard pack`: a model as one small folder, to give away."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.bundle import box
from regard.cli.options import Model, number, subject
from regard.errors import InputError

READABLE = 0o644  # what is given away, others must be able to read


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
        typer.Option("--about", metavar="FILE", help="What its card says about it (TOML; docs/model.md shows one)."),
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
) -> None:
    """Write a model as one small folder, to copy or publish.

    Where the weights change, the scores in the card are dropped, because they were measured with other weights. Names
    of folders on this machine are dropped too. With a new tag, scores, the view of attention and the lexicon are
    dropped.
    A model for both directions (--tag) and a model that was adapted from another (--rank) can share the files of a
    model next to it (--beside); docs/model.md shows both.

    \b
      regard pack runs/mine --out small
      regard pack en-fr --weights float16 --out en-fr-float16
    """
    from regard.bundle.bundle import Bundle
    from regard.bundle.card import MEASURED, SCORES, read_about, without_places
    from regard.bundle.folder import LEXICON, find_bundle
    from regard.bundle.pack import compared, neighbour, save_beside

    if out.exists():
        raise InputError(f"{out} is there already; name a folder that does not exist yet: --out FOLDER")
    said = {"about": read_about(about)} if about else {}
    folder = find_bundle(subject(model, model_flag) or box.boxed())
    bundle = Bundle.load(folder)
    tokenizer = bundle.tokenizer if tag is None else bundle.tokenizer.marked(tag)
    if tag is not None and "about" in bundle.card and not about:
        raise InputError(f"the card of {folder} speaks of it without the tag; say what it is with {tag}: --about FILE")
    dropped = MEASURED if tag is not None else SCORES if weights != bundle.weights else ()
    card = {name: value for name, value in bundle.card.items() if name not in dropped}
    small = replace(bundle, tokenizer=tokenizer, weights=weights, card=without_places(card) | said)
    if rank and beside is None:
        raise InputError(f"--rank {rank} is of a difference from another model; add --beside FOLDER")
    name = "" if beside is None else neighbour(beside, out)  # before anything is written
    out.parent.mkdir(parents=True, exist_ok=True)
    work = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        if beside is None:
            small.save(work)
        else:
            save_beside(small, work, beside, name, rank)
        lines = compared(bundle, Bundle.load(work))
        if lexicon == "keep" and tag is None and (folder / LEXICON).is_file():
            shutil.copyfile(folder / LEXICON, work / LEXICON)
        for path in work.iterdir():
            path.chmod(READABLE)
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for place, kind in ((folder, bundle.weights), (out, weights)):
        typer.echo(f"{folder_size(place) / 1e6:8.2f} MB  {kind:<9}{place}")
    for line in lines:
        typer.echo(line)


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
