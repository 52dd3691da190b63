"""Agreement of the words before a noun with it: determiners, some adjectives, elision and contractions.

    fr   le la l' les · du de la de l' des · au à la à l' aux · de d' · ce cet cette ces · nouveau nouvel nouvelle
    de   der die das den dem des · ein eine einen … · im in der in die … · zum zur … · der rote, ein roter
    es   el la los las · del de la … · al a la … · nuevo nueva · y e · o u
    en   a an

Where a noun replaces another one, these words may have to change. Spelling and the ending of the noun decide what they
can: "l'" before a vowel only, "les" before -s, -x and -z only, "la" before -tion; a German determiner keeps its case.
Where the gender is not known by the ending, one text is returned for each, and a translation model can choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import regex

from regard.text.words import word_lists

VOWELS = "aeiouyàâäéèêëîïôöùûüœæáíóú"
EITHER = "hy0123456789"  # l'homme, le héros; l'yeuse, le yaourt: either form may be right
LIKE_CONSONANT = regex.compile(r"eu|ewe|one|once|uni(?!n|m)|us[aeiu]|ut[ei]|u(?![a-z])", regex.IGNORECASE)
SILENT_H = regex.compile(r"hour|honest|hono|heir", regex.IGNORECASE)
GERMAN_ADJECTIVE = regex.compile(r"(?<=\s)(\p{Ll}{3,})(?:e|en|er|es|em) $")
GERMAN_GENITIVE = regex.compile(r"\p{L}.*\s\p{Lu}\p{Ll}+ (?:[\p{Ll}]+er)(?: \p{Ll}+)? $")  # Ende der, Farbe der roten
GERMAN_E = {"nm", "nf", "nn", "af", "an"}  # case and gender of -e after der, die, das
GERMAN_STRONG = {"nm": "er", "nn": "es", "an": "es", "nf": "e", "af": "e"}  # after ein


class _Form(NamedTuple):
    """A form of a determiner or adjective."""

    text: str  # with the space after it, if there is one
    readings: frozenset[str]  # gender and number ("ms"), in German case and gender ("nm", "dp")
    family: str


def agreeing(before: str, noun: str, language: str | None) -> list[str]:
    """Returns the text before a noun in each form that may stand there; the text itself first, if it may.

    >>> agreeing("Il ouvre le nouveau ", "archive", "fr"), agreeing("It is a ", "office", "en")
    (['Il ouvre la nouvelle '], ['It is an '])
    >>> agreeing("Farbe des roten ", "Heizung", "de"), agreeing("El color del ", "mesa", "es")
    (['Farbe der roten '], ['El color de la '])
    """
    known = language or ""
    if known not in word_lists("agreement"):
        return [before]
    made = [text for reading in _readings(before, noun, known) for text in _inflected(before, noun, known, reading)]
    return sorted(dict.fromkeys(made), key=lambda text: text != before) or [before]


@cache
def function_words(language: str | None) -> frozenset[str]:
    """Returns the determiners and prepositions of a language, in lower case."""
    words = (word for form in _forms(language or "") for word in form.text.split())
    return frozenset((*words, *word_lists("prepositions").get(language or "", ())))


# ── readings: gender and number, or in German case and gender ───────────────────────────────────────────────────────


def _readings(before: str, noun: str, language: str) -> Iterable[str]:
    gender = gender_of(noun, language)
    if language == "de":
        adjective = GERMAN_ADJECTIVE.search(before)
        heads = [before[: adjective.start()]] if adjective else []
        own = {reading for head in (*heads, before) for form in _last(head, language) for reading in form.readings}
        plural = gender is None and any(reading[1] == "p" for reading in own)
        singular = {reading for reading in own if reading[1] != "p"}
        cases = sorted({reading[0] for reading in (own if plural else singular or own)})
        if "g" in cases and GERMAN_GENITIVE.search(before):
            cases = ["g"]
        readings = [case + one for case in cases for one in (gender or "mfn") + ("p" if plural else "")]
        return [one for one in readings if one not in ("gm", "gn") or noun.endswith(("s", "n"))] or readings
    first = noun.split(" ")[0].lower()
    plural = first.endswith(("s", "x", "z") if language == "fr" else "s")
    return [one + number for number in ("sp" if plural else "s") for one in gender or "mf"]


def gender_of(noun: str, language: str) -> str | None:
    """Returns "m", "f" or "n" if the ending of a noun tells its gender; None otherwise. The noun of a term is its first
    word, in German its last.

    >>> gender_of("connexion internet", "fr"), gender_of("Ein-/Aus-Schaltung", "de"), gender_of("table", "fr")
    ('f', 'f', None)
    """
    words = noun.split(" ")
    word = words[-1] if language == "de" else words[0]
    ending = {"fr": "s?", "de": "(?:e?s)?"}.get(language, "")  # of the plural, of the genitive
    table: dict[str, list[str]] = word_lists("agreement").get(language, {}).get("genders", {})
    patterns = ((gender, f"(?:{'|'.join(endings)}){ending}$") for gender, endings in table.items())
    return next((gender for gender, pattern in patterns if regex.search(pattern, word.lower())), None)


# ── forms ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _inflected(before: str, following: str, language: str, reading: str) -> Iterator[str]:
    """Yields the text with its last determiner, and adjectives before it, in the form of a reading."""
    adjective = GERMAN_ADJECTIVE.search(before) if language == "de" else None
    if adjective and (found := _last(before[: adjective.start()], language)):
        strong = found[0].family.split()[0] in ("ein", "kein")
        weak = "e" if reading in GERMAN_E else "en"
        end = GERMAN_STRONG.get(reading, "en") if strong else weak
        for head in _inflected(before[: adjective.start()], adjective[1], language, reading):
            yield f"{head}{adjective[1]}{end} "
        return
    apostrophe = "’" if "’" in before else "'"
    for last in _last(before, language):
        start = len(before) - len(last.text)
        for form in _forms(language):
            if form.family == last.family and _fits(form, reading) and _may_precede(form.text, following, language):
                text = form.text.replace("'", apostrophe)
                text = (text[0].upper() if before[start].isupper() else text[0]) + text[1:]
                heads: Iterable[str] = [before[:start]]
                if form.family.startswith("adjective") and _last(before[:start], language):
                    heads = _inflected(before[:start], form.text, language, reading)
                yield from (head + text for head in heads)


def _fits(form: _Form, reading: str) -> bool:
    return not form.readings or reading in form.readings


def _last(before: str, language: str) -> list[_Form]:
    """Returns the longest determiner at the end of a text, with each of its readings' families."""
    found = [form for form in _forms(language) if _ends_with(before, form.text)]
    return [form for form in found if len(form.text) == len(found[0].text)]


