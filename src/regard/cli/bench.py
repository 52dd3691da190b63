"""`regard bench`: measures the speed of training and of translation on this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Beam, Device, Engine, FlagTable, Json, Model
from regard.cli.recipe_flags import RecipeCommand, recipe_arguments
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.recipe.recipe import Recipe

TRAIN_FLAGS = FlagTable("--updates N 1..10000  Updates to time, twice.")
TRANSLATE_FLAGS = FlagTable("""
--lines N 1..           Translate only the first N lines.
--workers N 1..256      Processes that share the work.
--repeat N 1..100       Time everything N times, after a run to warm up; the fastest counts.
""")

PAIRS = 5_000  # pairs of the embedded corpus, if no data is given

app = typer.Typer(
    rich_markup_mode=None,
    help="""Measure the speed of training and of translation.

    \b
      regard bench train --preset tiny --updates 3
      regard bench translate corpus/dev.en --lines 100
    """,
)


@app.command(cls=RecipeCommand, options_metavar="[RECIPE.toml] [OPTIONS] [--KEY VALUE]…")
def train(
    context: typer.Context, updates: Annotated[int, TRAIN_FLAGS("--updates")] = 10, as_json: Json = False
) -> None:
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

    import json
    import tempfile

    from rich.console import Console

    from regard.recipe.read import read_recipe
    from regard.training.rehearsal import as_text, measure

    recipe = read_recipe(arguments.recipe("bench train"), arguments.settings)
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


@app.command()
def translate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A text with one or several sentences in a line.")],
    model: Model = None,
    lines: Annotated[int | None, TRANSLATE_FLAGS("--lines")] = None,
    beam: Beam = None,
    workers: Annotated[int, TRANSLATE_FLAGS("--workers")] = 1,
    repeat: Annotated[int, TRANSLATE_FLAGS("--repeat")] = 3,
    as_json: Json = False,
    device: Device = "auto",
    engine: Engine = "auto",
) -> None:
    """Measure how fast a text is translated here, and where the time goes.

    Times the translation of the lines from text to text, with all checks and without any, and the engine alone on the
    same token ids. Prints sentences and source words per second, CPU time, and the time of each stage. On a GPU,
    --workers processes prepare and check text while this one searches.

    \b
      regard bench translate corpus/dev.en --lines 100
      regard bench translate corpus/dev.en --lines 100 --beam 1 --workers 2 --json
    """
    import json

    from regard.bulk.speed import measure_speed
    from regard.cli.translate_models import load_models
    from regard.data.text_files import read_lines
    from regard.translator import Translator

    texts = [line for line in read_lines(file) if line.strip()][:lines]
    if not texts:
        raise InputError(f"{file} has no line to translate")
    load = partial(load_models, None if model is None else [model], device, engine, False, None)
    translator = load(0)
    assert isinstance(translator, Translator)
    options = {} if beam is None else {"beam": beam}
    found = measure_speed(translator, texts, options, workers, repeat, load)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
