"""The codes by which clients of the two public interfaces name languages, and the package's own."""

from __future__ import annotations

from collections.abc import Collection

from regard.text.language import language_code

# Older codes, LibreTranslate's own, and a member of a macrolanguage.
ALIASES = {"iw": "he", "in": "id", "ji": "yi", "nb": "no", "pb": "pt", "zt": "zh"}
# Variants that DeepL's clients must choose between for a target; they are translated alike.
VARIANTS = {"en": ("EN-GB", "EN-US"), "pt": ("PT-BR", "PT-PT"), "zh": ("ZH-HANS",)}
VARIANT_NAMES = {
    "EN-GB": "English (British)",
    "EN-US": "English (American)",
    "PT-BR": "Portuguese (Brazilian)",
    "PT-PT": "Portuguese (European)",
    "ZH-HANS": "Chinese (simplified)",
}


def known_code(given: str, languages: Collection[str]) -> str | None:
    """The code of a language as a client names it, among those that there are; None for another.

    >>> [known_code(code, ["en", "fr", "he", "pt"]) for code in ("fr", "FR-CA", "iw", "pb", "pt-BR", "de", "zz", "")]
    ['fr', 'fr', 'he', 'pt', 'pt', None, None, None]
    """
    if given in languages:
        return given
    first = given.strip().lower().replace("_", "-").partition("-")[0]
    code = language_code(ALIASES.get(first, first)) if first else None
    return code if code in languages else None
