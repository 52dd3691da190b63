"""Finds a protected span in a translation: unchanged, or a number in any locale's form.

A number within a longer number does not count, nor a word within a longer word, nor an address within a longer address.
"""

from __future__ import annotations

from functools import lru_cache

import regex

from regard.text.numbers import quantities
from regard.text.words import Span

NUMBER_KINDS = ("number", "amount")  # whose form may depend on the locale
MAX_PATTERNS = 1000
_SPACES = str.maketrans("\u00a0\u2007\u2009\u202f", "    ")
_LETTER = r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{M}\p{N}_]"  # Chinese and Japanese have no space around a name


def find_occurrences(span: str, kind: str, target: str) -> list[Span]:
    """Returns all positions of a protected span's text in the translation, without overlap.

    >>> find_occurrences("1,250", "number", "Il y a 1 250 personnes et 11 250 chats.")
    [(7, 12)]
    >>> find_occurrences("Ann", "name", "Ann et Anna")
    [(0, 3)]
    """
    own = quantities(span) if kind in NUMBER_KINDS else ()
    if not own or own[0].whole != (0, len(span)):
        return [found.span() for found in _pattern(span.translate(_SPACES), kind).finditer(target.translate(_SPACES))]
    unit, spans = own[0].unit, list[Span]()
    for other in sorted({other for other in quantities(target) if other.values & own[0].values}):
        if unit in ("", other.unit):
            place = other.whole if unit else (other.start, other.end)
            if not spans or place[0] >= spans[-1][1]:
                spans.append(place)
    return spans


@lru_cache(MAX_PATTERNS)
def _pattern(text: str, kind: str) -> regex.Pattern[str]:
    before, after = "", ""
    if kind in ("url", "email", "path"):
        before, after = r"(?<![\w@/.\\-])", r"(?![\w/\\@-]|[.?=&#%:]\w)"
    elif kind == "emoji":
        before, after = "(?<!\u200d)", "(?![\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff])"
    elif kind != "placeholder":
        before = f"(?<!{_LETTER})" if regex.match(_LETTER, text) else ""
        after = f"(?!{_LETTER})" if regex.match(_LETTER, text[-1:]) else ""
        if kind == "name" and after:
            after = f"(?!(?!s(?!{_LETTER})){_LETTER})"  # Merkels Wagen
        if kind == "time" or text[:1].isdecimal():
            before, after = f"(?<!\\d[.,:]){before}", f"{after}(?![.,:]?\\d)"
    elif text[:1] in "{%" and text[1:2] != text[:1]:
        before = f"(?<!{regex.escape(text[0])})"  # not {x} in {{x}}
    return regex.compile(before + regex.escape(text) + after)
