"""The languages of `regard translate`: --to, --from and --through, and the models in the box that they choose.

Each TEXT of the command line is looked at by itself. A file is in one language, and so is standard input, of which the
first lines are looked at: sentences in other languages are translated as if they were in that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from regard.bundle import bundled_models
from regard.cli.process import warn
from regard.cli.translate_bulk import load_chain, load_translator
from regard.cli.translate_file import read_document
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bulk.translate_file import MakeTranslator
    from regard.bundle.bundled_models import Choice

# The names of models in the box, one after another; none where a text stays as it is. None: models that were named.
Models = tuple[str, ...] | None
SHOWN = 8  # texts that a line names


class LanguageFlags(NamedTuple):
    """What was asked for, as codes."""

    target: str
    source: str | None = None  # None: to be found in the text
    through: str | None = None


class TextPart(NamedTuple):
    """Texts that are translated with the same models."""

    models: Models
    chunks: Iterator[list[str]]
    choices: Sequence[Choice] = ()  # why: of each text, or of all that there is


def languages_of(
    to: str | None, source: str | None, through: str | None, others: Mapping[str, bool]
) -> LanguageFlags | None:
    """None where the model is not chosen by languages. `others` are flags that name a model themselves."""
    if to is None:
        for flag, named in (("--from", source), ("--through", through)):
            if named is not None:
                raise InputError(f"{flag} {named} goes with the language to translate into; add it, as in --to fr")
        return None
    for flag, given in others.items():
        if given:
            raise InputError(f"--to chooses a model by its languages and {flag} names one; give one of them")
    from regard.bundle.bundled_models import known_language

    target = known_language(to, "to")
    own = None if source is None else known_language(source, "source")
    if own == target:
        raise InputError(f"--from {source} and --to {to} are the same language, so there is nothing to translate")
    return LanguageFlags(target, own, None if through is None else known_language(through, "through"))


def part_of_file(languages: LanguageFlags | None, sample: Callable[[], Sequence[str]]) -> TextPart:
    """A file as a whole; the sample is of its texts."""
    if languages is None:
        return TextPart(None, iter(()))
    choice = chosen(sample() if languages.source is None else (), languages)
    return TextPart(choice.models, iter(()), [choice])


def parts_of_lines(
    languages: LanguageFlags | None, texts: Sequence[str] | None, chunks: Iterator[list[str]]
) -> list[TextPart]:
    """Texts of the command line, or lines that come in chunks."""
    if languages is None:
        return [TextPart(None, chunks)]
    if not texts:
        first = next(chunks)
        choice = chosen(first, languages)
        return [TextPart(choice.models, chain([first], chunks), [choice])]
    found: list[tuple[Choice, str]] = [(chosen([text], languages), text) for text in texts]
    together = [(models, list(some)) for models, some in groupby(found, key=lambda pair: pair[0].models)]
    return [TextPart(models, iter([[text for _, text in some]]), [one for one, _ in some]) for models, some in together]


def chosen(texts: Sequence[str], languages: LanguageFlags) -> Choice:
    from regard.bundle.bundled_models import NoDirectionError, choose
    from regard.text.language import language_name

    try:
        return choose(texts, *languages)
    except NoDirectionError as problem:
        found = "" if languages.source or not problem.found else " (--from says what the text is in, if not that)"
        remedy = ""
        if problem.way:
            way = language_name(problem.way)
            remedy = f"; --through {problem.way} translates by way of {way}, which loses more"
        raise InputError(f"{problem.problem}{remedy}{found}") from None


def say(parts: Sequence[TextPart], languages: LanguageFlags | None) -> None:
    """What was found where no source was named, in a line; nothing where it is English and sure."""
    from regard.text.language import language_name

    choices = [choice for part in parts for choice in part.choices]
    if languages is None:
        return
    if languages.through and any(len(choice.models) > 1 for choice in choices):
        warn(f"by way of {language_name(languages.through)}, so that errors of both steps add up")
    if languages.source is not None:
        return
    told: dict[str, list[int]] = {}
    for number, choice in enumerate(choices, start=1):
        name = language_name(choice.source)
        if not choice.models:
            told.setdefault(f"{name} already and stays as it is", []).append(number)
        elif choice.mixed:
            told.setdefault(f"in several languages, mostly {name}, and all of it is read as that", []).append(number)
        elif not choice.sure:
            told.setdefault(f"read as {name}, which is uncertain", []).append(number)
        elif choice.source != "en":
            told.setdefault(f"read as {name}", []).append(number)
    if told:
        lines = [f"{_which(numbers, len(choices))} {what}" for what, numbers in told.items()]
        warn(f"{'; '.join(lines)} (--from says what it is)")


def _which(numbers: Sequence[int], of: int) -> str:
    if of == 1:
        return "the text is"
    more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
    return f"text{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers[:SHOWN]))}{more}:"


def check_one_model(parts: Sequence[TextPart], flags: Mapping[str, bool]) -> None:
    """Raise where a flag is of one model, and there are two, or none."""
    given = next((flag for flag, given in flags.items() if given), None)
    for models in (part.models for part in parts if given and part.models is not None):
        if len(models) > 1:
            raise InputError(f"{given} is of one model, but {' and '.join(models)} are two; translate in two steps")
        if not models:
            raise InputError(f"{given} is of a model, but a text is in the language of --to already; leave it out")


def loader(chosen: Models, named: Sequence[Path], device: str, engine: str, rules: bool) -> MakeTranslator:
    """What loads the models, in a process of a given number."""
    if chosen is None:
        return partial(load_translator, named or None, device, engine, rules)
    folders = [bundled_models.folder_of(name) for name in chosen]
    if len(folders) == 1:
        return partial(load_translator, folders, device, engine, rules)
    return partial(load_chain, folders, device, engine)


def document_texts(input: Path | None, format: str | None) -> list[str]:
    """The texts of a document, to be looked at; none where there is no document."""
    if input is None or format is None:
        return []
    from regard.formats.document import DEFAULTS
    from regard.formats.table import reader_of

    return [segment.text for segment in reader_of(format)(read_document(input), DEFAULTS).segments]
