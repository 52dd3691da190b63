"""`regard pack`: a model as one small folder, to give away."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from regard import box
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle import Bundle
    from regard.compact import Storage

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
) -> None:
    """Write a model as one small folder that needs nothing else.

    Scores in its card are dropped where the weights change: they were of others. Folders of this machine are dropped
    from it too.
    """
    from regard.bundle import LEXICON, Bundle, find_bundle
    from regard.card import SCORES, read_about, without_places

    storage = chosen_storage(weights)
    if lexicon not in KEPT:
        raise InputError(f'--lexicon must be one of {", ".join(KEPT)}, but is "{lexicon}"')
    if out.exists():
        raise InputError(f"{out} is there already; name a folder that does not exist yet: --out FOLDER")
    said = {"about": read_about(about)} if about else {}
    folder = find_bundle(model or box.boxed())
    bundle = Bundle.load(folder)
    dropped = SCORES if storage != bundle.weights else ()
    card = {name: value for name, value in bundle.card.items() if name not in dropped}
    small = replace(bundle, weights=storage, card=without_places(card) | said)
    out.parent.mkdir(parents=True, exist_ok=True)
    work = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        small.save(work)
        if lexicon == "keep" and (folder / LEXICON).is_file():
            shutil.copyfile(folder / LEXICON, work / LEXICON)
        for path in work.iterdir():
            path.chmod(READABLE)
        lines = compared(bundle, Bundle.load(work))
        work.rename(out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for place, kind in ((folder, bundle.weights), (out, storage)):
        typer.echo(f"{folder_size(place) / 1e6:8.2f} MB  {kind:<9}{place}")
    for line in lines:
        typer.echo(line)


def chosen_storage(word: str) -> Storage:
    from regard.compact import Storage
    from regard.config import accept

    try:
        found: Storage = accept(word, Storage)
    except ValueError:
        raise InputError(f'--weights must be one of {", ".join(get_args(Storage))}, but is "{word}"') from None
    return found


def compared(before: Bundle, after: Bundle) -> list[str]:
    """How far two models are apart, in their weights and in what they say of a line that means nothing."""
    import torch

    from regard.batch import pack as batch_of
    from regard.bundle import unique_tensors
    from regard.compact import relative_errors

    errors = relative_errors(unique_tensors(before.model), unique_tensors(after.model))
    worst = max(errors, key=lambda name: errors[name])
    ids = [list(range(3, 3 + 20))]  # the first tokens that are no specials
    batch = batch_of(ids, ids).pad()
    with torch.inference_mode():
        one, other = (bundle.model(batch).log_softmax(dim=-1) for bundle in (before, after))
    assert one.shape == other.shape
    return [
        f"largest relative error of a tensor: {errors[worst]:.2%} ({worst})",
        f"largest difference of a log-probability: {float((one - other).abs().max()):.2g}",
    ]


def folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
