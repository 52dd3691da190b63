"""One form for every text: Unicode NFC, so that "é" is one character however it was typed.

Nothing else is changed: no case, no quotes, no spaces.
"""

from __future__ import annotations

import unicodedata

import regex

from regard.errors import InputError


def nfc(text: str) -> str:
    """The text in NFC. A lone surrogate is an error."""
    if text.isascii():
        return text
    check_characters(text)
    return unicodedata.normalize("NFC", text)


def check_characters(text: str) -> None:
    """Refuse a lone surrogate: half a character, never valid in a file."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"text holds a lone surrogate (U+{ord(text[error.start]):04X} at character {error.start + 1}), "
            "which is not text; read it as UTF-8, or remove what is not"
        ) from None


def nfc_origins(text: str) -> list[tuple[int, int]]:
    """For every character of `nfc(text)`, the span of `text` it came from.

    >>> nfc_origins("e\\u0301t")
    [(0, 2), (2, 3)]
    """
    if unicodedata.is_normalized("NFC", text):
        return [(i, i + 1) for i in range(len(text))]
    origins: list[tuple[int, int]] = []
    for cluster in regex.finditer(r"\X", text):  # composition never reaches beyond a grapheme cluster
        composed = unicodedata.normalize("NFC", cluster.group())
        if composed == cluster.group():
            origins += [(i, i + 1) for i in range(*cluster.span())]
        else:
            origins += [cluster.span()] * len(composed)
    return origins
