"""Simple inflection by suffixes: from a word to what a glossary may list it as, and from a term to its plural.

This is no morphology: only frequent regular suffixes of English, French, German and Spanish are known, and they are
known as strings. A word may get a base that does not exist ("news" → "new"); that does no harm unless a glossary lists
it. Irregular forms (mice, yeux) must be listed by the glossary itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

LONGEST_WORD = 60  # characters; a longer run of letters has no inflection
SHORTEST_BASE = 3  # letters that must be left

# suffix → what stands in its place in the base; the first rows are plurals
PLURALS: dict[str, Sequence[tuple[str, str]]] = {
    "en": (("ies", "y"), ("es", ""), ("s", "")),
    "fr": (("aux", "al"), ("aux", "au"), ("eux", "eu"), ("s", ""), ("oux", "ou")),
    "es": (("ces", "z"), ("es", ""), ("s", "")),
    "de": (("en", ""), ("er", ""), ("e", ""), ("n", ""), ("s", "")),
}
OTHERS: dict[str, Sequence[tuple[str, str]]] = {
    "en": (("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),  # verbs
    "fr": (("e", ""), ("es", ""), ("ne", ""), ("nes", "")),  # feminine
    "es": (("a", "o"), ("as", "o"), ("a", ""), ("as", "")),  # feminine
    "de": (("es", ""), ("em", ""), ("s", "")),  # cases
}
NOT_PLURAL = {"en": ("ss", "us", "is")}
POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)
DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")  # stopped, running
VOWEL = re.compile(r"[aeiouyäöüàâéèêëîïôùûáíóú]", re.IGNORECASE)
# what follows one of these stays as it is in the plural: carte(s) de crédit, estado(s) de ánimo
LINKS = {
    "fr": frozenset({"de", "d'", "du", "des", "à", "au", "aux", "en", "sans", "pour", "sur", "sous", "par", "avec"}),
    "es": frozenset({"de", "del", "a", "al", "en", "sin", "para", "por", "con"}),
    "en": frozenset({"of", "in", "on", "for", "with", "without", "at", "by", "to"}),
}
FRENCH_ALS = frozenset(
    {"bal", "banal", "carnaval", "chacal", "fatal", "festival", "final", "naval", "récital", "régal"}
)


class Base(NamedTuple):
    """What a word may be listed as; `plural` if the suffix taken off is one of a plural."""

    word: str
    plural: bool = False


@lru_cache(maxsize=50_000)
def bases(word: str, language: str) -> tuple[Base, ...]:
    """A word itself, then what it may be an inflected form of, in lower case.

    >>> [base.word for base in bases("Cities", "en")]
    ['cities', 'city', 'citi', 'citie']
    >>> [base.word for base in bases("stopped", "en")]
    ['stopped', 'stopp', 'stop', 'stoppe']
    """
    return tuple(_bases(word, language))


def _bases(word: str, language: str) -> Iterator[Base]:
    word = word.lower()
    yield Base(word)
    if len(word) > LONGEST_WORD or not word.isalpha():
        return
    seen = {word}
    for plural, rules in ((True, PLURALS.get(language, ())), (False, OTHERS.get(language, ()))):
        if plural and word.endswith(NOT_PLURAL.get(language, ())):
            continue
        for suffix, instead in rules:
            stem = word.removesuffix(suffix) if word.endswith(suffix) else ""
            made = [stem + instead]
            if language == "en" and not plural and not instead and DOUBLED.search(stem):
                made.append(stem[:-1])
            for base in made:
                if len(stem) >= SHORTEST_BASE - len(instead) and base not in seen and _is_word(base):
                    seen.add(base)
                    yield Base(base, plural)


def _is_word(base: str) -> bool:
    return len(base) >= SHORTEST_BASE and VOWEL.search(base) is not None


def without_possessive(word: str) -> str:
    """
    >>> without_possessive("cat's"), without_possessive("boss’"), without_possessive("cat")
    ('cat', 'boss', 'cat')
    """
    return POSSESSIVE.sub("", word)


def plurals(term: str, language: str) -> tuple[str, ...]:
    """The regular plurals of a term, the most usual first; none where they are not known or equal the term.

    >>> plurals("carte de crédit", "fr"), plurals("journal", "fr"), plurals("city", "en"), plurals("Hund", "de")
    (('cartes de crédit',), ('journaux',), ('cities',), ('Hunde', 'Hunden', 'Hunder', 'Hunds'))
    """
    words = term.split(" ")
    if not words[-1][-1:].isalpha():
        return ()
    links = LINKS.get(language, frozenset())
    head = next((i for i, word in enumerate(words) if i and (word in links or word[:2] == "d'")), len(words))
    if language == "de":
        ends = ("n",) if term.endswith("e") else ("e", "en", "er", "s")
        return tuple(term + end for end in ends)
    if language in ("fr", "es"):
        made = [_PLURAL[language](word) for word in words[:head]]
    elif language == "en":
        made = [*words[: head - 1], _english(words[head - 1])]
    else:
        return ()
    plural = " ".join([*made, *words[head:]])
    return (plural,) if plural != term else ()


def _english(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and not word.endswith(("ay", "ey", "oy", "uy")):
        return word[:-1] + "ies"
    return word + "s"


def _french(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("au", "eu")):
        return word + "x"
    if word.endswith("al") and word not in FRENCH_ALS:
        return word[:-2] + "aux"
    return word + "s"


def _spanish(word: str) -> str:
    if word.endswith("z"):
        return word[:-1] + "ces"
    if word[-1:].lower() in "aeiouáéó":
        return word + "s"
    return word if word.endswith("s") else word + "es"


_PLURAL = {"fr": _french, "es": _spanish}
