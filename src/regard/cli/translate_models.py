"""The models of `regard translate`: named by --model, or bundled models chosen by --to, --from and --through.

The language of each TEXT of the command line is identified separately. A file is in one language, and so is standard
input; it is identified from the first lines, and sentences in other languages are translated as if they were in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from regard.bundle import bundled_models
from regard.cli.process import warn
from regard.errors import InputError

if TYPE_CHECKING:
    from regard.bundle.bundled_models import Choice
    from regard.by_language import LanguageChoice
    from regard.search.steering import RuleSystem
    from regard.translator import Translator, TranslatorChain

# Names of bundled models, applied in a chain; empty if a text is copied unchanged. None: named by --model.
Models = tuple[str, ...] | None
MAX_NAMED_TEXTS = 8  # maximum texts named in one warning
# Flags that are not supported for a chain of models.
ONE_MODEL_FLAGS = (
    "--attention", "--alternatives", "--alignments", "--token-scores", "--nbest", "--prefix", "--prefix-file",
    "--steer", "--rules",
)  # fmt: skip


class TextPart(NamedTuple):
    """Texts that are translated with the same models."""

    models: Models
    chunks: Iterable[list[str]]
    choices: Sequence[Choice] = ()  # one per text, or one for all of them


def language_choice(to: str | None, source: str | None, through: str | None) -> LanguageChoice | None:
    """The languages given by the flags; None if models are not chosen by languages. Raises InputError for an unknown
    language, and if source and target are the same."""
    if to is None:
        return None
    from regard.by_language import LanguageChoice

    languages = LanguageChoice(to, source, through)
    if languages.source == languages.target:
        raise InputError(f"--from {source} and --to {to} are the same language, so there is nothing to translate")
    return languages


def whole_input(
    languages: LanguageChoice | None, sample: Callable[[], Sequence[str]], chunks: Iterable[list[str]] = ()
) -> TextPart:
    """The whole input as one part. `sample` returns texts from which its language is identified."""
    if languages is None:
        return TextPart(None, chunks)
    choice = choose_models(sample() if languages.source is None else (), languages)
    return TextPart(choice.models, chunks, [choice])


def parts_by_language(
    languages: LanguageChoice | None, texts: Sequence[str] | None, chunks: Iterator[list[str]]
) -> list[TextPart]:
    """Group the texts of the command line by their languages; lines that are read in chunks are one part."""
    if languages is None:
        return [TextPart(None, chunks)]
    if not texts:
        first = next(chunks)
        return [whole_input(languages, lambda: first, chain([first], chunks))]
    choices = [(choose_models([text], languages), text) for text in texts]
    groups = [(models, list(pairs)) for models, pairs in groupby(choices, key=lambda pair: pair[0].models)]
    return [TextPart(models, [[text for _, text in pairs]], [one for one, _ in pairs]) for models, pairs in groups]


def choose_models(texts: Sequence[str], languages: LanguageChoice) -> Choice:
    """Choose the models for texts in one language. Raises InputError, naming a flag that helps, if there is none."""
    from regard.bundle.bundled_models import NoDirectionError
    from regard.text.language import language_name

    try:
        return languages.choose(texts)
    except NoDirectionError as problem:
        found = "" if languages.source or not problem.found else " (--from says what the text is in, if not that)"
        remedy = ""
        if problem.way:
            way = language_name(problem.way)
            remedy = f"; --through {problem.way} translates by way of {way}, which loses more"
        raise InputError(f"{problem.problem}{remedy}{found}") from None


def warn_of_languages(parts: Sequence[TextPart], languages: LanguageChoice | None) -> None:
    """Print the identified languages in one line; nothing is printed for certain English."""
    if languages is None:
        return
    from regard.by_language import source_remark
    from regard.text.language import language_name

    choices = [choice for part in parts for choice in part.choices]
    if languages.through and any(len(choice.models) > 1 for choice in choices):
        warn(f"by way of {language_name(languages.through)}, so that errors of both steps add up")
    if languages.source is not None:
        return
    remarks: dict[str, list[int]] = defaultdict(list)
    for number, choice in enumerate(choices, start=1):
        name = language_name(choice.source)
        if choice.models and choice.mixed:
            remark = f"in several languages, mostly {name}, and all of it is read as that"
        else:
            remark = source_remark(choice) or (f"read as {name}" if choice.source != "en" else "")
        remarks[remark].append(number)
    remarks.pop("", None)
    if remarks:
        lines = [f"{_which_texts(numbers, len(choices))} {remark}" for remark, numbers in remarks.items()]
        warn(f"{'; '.join(lines)} (--from sets the source language)")


def _which_texts(numbers: Sequence[int], total: int) -> str:
    if total == 1:
        return "the text is"
    more = f" and {len(numbers) - MAX_NAMED_TEXTS:,} more" if len(numbers) > MAX_NAMED_TEXTS else ""
    return f"text{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers[:MAX_NAMED_TEXTS]))}{more}:"


def check_one_model(parts: Sequence[TextPart], given: Collection[str]) -> None:
    """Raise InputError if a given flag supports only one model, but the languages need two, or none."""
    flag = next((flag for flag in ONE_MODEL_FLAGS if flag in given), None)
    for models in (part.models for part in parts if flag and part.models is not None):
        if len(models) > 1:
            raise InputError(f"{flag} needs a single model, but {' and '.join(models)} are two; translate in two steps")
        if not models:
            raise InputError(f"{flag} is of a model, but a text is in the language of --to already; leave it out")


def load_models(
    named: Sequence[Path] | None, device: str, engine: str, rules: bool, models: Models, number: int = 0
) -> Translator | TranslatorChain:
    """Load the translator of process `number`: the `named` models as an ensemble if `models` is None. With several
    GPUs each process uses its own."""
    from regard.device import nth_device
    from regard.translator import Translator, TranslatorChain

    device = nth_device(device, number) if number else device
    folders = None if models is None else [bundled_models.folder_of(name) for name in models]
    if folders is not None and len(folders) != 1:
        return TranslatorChain.load(folders, device, engine)
    translator = Translator.load(folders or named or None, device, engine)
    if rules:
        translator.rule_system = rule_system()
    return translator


def rule_system() -> RuleSystem:
    """The course's grammar as a translator of English."""
    from regard.course.rules.translate import translate  # here, because the grammar takes 0.2 s to load

    return translate
