"""Translates texts into one language, each with the bundled model for its own: `regard.translate(texts, to="en")`.

The command line chooses models in the same way (`bundle/bundled_models.py`), but one for a whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from regard.bundle import bundled_models
from regard.bundle.bundled_models import Choice, choose, find_models, known_language
from regard.errors import InputError
from regard.text.language import language_name
from regard.translation.options import checked_texts
from regard.translation.translation import Translation
from regard.translator import Translator, TranslatorChain

MAX_LOADED = 8  # translators that stay loaded


class LanguageChoice:
    """The languages of a translation, as codes. `source` is None if it must be identified from the text. Raises
    InputError for an unknown language."""

    def __init__(self, to: str, source: str | None = None, through: str | None = None) -> None:
        self.target = known_language(to, "to")
        self.source = None if source is None else known_language(source, "source")
        self.through = None if through is None else known_language(through, "through")

    def choose(self, texts: Sequence[str]) -> Choice:
        """Returns the bundled models for texts in one language. Raises NoDirectionError if there are none."""
        return choose(texts, self.target, self.source, self.through)


def translate_by_language(
    texts: str | Iterable[str], languages: LanguageChoice, device: str, engine: str, **options: Any
) -> Translation | list[Translation]:
    """Translates a string, or several, and returns the translations in their order. A text that is already in the
    target language is returned unchanged, with a warning."""
    lines = checked_texts(texts, "translate")
    choices = [languages.choose([line]) for line in lines]
    found: dict[int, Translation] = {}
    for models in dict.fromkeys(choice.models for choice in choices):
        numbers = [number for number, choice in enumerate(choices) if choice.models == models]
        translator = loaded(tuple(bundled_models.folder_of(name) for name in models), device, engine)
        found |= zip(numbers, translator.translate([lines[number] for number in numbers], **options), strict=True)
    for number, choice in enumerate(choices):
        if remark := source_remark(choice):
            found[number] = replace(found[number], warnings=(f"the text is {remark}", *found[number].warnings))
    return found[0] if isinstance(texts, str) else [found[number] for number in range(len(lines))]


def source_remark(choice: Choice) -> str:
    """Returns a warning about the source language, to follow "the text is"; empty where there is none."""
    name = language_name(choice.source)
    if not choice.models:
        return f"{name} already and is returned unchanged"
    return "" if choice.sure else f"read as {name}, which is uncertain"


@lru_cache(MAX_LOADED)
def loaded(folders: tuple[Path, ...], device: str, engine: str) -> Translator | TranslatorChain:
    """Loads one translator, or a chain of several; the most recently used ones stay loaded."""
    if len(folders) == 1:
        return Translator.load(folders[0], device, engine)
    return TranslatorChain.load(folders, device, engine)


def load_through(name: object, through: str, device: str, engine: str) -> TranslatorChain:
    """Loads the translators for a pair such as "fr-de" by way of a third language. Raises InputError if `name` is not
    such a pair, and where there is a direct translator."""
    pair: Sequence[str] = name.split("-") if isinstance(name, str) else ()
    if len(pair) != 2:
        raise InputError(f'through is for a pair of languages, such as "fr-de", but was given with {name!r}')
    source, target, way = (known_language(one) for one in (*pair, through))
    models = find_models(source, target, way)
    if len(models) == 1:
        raise InputError(f'there is a translator from {source} to {target}: load "{models[0]}" without through')
    return TranslatorChain.load([bundled_models.folder_of(model) for model in models], device, engine)
