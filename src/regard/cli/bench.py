"""`regard bench train`: measures how fast a recipe trains on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import FlagTable, Json
from regard.cli.recipe_flags import recipe_arguments
from regard.errors import RecipeError

if TYPE_CHECKING:
    from regard.recipe.recipe import Recipe

FLAGS = FlagTable("--updates N 1..10000  Updates to time, twice.")

PAIRS = 5_000  # pairs of the embedded corpus, if no data is given


def bench(context: typer.Context, updates: Annotated[int, FLAGS("--updates")] = 10, as_json: Json = False) -> None:
    """Measure how fast a recipe trains here, and what limits it.

    Times some updates: tokens and operations per second, the share of what the device can do, memory, how full batches
    are, the time of each part, and what limits the speed. Without data it takes the embedded corpus. No run is made.

    \b
      regard bench train --preset tiny --updates 3
      regard bench train --src corpus/train.en --tgt corpus/train.fr --preset tiny --updates 3 --json
    """
    arguments = recipe_arguments(context)
    if not arguments.arguments and not arguments.settings:
        typer.echo(context.get_help())
        return
    if arguments.arguments[:1] != ["train"] or len(arguments.arguments) > 2:
        raise RecipeError("bench measures training; type: regard bench train [RECIPE.toml] [--KEY VALUE]…")

    import json
    import tempfile

    from rich.console import Console

    from regard.recipe.read import read_recipe
    from regard.training.rehearsal import as_text, measure

    recipe = read_recipe(Path(arguments.arguments[1]) if len(arguments.arguments) > 1 else None, arguments.settings)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(with_data(recipe, Path(folder)), updates, Console(stderr=True))
    typer.echo(json.dumps(found, indent=2) if as_json else as_text(found))


def with_data(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe itself or, if it names no data, with the embedded corpus, written to a temporary folder."""
    from dataclasses import replace

    data = recipe.data
    if data.src or data.tgt or data.pairs or data.corpus:
        return recipe
    from regard.course.grammar import generate, write_corpus

    write_corpus(folder, generate(PAIRS))
    src, tgt, dev_src, dev_tgt = (str(folder / name) for name in ("train.en", "train.fr", "dev.en", "dev.fr"))
    cache = str(folder / "cache")
    return replace(recipe, data=replace(data, src=src, tgt=tgt, dev_src=dev_src, dev_tgt=dev_tgt, cache=cache))
