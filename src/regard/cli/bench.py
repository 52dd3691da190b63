"""`regard bench train`: how fast a recipe trains on this machine. It is measured in `training/profile.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from regard.cli.words import print_help, read_words
from regard.errors import RecipeError

if TYPE_CHECKING:
    from regard.recipe.recipe import Recipe

UPDATES = 10
PAIRS = 5_000  # of the embedded corpus, where no data is given


def bench(context: typer.Context) -> None:
    """Measure how fast a recipe trains here, and what bounds it."""
    words = read_words(context.args, options=("updates",), switches=("help", "json"))
    if "help" in words.options or not context.args:
        explain_bench()
        return
    if words.plain[:1] != ["train"] or len(words.plain) > 2:
        raise RecipeError("bench measures training; type: regard bench train [RECIPE.toml] [--KEY VALUE]…")
    updates = read_updates(words.options.get("updates", str(UPDATES)))

    import json
    import tempfile

    from rich.console import Console

    from regard.recipe.read import read_recipe
    from regard.training.profile import as_text, measure

    recipe = read_recipe(Path(words.plain[1]) if len(words.plain) > 1 else None, words.settings)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(with_data(recipe, Path(folder)), updates, Console(stderr=True))
    typer.echo(json.dumps(found.to_dict(), indent=2) if "json" in words.options else as_text(found))


def read_updates(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) < 1:
        raise RecipeError(f'--updates must be a whole number from 1 on, but is "{word}"')
    return int(word)


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


def explain_bench() -> None:
    print_help(
        "regard bench train [RECIPE.toml] [--KEY VALUE]… [--updates N] [--json]",
        "Time some updates of a recipe on this machine: tokens and operations a second, the share of what the device "
        "can do, memory, how well batches are filled, the time of each part, and what bounds it. Without data it takes "
        "the embedded corpus. No run is made.",
        [
            "regard bench train",
            "regard bench train recipe.toml --batch-tokens 8192",
            "regard bench train --src a.en --tgt a.fr --preset base --json",
        ],
        [
            ("--updates N", f"updates to time, twice (default: {UPDATES})"),
            ("--json", "print JSON"),
            ("--KEY VALUE", "a key of the recipe; regard train --help lists them"),
            ("--set KEY=VALUE", "the same, also with the key's section: train.batch_tokens=8192"),
        ],
    )