def _ends_with(before: str, tail: str) -> bool:
    end = before[-len(tail) :].replace("’", "'")
    return end.lower() == tail and not before[: -len(tail)][-1:].isalnum()


@cache
def _forms(language: str) -> tuple[_Form, ...]:
    """Returns the forms of determiners, the longest first."""
    table: dict[str, Any] = word_lists("agreement").get(language, {})
    families: dict[str, list[str]] = dict(table.get("families", {}))
    for like, stems in table.get("like", {}).items():
        for stem in stems:
            families[f"{like} {stem}"] = [stem + form.removeprefix(like) for form in families[like]]
    forms = []
    for family, some in families.items():
        for text, _, readings in (one.partition("/") for one in some):
            written = text.replace("_", " ") + ("" if text.endswith("'") else " ")
            forms.append(_Form(written, _expanded(readings, language), family))
    return tuple(sorted(forms, key=lambda form: -len(form.text)))


def _expanded(readings: str, language: str) -> frozenset[str]:
    """Returns readings; in French and Spanish "s" and "p" alone are those of both genders."""
    some = readings.split(".") if readings else []
    if language == "de":
        return frozenset(some)
    return frozenset(gender + one for one in some for gender in ("mf" if len(one) == 1 else [""]))


def _may_precede(form: str, noun: str, language: str) -> bool:
    """Whether the spelling of a form allows the noun after it."""
    initial, form, rules = noun[:1].lower(), form.strip(), word_lists("agreement")["fr"]
    if language == "en":
        vowel = (initial in "aeiou" and not LIKE_CONSONANT.match(noun)) or SILENT_H.match(noun) is not None
        return form not in ("a", "an") or form == ("an" if vowel else "a")
    if language == "es" and form in ("y", "e", "o", "u"):
        sound = noun[:3].lower().removeprefix("h").translate({ord("í"): "i", ord("ó"): "o"})
        changed = sound[:1] == ("i" if form in "ye" else "o") and not sound.startswith(("ie", "ia"))
        return (form in "eu") == changed
    if language != "fr" or initial in EITHER:
        return True
    return form.replace(" ", "_") not in (rules["before_consonant"] if initial in VOWELS else rules["before_vowel"])
