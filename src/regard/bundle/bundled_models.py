"""The bundled models: small translators that come with the package, each a bundle in `boxed/SOURCE-TARGET/`.

One may use the files of another (`folder.py`), so that one set of weights translates several ways. `en-fr-classic` is a
smaller one, for everyday sentences, that the course and docs/explain.md look into. Commands use the default one where
no model is named, and any of them by its name where there is no folder of that name. They are read and never written.
The environment variable REGARD_BOX may name a folder of further models, which go before those of the package.

A bundled model whose name is two codes of languages, such as `de-en`, is the translator from the first to the second;
where there is none, two of them may translate by way of a third language. Where the source is not named it is found in
the text, among the languages that can be translated into the target (`text/identify_language.py`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

from regard.errors import BundleError, InputError
from regard.text.language import language_code, language_name
from regard.text.language_identification import identify_language, language_words

HOME = Path(__file__).parents[1] / "boxed"
DEFAULT = "en-fr"
CONFIG = "config.json"  # as in folder.py


def search_folders() -> list[Path]:
    """The folders of models, the user's own before the package's."""
    own = os.environ.get("REGARD_BOX")
    if not own:
        return [HOME]
    if not Path(own).is_dir():
        raise BundleError(f"REGARD_BOX must name a folder of models, but {own} is not a folder")
    return [Path(own), HOME]


def names() -> list[str]:
    """The names of the bundled models, sorted."""
    return sorted({path.parent.name for home in search_folders() for path in home.glob(f"*/{CONFIG}")})


def folder_of(name: str = DEFAULT) -> Path:
    """The folder of a bundled model; `BundleError` where there is none of that name."""
    for home in search_folders():
        if (home / name / CONFIG).is_file():
            return home / name
    raise BundleError(f'there is no bundled model "{name}"; name a folder of your own, or {suggestion()}')


def is_bundled(folder: Path) -> bool:
    """Whether a folder is a bundled model, the package's or the user's."""
    return folder.resolve().parent in [home.resolve() for home in search_folders()]


def suggestion() -> str:
    """The end of an error: what else could be named."""
    found = names()
    return f"a bundled one: {', '.join(found)}" if found else "train one: regard demo (this copy has no bundled models)"


PIVOT = "en"  # the language by way of which others can be translated


class Direction(NamedTuple):
    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


class NoDirectionError(InputError):
    """No translator for two languages. `problem` says so; `way` is the language by way of which there is one, `found`
    says whether the source was found in a text, and `source` which it is."""

    def __init__(self, problem: str, way: str | None = None, source: str | None = None) -> None:
        self.problem, self.way, self.source, self.found = problem, way, source, False
        remedy = f'; through="{way}" translates by way of {language_name(way)}, which loses more' if way else ""
        super().__init__(problem + remedy)


class Choice(NamedTuple):
    """The models that translate a text, one after another: one, two by way of another language, or none where the text
    is in the target language already."""

    models: tuple[str, ...]
    source: str
    target: str
    sure: bool = True  # whether the source is given, or clear from the text
    mixed: bool = False  # whether the lines of the text are in several languages


def directions() -> list[Direction]:
    """The directions of the bundled models.

    >>> Direction("en", "fr") in directions()
    True
    """
    pairs = (name.split("-") for name in names())
    return [Direction(*pair) for pair in pairs if len(pair) == 2 and all(language_code(one) == one for one in pair)]


def known_language(name: str, parameter: str = "") -> str:
    """The code of a language by its name or code.

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
    """The directions, by their names, of the models that translate from one language to another: one or, by way of a
    third language where there is none and that is asked for, two. `there` are those to choose from, by default the
    bundled models."""
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
    """Raise where a name that is no model is two languages with a way through a third."""
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
    """The models for texts that are in one language, and what that is."""
    there = directions() if there is None else there
    if source is not None:
        return Choice(find_models(source, target, through, there), source, target)
    texts = list(texts)
    last = {target, through} if through is not None and Direction(through, target) in there else {target}
    ways = {one.source for one in there if one.target in last} - {target}
    if not ways:
        raise NoDirectionError(f"there is no translator to {language_name(target)}; {_there(there)}")
    # Among all languages of the bundled models, so that none of them is taken for another.
    found = identify_language(texts, sorted({one.source for one in there} | {target}))
    if not found.sure:  # then it is one that can be translated; without words it does not matter which
        found = identify_language(texts, sorted(ways))._replace(sure=not any(map(language_words, texts)))
    try:
        models = () if found.language == target else find_models(found.language, target, through, there)
    except NoDirectionError as problem:
        problem.found = True
        raise
    return Choice(models, found.language, target, found.sure, found.mixed)


def _there(there: Iterable[Direction]) -> str:
    return f"bundled are {', '.join(map(str, there)) or 'none'}"
