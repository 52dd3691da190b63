"""regard: neural machine translation you can see inside of.

>>> import regard
>>> translator = regard.load("en-fr", device="cpu")
>>> translator.translate("The black cat sleeps.").text
'Le chat noir dort.'

Importing this package loads no torch; each function imports what it needs when it is called. docs/python.md shows all
of the interface.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from regard.errors import InputError, RegardError
from regard.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from os import PathLike

    from regard.metrics.base import References
    from regard.metrics.bleu import BleuScore
    from regard.metrics.chrf import ChrfScore
    from regard.metrics.ter import TerScore
    from regard.recipe.recipe import Recipe
    from regard.search.options import Mbr, Sampling
    from regard.text.glossary import Glossary
    from regard.training.run import Outcome
    from regard.translation.options import TranslateOptions
    from regard.translation.translation import Translation
    from regard.translator import Translator, TranslatorChain

__all__ = [
    "Glossary",
    "Mbr",
    "RegardError",
    "Sampling",
    "TranslateOptions",
    "Translation",
    "Translator",
    "__version__",
    "bleu",
    "chrf",
    "load",
    "resume",
    "ter",
    "train",
    "translate",
]

_CLASSES = {
    "Glossary": "regard.text.glossary",
    "Mbr": "regard.search.options",
    "Sampling": "regard.search.options",
    "TranslateOptions": "regard.translation.options",
    "Translation": "regard.translation.translation",
    "Translator": "regard.translator",
}  # imported when they are first used, because the import is slow


def __getattr__(name: str) -> Any:
    if name not in _CLASSES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_CLASSES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


@overload
def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None, device: str = "auto", engine: str = "auto"
) -> Translator: ...


@overload
def load(path: str, device: str = "auto", engine: str = "auto", *, through: str) -> TranslatorChain: ...


def load(
    path: str | PathLike[str] | Sequence[str | PathLike[str]] | None = None,
    device: str = "auto",
    engine: str = "auto",
    *,
    through: str | None = None,
) -> Translator | TranslatorChain:
    """Load the translator in a model folder or a run's folder (its best model); several folders are loaded as an
    ensemble. Without a path, or with a name such as "en-fr", a bundled model is loaded. `device` is "auto", "cpu",
    "cuda", "cuda:1" or "mps"; `engine` is "native" (torch), "ctranslate2", or "auto", which uses CTranslate2 on a CPU
    where there is a converted model (docs/engines.md). With `through`, the path is a language pair such as "fr-de", and
    the result translates by way of a third language. Raises RegardError for a model that cannot be loaded.

    >>> import regard
    >>> regard.load(device="cpu").translate("The cat is on the mat.").text
    'Le chat est sur le tapis.'
    """
    if through is not None:
        from regard.by_language import load_through

        return load_through(path, through, device, engine)
    from regard.translator import Translator

    return Translator.load(path, device, engine)


@overload
def translate(
    texts: str,
    *,
    to: str,
    source: str | None = None,
    through: str | None = None,
    device: str = "auto",
    engine: str = "auto",
    **options: Any,
) -> Translation: ...


@overload
def translate(
    texts: Iterable[str],
    *,
    to: str,
    source: str | None = None,
    through: str | None = None,
    device: str = "auto",
    engine: str = "auto",
    **options: Any,
) -> list[Translation]: ...


def translate(
    texts: str | Iterable[str],
    *,
    to: str,
    source: str | None = None,
    through: str | None = None,
    device: str = "auto",
    engine: str = "auto",
    **options: Any,
) -> Translation | list[Translation]:
    """Translate a text, or several, into the language `to`, each with the bundled model for its language: `source`, or
    the one identified from the text. Where there is no such model, `through="en"` uses two, by way of English. Other
    options are those of `Translator.translate`. Raises InputError for an unknown language or option.

    >>> import regard
    >>> regard.translate("The cat is on the mat.", to="French", device="cpu").text
    'Le chat est sur le tapis.'
    """
    from regard.by_language import LanguageChoice, translate_by_language

    return translate_by_language(texts, LanguageChoice(to, source, through), device, engine, **options)


def train(recipe: Recipe | Mapping[str, Any] | str | PathLike[str], out: str | PathLike[str] | None = None) -> Outcome:
    """Train a model. `recipe` is a TOML file, its tables as a mapping, or a `Recipe`; `out` is the new folder of the
    run, by default the next free runs/run-N."""
    from collections.abc import Mapping
    from os import PathLike
    from pathlib import Path

    from regard.recipe.read import read_recipe
    from regard.recipe.recipe import Recipe
    from regard.training.folder import free_folder
    from regard.training.run import train as start

    if not isinstance(recipe, Recipe | Mapping | str | PathLike):
        raise InputError(f"a recipe is a TOML file, a mapping of its tables or a Recipe, but not {recipe!r}")
    if not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe if isinstance(recipe, Mapping) else Path(recipe))
    return start(recipe, Path(out) if out is not None else free_folder(Path("runs/run")))


def resume(run: str | PathLike[str], settings: Mapping[str, Any] | None = None, *, override: bool = False) -> Outcome:
    """Continue a run from its last checkpoint. `settings` are recipe keys to change, such as {"steps": 20_000}; a
    change that makes the run another one needs `override`."""
    from pathlib import Path

    from regard.training.run import resume as start

    changed = [
        (name, ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value))
        for name, value in (settings or {}).items()
    ]
    return start(Path(run), changed, override=override)


def bleu(hypotheses: Sequence[str], references: References, **options: Any) -> BleuScore:
    """Corpus BLEU with its signature. `references` is one list, or several of the same length; options are the fields
    of `regard.metrics.bleu.Bleu`.

    >>> import regard
    >>> round(regard.bleu(["the cat is on the mat"], ["the cat sat on the mat"]).score, 2)
    37.99
    """
    from regard.metrics.bleu import bleu as score

    return score(hypotheses, references, **options)


def chrf(hypotheses: Sequence[str], references: References, **options: Any) -> ChrfScore:
    """Corpus chrF; with `word_order=2` chrF++. Options are the fields of `regard.metrics.chrf.Chrf`.

    >>> import regard
    >>> print(regard.chrf(["the cat is on the mat"], ["the cat sat on the mat"]))
    chrF2 = 61.93
    """
    from regard.metrics.chrf import chrf as score

    return score(hypotheses, references, **options)


def ter(hypotheses: Sequence[str], references: References, **options: Any) -> TerScore:
    """Corpus TER, the edits per reference word; lower is better. Options are the fields of `regard.metrics.ter.Ter`.

    >>> import regard
    >>> print(regard.ter(["on the mat the cat sat"], ["the cat sat on the mat"]))
    TER = 16.67
    """
    from regard.metrics.ter import ter as score

    return score(hypotheses, references, **options)
