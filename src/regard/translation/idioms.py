"""Idioms that were translated word by word: "pose un lapin" → "lays a rabbit", which means to stand somebody up.

`idioms.tsv` has a row for each idiom and target language: the languages, the words of the idiom in the source, words
that a literal translation has, and what the idiom means. Words are in order, with at most `MAX_BETWEEN` others between
two of them; "a|b" is either form, "pos*" any word that begins so. A row applies if the source has the idiom and the
translation all of the literal words. Idioms that both languages share are not listed.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import regex

from regard.text.words import PartCache
from regard.translation.translation import Reason

MAX_BETWEEN = 3
MAX_CHARS_CHECKED = 20_000
WORD = regex.compile(r"\w++")


class Idiom(NamedTuple):
    words: str
    literal: tuple[frozenset[str], ...]  # of each, one form is in a literal translation
    meaning: str


class IdiomPattern:
    """Finds an idiom in a text."""

    def __init__(self, words: str) -> None:
        self._words = words

    @cached_property
    def _compiled(self) -> regex.Pattern[str]:
        forms = [word.replace("*", r"\w*+") for word in self._words.split()]
        between = rf"\W++(?:\w++\W++){{0,{MAX_BETWEEN}}}?"
        return regex.compile(between.join(rf"\b(?:{form})\b" for form in forms), regex.IGNORECASE)

    def search(self, text: str) -> str | None:
        found = self._compiled.search(text)
        return found[0] if found else None


Table = dict[str, list[tuple[IdiomPattern, Idiom]]]  # a word that an idiom always has, in each of its forms → idioms


@cache
def _tables() -> dict[tuple[str, str], Table]:
    """The idioms by the languages of source and target."""
    found: dict[tuple[str, str], Table] = defaultdict(lambda: defaultdict(list))
    for line in Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]:
        source, target, words, literal, meaning = line.split("\t")
        idiom = Idiom(words, tuple(frozenset(one.split("|")) for one in literal.split()), meaning)
        pattern = IdiomPattern(words)
        for form in rarest_word(words).split("|"):
            found[source, target][form].append((pattern, idiom))
    return found


@cache
def _known_words(source: str, target: str) -> PartCache[str]:
    """Returns what finds the words of the table in a text."""
    table = _tables()[source, target]
    return PartCache(lambda part: [word for word in WORD.findall(part) if word in table])


def rarest_word(words: str) -> str:
    """Returns the longest word that is listed with all its forms.

    >>> rarest_word("pos*|posé un lapin|lapins")
    'lapin|lapins'
    """
    return max((word for word in words.split() if "*" not in word), key=lambda word: min(map(len, word.split("|"))))


def literal_idioms(source: str, target: str, languages: tuple[str | None, str | None]) -> list[Reason]:
    """Returns a reason to check a translation for each idiom that it translates word by word.

    >>> print(*literal_idioms("Il m'a posé un lapin.", "He laid me a rabbit.", ("fr", "en")))
    "posé un lapin" seems to be translated word by word, but means: stand someone up.
    """
    table = _tables().get((languages[0] or "", languages[1] or ""))
    if table is None:
        return []
    source, there = source[:MAX_CHARS_CHECKED], None
    found: dict[str, Reason] = {}
    for word in dict.fromkeys(_known_words(*languages)(source.lower())):
        for pattern, idiom in table[word]:
            there = set(WORD.findall(target[:MAX_CHARS_CHECKED].lower())) if there is None else there
            if any(there.isdisjoint(forms) for forms in idiom.literal):
                continue
            if text := pattern.search(source):
                said = f'"{text}" seems to be translated word by word, but means: {idiom.meaning}.'
                found.setdefault(text, Reason("idiom", said, "check"))
    return list(found.values())
