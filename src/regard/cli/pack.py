"""`regard pack`: a model as one small folder, to give away."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from regard.bundle import box
from regard.cli.lines import number
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.weights import Storage

KEPT = ("keep", "drop")
READABLE = 0o644  # what is given away, others must be able to read


def pack(
    model: Annotated[
        Path | None,
        typer.Argument(metavar="[MODEL]", help=f"A model, or a run (its best).  [default: {box.DEFAULT}, in the box]"),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="A folder that does not exist yet.")] = ...,  # type: ignore[assignment]
    weights: Annotated[
        str,
        typer.Option(metavar="HOW", help="int8 (a quarter of the bytes), float16 (half of them) or float32."),
    ] = "int8",
    lexicon: Annotated[
        str, typer.Option(metavar="HOW", help="keep or drop the lexicon beside the model, if there is one.")
    ] = "keep",
    about: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What to say of it in its card (TOML; docs/model.md shows one)."),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="TAG", help="One of the model's tags, to stand before every source by itself."),
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
            parser=number("--rank", int),
            metavar="N",
            help="With --beside: only the difference from the weights there is written, of this rank, as training with "
            "--start-from and --lora-rank makes it.",
        ),
    ] = 0,
) -> None:
    """Write a model as one small folder that needs nothing else, unless it is put beside another.

    Scores in its card are dropped where the weights change: they were of others. Folders of this machine are dropped
    from it too. With a tag that it did not have, scores, the view of attention and the lexicon are dropped.

    One model for both ways as two, whose weights are stored once:

      regard pack runs/both --out en-fr

      regard pack runs/both --out fr-en --tag "<en>" --beside en-fr

    A model that was adapted from another (--start-from en-fr --lora-rank 16), as what it differs by:

      regard pack runs/law --out law --beside en-fr --rank 16
    """
    from regard.bundle.bundle import Bundle
    from regard.bundle.card import MEASURED, SCORES, read_about, without_places
    from regard.bundle.folder import LEXICON, find_bundle
    from regard.bundle.pack import compared, neighbour, save_beside

    storage = chosen_storage(weights)
    if lexicon not in KEPT:
        raise InputError(f'--lexicon must be one of {", ".join(KEPT)}, but is "{lexicon}"')
    if out.exists():
        raise InputError(f"{out} is there already; name a folder that does not exist yet: --out FOLDER")
    said = {"about": read_about(about)} if about else {}
    folder = find_bundle(model or box.boxed())
    bundle = Bundle.load(folder)
    tokenizer = bundle.tokenizer if tag is None else bundle.tokenizer.marked(tag)
    if tag is not None and "about" in bundle.card and not about:
        raise InputError(f"the card of {folder} speaks of it without the tag; say what it is with {tag}: --about FILE")
    dropped = MEASURED if tag is not None else SCORES if storage != bundle.weights else ()
    card = {name: value for name, value in bundle.card.items() if name not in dropped}
    small = replace(bundle, tokenizer=tokenizer, weights=storage, card=without_places(card) | said)
    if rank < 0 or (rank and beside is None):
        why = "must not be negative" if rank < 0 else "is of a difference from another model; add --beside FOLDER"
        raise InputError(f"--rank {rank} {why}")
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
    for place, kind in ((folder, bundle.weights), (out, storage)):
        typer.echo(f"{folder_size(place) / 1e6:8.2f} MB  {kind:<9}{place}")
    for line in lines:
        typer.echo(line)


def chosen_storage(word: str) -> Storage:
    from regard.bundle.weights import Storage
    from regard.config import accept

    try:
        found: Storage = accept(word, Storage)
    except ValueError:
        raise InputError(f'--weights must be one of {", ".join(get_args(Storage))}, but is "{word}"') from None
    return found


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
