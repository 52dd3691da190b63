"""The bundled models: small translators that come with the package, each a bundle in `bundled/SOURCE-TARGET/`.

One may use the files of another (`folder.py`), so that one set of weights serves several directions. `en-fr-classic` is
a smaller one, for everyday sentences, that the course and docs/explain.md analyse; `en-fr-rnn` and `en-fr-notes` are
small recurrent models of the course. Commands use the default one if no model is named, and any of them by its name if
there is no folder of that name. They are read and never written. The environment variable REGARD_BOX may name a folder
of more models, which take precedence over those of the package.

A bundled model whose name is two language codes, such as `de-en`, translates from the first language to the second; if
there is none, two models may translate through a pivot language. If the source is not given, it is identified in the
text, among the languages that can be translated into the target (`text/language_identification.py`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from regard.errors import BundleError, InputError
from regard.text.language import language_code, language_name
from regard.text.language_identification import identify_language, language_words

HOME = Path(__file__).parents[1] / "bundled"
DEFAULT = "en-fr"
CONFIG = "config.json"  # as in folder.py


def search_folders() -> list[Path]:
    """Returns the folders of models, the user's own before the package's."""
    own = os.environ.get("REGARD_BOX")
    if not own:
        return [HOME]
    if not Path(own).is_dir():
        raise BundleError(f"REGARD_BOX must name a folder of models, but {own} is not a folder")
    return [Path(own), HOME]


def names() -> list[str]:
    """Returns the names of the bundled models, sorted."""
    return sorted({path.parent.name for home in search_folders() for path in home.glob(f"*/{CONFIG}")})


def folder_of(name: str = DEFAULT) -> Path:
    """Returns the folder of a bundled model; raises `BundleError` if there is none of that name."""
    for home in search_folders():
        if (home / name / CONFIG).is_file():
            return home / name
    raise BundleError(f'there is no bundled model "{name}"; name a folder of your own, or {suggestion()}')


def is_bundled(folder: Path) -> bool:
    """Whether a folder is a bundled model, the package's or the user's."""
    return folder.resolve().parent in [home.resolve() for home in search_folders()]


def suggestion() -> str:
    """Returns the end of an error message: the names of the bundled models."""
    found = names()
    return f"a bundled one: {', '.join(found)}" if found else "train one: regard demo (this copy has no bundled models)"


PIVOT = "en"  # the language through which others can be translated


class Direction(NamedTuple):
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


class NoDirectionError(InputError):
    """Raised if there is no translator for two languages. `problem` is the message; `way` is a pivot language through
    which there is one, `source` the source language, and `found` whether it was identified in a text."""

    def __init__(self, problem: str, way: str | None = None, source: str | None = None) -> None:
        self.problem, self.way, self.source, self.found = problem, way, source, False
        remedy = f'; through="{way}" translates by way of {language_name(way)}, which loses more' if way else ""
        super().__init__(problem + remedy)


class Choice(NamedTuple):
    """The models that translate a text, in order: one, two through a pivot language, or none if the text is in the
    target language already."""

    models: tuple[str, ...]
    source: str
    target: str
    sure: bool = True  # whether the source is given, or identified with confidence
    mixed: bool = False  # whether the lines of the text are in several languages


def directions() -> list[Direction]:
    """Returns the directions of the bundled models.

    >>> Direction("en", "fr") in directions()
    True
    """
    pairs = (name.split("-") for name in names())
    return [Direction(*pair) for pair in pairs if len(pair) == 2 and all(language_code(one) == one for one in pair)]


def known_language(name: str, parameter: str = "") -> str:
    """Returns the code of a language, given its name or code; raises InputError if it is unknown.

    >>> known_language("French"), known_language("deu"), known_language("es-MX")
    ('fr', 'de', 'es')
    """
    code = language_code(name)
    if code is None:
        known = sorted({code for direction in directions() for code in direction})
        raise InputError(
            f'"{name}" is not a language that is known; give a code or an English name, such as '
            f"{', '.join(known)} or {language_name(known[0]) if known else 'French'}",
            parameter=parameter or (),
        )
    return code


def find_models(
    source: str, target: str, through: str | None = None, there: Collection[Direction] | None = None
) -> tuple[str, ...]:
    """Returns the names of the directions that translate from one language to another: one or, if there is none, two
    through the pivot language `through`. `there` are the directions to choose from, by default those of the bundled
    models. Raises `NoDirectionError` if there is no such translation."""
    if source == target:
        raise InputError(f"source and target are both {language_name(source)}, so there is nothing to translate")
    there = directions() if there is None else there
    if (direct := Direction(source, target)) in there:
        return (str(direct),)
    problem = f"there is no translator from {language_name(source)} to {language_name(target)}"
    if through is not None:
        steps = Direction(source, through), Direction(through, target)
        if missing := [step for step in steps if step not in there]:
            raise NoDirectionError(f"{problem}, and none for {missing[0]} on the way; {_there(there)}", source=source)
        return str(steps[0]), str(steps[1])
    if {Direction(source, PIVOT), Direction(PIVOT, target)} <= set(there):
        raise NoDirectionError(problem, PIVOT, source)
    raise NoDirectionError(f"{problem}; {_there(there)}", source=source)


def check_pair(name: str) -> None:
    """Raises `NoDirectionError` if a name that is no model is two languages that a pivot language connects."""
    source, _, target = name.partition("-")
    there = set(directions())
    if {Direction(source, PIVOT), Direction(PIVOT, target)} <= there and Direction(source, target) not in there:
        find_models(source, target)


def choose(
    texts: Iterable[str],
    target: str,
    source: str | None = None,
    through: str | None = None,
    there: Collection[Direction] | None = None,
) -> Choice:
    """Chooses the models for texts in one language, which is identified unless `source` is given."""
    there = directions() if there is None else there
    if source is not None:
        return Choice(find_models(source, target, through, there), source, target)
    texts = list(texts)
    last = {target, through} if through is not None and Direction(through, target) in there else {target}
    ways = {one.source for one in there if one.target in last} - {target}
    if not ways:
        raise NoDirectionError(f"there is no translator to {language_name(target)}; {_there(there)}")
    # Among all languages of the bundled models, so that none of them is mistaken for another.
    found = identify_language(texts, sorted({one.source for one in there} | {target}))
    if not found.sure:  # then only among translatable languages; for a text without words any will do
        found = identify_language(texts, sorted(ways))._replace(sure=not any(map(language_words, texts)))
    try:
        models = () if found.language == target else find_models(found.language, target, through, there)
    except NoDirectionError as problem:
        problem.found = True
        raise
    return Choice(models, found.language, target, found.sure, found.mixed)


def _there(there: Iterable[Direction]) -> str:
    return f"bundled are {', '.join(map(str, there)) or 'none'}"
