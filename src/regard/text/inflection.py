"""Inflection by regular suffixes: base forms of a word for a glossary, plurals of a term, and whether an unknown word
is a form of a known one ("cantaremos" of "cantar").

This is not morphological analysis: only frequent regular suffixes of English, French, German and Spanish are listed. A
word may get a base that does not exist ("news" → "new"), which does no harm unless a glossary lists it; irregular forms
(mice, yeux) must be listed by the glossary itself. `is_inflected_form` is right about most verbs and wrong about some
names; `known_words.py` uses it where a word begins a sentence, or where it would be taken for a misspelling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from regard.text.words import word_lists

MAX_WORD = 60  # characters; a longer run of letters has no inflection
MIN_BASE = 3  # letters that must remain without a suffix

# suffix → its replacement in the base
PLURALS = {
    "en": (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", "")),
    "fr": (("aux", "al"), ("aux", "au"), ("eux", "eu"), ("s", ""), ("oux", "ou")),
    "es": (("ces", "z"), ("ones", "ón"), ("anes", "án"), ("enes", "én"), ("ines", "ín"), ("es", ""), ("s", "")),
    "de": (("nen", ""), ("en", ""), ("ern", ""), ("er", ""), ("e", ""), ("n", ""), ("s", "")),
}
OTHER_FORMS = {
    "en": (("ied", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e")),  # verbs
    "fr": (("e", ""), ("es", ""), ("ne", ""), ("nes", "")),  # feminine
    "es": (("a", "o"), ("as", "o"), ("a", ""), ("as", "")),  # feminine
    "de": (("es", ""), ("em", ""), ("s", "")),  # cases
}
NOT_PLURAL = {"en": ("ss", "us", "is")}
UMLAUT = re.compile(r"[äöü](?!.*[äöü])")  # the last one
WITHOUT_UMLAUT = str.maketrans("äöü", "aou")
POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)
DOUBLED = re.compile(r"([b-df-hj-np-tv-z])\1$")  # stopped, running
VOWEL = re.compile(r"[aeiouyäöüàâéèêëîïôùûáíóú]", re.IGNORECASE)
# words after one of these do not change in the plural: carte(s) de crédit, estado(s) de ánimo
PREPOSITIONS = word_lists("prepositions")
# endings of German nouns, with those of their plurals
GERMAN_PLURALS = (
    (("er", "el", "chen", "lein"), ("n",)),  # Mieter: only the dative plural differs; Tafeln
    ("en", ()),
    ("e", ("n",)),
    ("in", ("nen", "e", "s")),
    (("ung", "heit", "keit", "schaft", "tät", "ion"), ("en",)),
    ("nis", ("se", "sen")),
    ("", ("e", "en", "er", "s")),
)
NO_GENITIVE = ("ung", "heit", "keit", "schaft", "tät", "ion", "ik", "e", "s", "x", "z", "ß")
FRENCH_PLURALS_IN_S = ("bal", "banal", "carnaval", "chacal", "fatal", "festival", "final", "naval", "récital", "régal")

# (endings of forms, their replacements in the form that may be known)
ENDINGS = {
    "en": (("ed d ing ly er ers ness less e en n", ("",)),),
    "fr": (
        ("e es ons ez ent ais ait ions iez aient ai as a âmes èrent é ée és ées ant", ("er", "ir", "re")),
        ("issons issez issent is it î irent i ie ies", ("ir", "re")),
        ("ai as a ons ez ont ais ait ions iez aient", ("", "e")),  # after the infinitive
        ("ment", ("", "e")),
    ),
    "de": (
        ("e st est t et te test ten tet end", ("en", "n")),
        ("er es em en ere eren erer eres", ("", "e")),
    ),
    "es": (
        ("o as a amos áis an é aste ó asteis aron aba abas ábamos abais aban ando ado e es emos en ad", ("ar",)),
        ("o es e emos éis en í iste ió imos isteis ieron ía ías íamos íais ían iendo ido", ("er", "ir")),
        ("a as amos an ed id iera ieras iéramos ieran", ("er", "ir")),
        ("ara aras áramos aran", ("ar",)),
        ("é ás á emos éis án ía ías íamos íais ían", ("",)),  # after the infinitive
        ("mente", ("", "a")),
    ),
}
ENDING_REPLACEMENTS = {
    language: [(ending, replacements) for endings, replacements in rules for ending in endings.split()]
    for language, rules in ENDINGS.items()
}
SPANISH_CLITICS = re.compile(r"(?:me|te|se|nos|os)?(?:lo|la|le|los|las|les|me|te|se|nos|os)$")  # dímelo
WITHOUT_ACUTE = str.maketrans("áéíóú", "aeiou")


class Base(NamedTuple):
    """A possible base form of a word; `plural` if the removed suffix is one of a plural."""

    word: str
    plural: bool = False


@lru_cache(maxsize=50_000)
def bases(word: str, language: str) -> tuple[Base, ...]:
    """Returns a word itself, then the possible base forms of it, in lower case.

    >>> [base.word for base in bases("Cities", "en")]
    ['cities', 'city', 'citi', 'citie']
    >>> [base.word for base in bases("stopped", "en")]
    ['stopped', 'stopp', 'stop', 'stoppe']
    """
    word = word.lower()
    found = {word: Base(word)}
    if len(word) > MAX_WORD or not word.isalpha():
        return (found[word],)
    for plural, rules in ((True, PLURALS.get(language, ())), (False, OTHER_FORMS.get(language, ()))):
        if plural and word.endswith(NOT_PLURAL.get(language, ())):
            continue
        for suffix, replacement in rules:
            stem = word.removesuffix(suffix) if word.endswith(suffix) else ""
            candidates = [stem + replacement]
            if language == "en" and not plural and not replacement and DOUBLED.search(stem):
                candidates.append(stem[:-1])
            for base in candidates:
                if len(stem) >= MIN_BASE - len(replacement) and len(base) >= MIN_BASE and VOWEL.search(base):
                    found.setdefault(base, Base(base, plural))
    if language == "de" and (umlaut := UMLAUT.search(word)):  # Knöpfe, Häuser, Väter
        plain = umlaut[0].translate(WITHOUT_UMLAUT)
        for base in [one.word for one in found.values() if one.plural or one.word == word]:
            changed = base[: umlaut.start()] + plain + base[umlaut.end() :]
            found.setdefault(changed, Base(changed, True))
    return tuple(found.values())


def without_possessive(word: str) -> str:
    """
    >>> without_possessive("cat's"), without_possessive("boss’"), without_possessive("cat")
    ('cat', 'boss', 'cat')
    """
    return POSSESSIVE.sub("", word)


def plurals(term: str, language: str) -> tuple[str, ...]:
    """Returns the regular plurals of a term, the most usual first; none if they are unknown or equal the term.

    >>> plurals("carte de crédit", "fr"), plurals("journal", "fr"), plurals("city", "en"), plurals("Hund", "de")
    (('cartes de crédit',), ('journaux',), ('cities',), ('Hunde', 'Hunden', 'Hunder', 'Hunds'))
    >>> plurals("botón de inicio", "es"), plurals("Mieter", "de"), plurals("bouton marche/arrêt", "fr")
    (('botones de inicio',), ('Mietern',), ('boutons marche/arrêt',))
    """
    words = term.split(" ")
    if not words[-1][-1:].isalpha():
        return ()
    if language == "de":
        return tuple(term + end for end in next(ends for ending, ends in GERMAN_PLURALS if term.endswith(ending)))
    if language not in _PLURAL:
        return ()
    plural_of = _PLURAL[language]
    head = next((i for i, w in enumerate(words) if i and (w in PREPOSITIONS[language] or w[:2] == "d'")), len(words))
    first = head - 1 if language == "en" else 0  # in French and Spanish adjectives have a plural too
    changed = [plural_of(word) if word.isalpha() else word for word in words[first:head]]
    plural = " ".join([*words[:first], *changed, *words[head:]])
    return (plural,) if plural != term else ()


def genitives(term: str) -> tuple[str, ...]:
    """Returns the possible genitives of a German noun without an ending of the feminine.

    >>> genitives("Vermieter"), genitives("Vertrag"), genitives("Wohnung")
    (('Vermieters',), ('Vertrags', 'Vertrages'), ())
    """
    if not term[-1:].isalpha() or not term.rsplit(" ")[-1][:1].isupper() or term.endswith(NO_GENITIVE):
        return ()
    return (term + "s",) if term.endswith(("er", "el", "en", "or", "chen", "o", "i")) else (term + "s", term + "es")


def _english_plural(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and not word.endswith(("ay", "ey", "oy", "uy")):
        return word[:-1] + "ies"
    return word + "s"


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("au", "eu")):
        return word + "x"
    if word.endswith("al") and word not in FRENCH_PLURALS_IN_S:
        return word[:-2] + "aux"
    return word + "s"


def _spanish_plural(word: str) -> str:
    if word.endswith("z"):
        return word[:-1] + "ces"
    if word[-1:].lower() in "aeiouáéó":
        return word + "s"
    if word[-2:-1] in "áéíóú" and word.endswith(("n", "s")):  # botón, inglés
        return word[:-2] + word[-2].translate(WITHOUT_ACUTE) + word[-1] + "es"
    return word if word.endswith("s") else word + "es"


_PLURAL = {"en": _english_plural, "fr": _french_plural, "es": _spanish_plural}


def is_inflected_form(word: str, known: Collection[str], language: str = "en") -> bool:
    """Whether a word in lower case may be a form of a known word.

    >>> known = {"cantar", "correr", "decir", "di", "see", "chanter", "kaufen"}
    >>> [is_inflected_form(word, known, "es") for word in ("cantaremos", "corrimos", "dímelo", "maría")]
    [True, True, True, False]
    >>> [is_inflected_form(*two) for two in (("chantons", known, "fr"), ("kauft", known, "de"), ("seeing", known))]
    [True, True, True]
    """
    if any(base in known for base in _without_endings(word, language)):
        return True
    if language == "es" and (clitics := SPANISH_CLITICS.search(word)) and clitics.start() >= 2:
        verb = word[: clitics.start()].translate(WITHOUT_ACUTE)
        return verb in known or any(base in known for base in _without_endings(verb, language))
    return False


def _without_endings(word: str, language: str) -> Iterator[str]:
    for ending, replacements in ENDING_REPLACEMENTS.get(language, ()):
        if word.endswith(ending) and (language == "en" or len(word) - len(ending) >= MIN_BASE):
            yield from (word[: -len(ending)] + replacement for replacement in replacements)
