"""Shared parts of the HTTP interfaces: language codes, and the fields and error format of our own API under /api."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from regard.serve.api.endpoint import Interface
from regard.serve.errors import ServeError
from regard.serve.http.fields import Field, option_field
from regard.text.language import language_code

# Older codes, LibreTranslate's own codes, and a member of a macrolanguage.
ALIASES = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "pb": "pt", "zt": "zh"}
# Variants that DeepL's clients must choose between for a target; they are translated in the same way.
VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT"), "zh": ("ZH-HANS",)}
VARIANT_NAMES = {
    "EN-GB": "English (British)",
    "EN-US": "English (American)",
    "PT-BR": "Portuguese (Brazilian)",
    "PT-PT": "Portuguese (European)",
    "ZH-HANS": "Chinese (simplified)",
}


def known_code(given: str, languages: Collection[str]) -> str | None:
    """Return the server's code for a language as a client names it; None for an unsupported language.

    >>> [known_code(code, ["en", "fr", "he", "pt"]) for code in ("fr", "FR-CA", "iw", "pb", "pt-BR", "de", "zz", "")]
    ['fr', 'fr', 'he', 'pt', 'pt', None, None, None]
    """
    if given in languages:
        return given
    first = given.strip().lower().replace("_", "-").partition("-")[0]
    code = language_code(ALIASES.get(first, first)) if first else None
    return code if code in languages else None


def error_body(error: ServeError) -> dict[str, Any]:
    field = {} if error.field is None else {"field": error.field}
    return {"error": {"message": error.message, "status": error.status, **field}}


OWN = Interface(
    "regard",
    "Translations sentence by sentence with probabilities, and everything that the page shows about a model. What a "
    "model computes inside needs PyTorch on the server; without it, those operations answer 501.",
    error_body,
)
MODEL = Field(
    "model", "text", "the name of a model; overrides the languages", None, nullable=True, most=200, known="models",
    example="en-fr",
)  # fmt: skip
SOURCE = Field(
    "source", "text", "the code of its language; none: found in the text", None, nullable=True, most=40, known="sources"
)
TARGET = Field(
    "target", "text", "the code of the language to translate into", None, nullable=True, most=40, known="targets"
)
THROUGH = Field(
    "through", "text", "the language to go through where no model has the pair; none: the server's setting", None,
    nullable=True, most=40,
)  # fmt: skip
WHICH_MODEL = (MODEL, SOURCE, TARGET)

# The options of `translate` that requests may set, by name. The beam and the prefix have lower limits on a server.
OPTIONS: dict[str, Field] = {
    "beam": option_field("beam", most=16),
    "nbest": option_field("nbest", most=16),
    "split": option_field("split"),
    "protect": option_field("protect"),
    "guard": option_field("guard"),
    "thorough": option_field("thorough"),
    "marks": option_field("marks"),
    "localize": option_field("localize"),
    "formality": option_field("formality"),
    "in_context": option_field("in_context"),
    "glossary": Field(
        "glossary", "text", "required translations: lines of SOURCE, a tab or =, TARGET", "", most=100_000
    ),
    "prefix": option_field("prefix", most=10_000),
    "length_penalty": option_field("length_penalty", most=5),
}
