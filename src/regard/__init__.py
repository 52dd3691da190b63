"""regard: neural machine translation you can see inside of.

>>> import regard
>>> regard.load().translate(["The black cat sleeps."])[0].text      # doctest: +SKIP
'Le chat noir dort.'

Importing this package loads no torch; each function imports what it needs when it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.errors import RegardError
from regard.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    from regard.decode.translate import Translator
    from regard.metrics.bleu import BleuScore
    from regard.recipe.recipe import Recipe
    from regard.training.run import Outcome

__all__ = ["RegardError", "__version__", "bleu", "load", "train"]


def load(path: str | PathLike[str] | None = None, device: str = "auto") -> Translator:
    """The translator in a bundle or in a run's folder (its best model), ready: `.translate(["…"])`. Without a path, or
    with a name such as "en-fr", the one in the box."""
    from pathlib import Path

    from regard.decode.translate import Translator

    return Translator.load(None if path is None else Path(path), device)


def train(recipe: Recipe | Mapping[str, Any] | str | PathLike[str], out: str | PathLike[str] | None = None) -> Outcome:
    """Train by a recipe (an object, tables as in TOML, or a TOML file) in the new folder `out`, else in runs/run."""
    from collections.abc import Mapping
    from pathlib import Path

    from regard.recipe.read import read_recipe
    from regard.recipe.recipe import Recipe
    from regard.training.folder import free_folder
    from regard.training.run import train as start

    if not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe if isinstance(recipe, Mapping) else Path(recipe))
    return start(recipe, Path(out) if out is not None else free_folder(Path("runs/run")))


def bleu(hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]], **options: Any) -> BleuScore:
    """Corpus BLEU with a signature; options as in `regard.metrics.bleu.bleu`."""
    from regard.metrics.bleu import bleu as score

    return score(hypotheses, references, **options)
