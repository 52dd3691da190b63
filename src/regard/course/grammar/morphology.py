"""Word forms: English nouns and verbs, French nouns and adjectives by gender and number, French verbs by tense.

Regular forms are computed, irregular ones are listed in `words.toml`, which this module reads. French persons are
0..5: je, tu, il, nous, vous, ils.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def word_table(name: str) -> dict[str, Any]:
    """Returns a table of `words.toml`, with its lists as tuples."""
    return {word: tuple(row) for word, row in WORDS[name].items()}


# ------------------------------------------------------------------------------------------------ English

_VOWELS = "aeiou"
_DOUBLED = frozenset({"stop", "cut", "put", "sit", "run", "swim", "forget", "win"})


def english_plural(singular: str) -> str:
    """Returns the regular plural of a noun.

    >>> english_plural("cat"), english_plural("box"), english_plural("city"), english_plural("boy")
    ('cats', 'boxes', 'cities', 'boys')
    """
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2] not in _VOWELS:
        return singular[:-1] + "ies"
    return singular + "s"


def third_person(base: str) -> str:
    """
    >>> third_person("watch"), third_person("carry"), third_person("go"), third_person("have")
    ('watches', 'carries', 'goes', 'has')
    """
    return {"have": "has", "go": "goes"}.get(base) or english_plural(base)


def past(base: str) -> str:
    """
    >>> past("cross"), past("love"), past("carry"), past("stop")
    ('crossed', 'loved', 'carried', 'stopped')
    """
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in _VOWELS:
        return base[:-1] + "ied"
    return _double(base) + "ed"


def ing(base: str) -> str:
    """
    >>> ing("cross"), ing("write"), ing("run"), ing("see")
    ('crossing', 'writing', 'running', 'seeing')
    """
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return _double(base) + "ing"


def _double(base: str) -> str:
    return base + base[-1] if base in _DOUBLED else base


# ------------------------------------------------------------------------------------------------ French

PRESENT, IMPERFECT, FUTURE = "present", "imperfect", "future"

_IRREGULAR: dict[str, tuple[list[str], str, str]] = {  # six present forms, past participle, future stem
    infinitive: (present.split(), participle, future)
    for infinitive, present, participle, future in (
        line.split(" : ") for line in WORDS["french_verbs"]["irregular"].splitlines()
    )
}
_WITH_ETRE = frozenset(WORDS["french_verbs"]["with_etre"].split())
_FUTURE_ENDINGS = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT_ENDINGS = ("ais", "ais", "ait", "ions", "iez", "aient")
_DOUBLING = ("appeler", "jeter")  # appelle, jette; the other e…er verbs take è (achète)
_CONSONANTS = "bcdfghjklmnpqrstvwxz"


def takes_etre(infinitive: str) -> bool:
    """Whether the passé composé of this verb, if it is not reflexive, has the auxiliary être."""
    return infinitive in _WITH_ETRE


@cache
def conjugate(infinitive: str, tense: str, person: int) -> str:
    """
    >>> conjugate("manger", PRESENT, 3), conjugate("acheter", FUTURE, 2), conjugate("finir", IMPERFECT, 5)
    ('mangeons', 'achètera', 'finissaient')
    """
    if tense == PRESENT:
        return _present(infinitive)[person]
    if tense == FUTURE:
        return _future_stem(infinitive) + _FUTURE_ENDINGS[person]
    assert tense == IMPERFECT, tense
    ending = _IMPERFECT_ENDINGS[person]
    if infinitive == "être":
        return "ét" + ending
    if infinitive == "pleuvoir":
        return "pleuv" + ending
    stem = _present(infinitive)[3].removesuffix("ons")
    if ending.startswith("i"):  # mangions, lancions: no e or ç before i
        stem = stem[:-1] if stem.endswith("ge") else stem.replace("ç", "c")
    return stem + ending


@cache
def participle(infinitive: str, feminine: bool = False, plural: bool = False) -> str:
    """
    >>> participle("écrire", feminine=True), participle("mettre", plural=True), participle("tomber", True, True)
    ('écrite', 'mis', 'tombées')
    """
    if infinitive in _IRREGULAR:
        base = _IRREGULAR[infinitive][1]
    elif infinitive.endswith("er"):
        base = infinitive[:-2] + "é"
    elif infinitive.endswith("ir"):
        base = infinitive[:-1]
    else:
        base = infinitive[:-2] + "u"
    return agree(base, feminine, plural)


def agree(base: str, feminine: bool, plural: bool) -> str:
    """Adds the regular agreement of a participle: -e, -s."""
    form = base + "e" if feminine else base
    return form + "s" if plural and not form.endswith("s") else form


def _present(infinitive: str) -> list[str]:
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][0]
    stem = infinitive[:-2]
    if infinitive.endswith("er"):
        strong, plural = _strong_stem(infinitive), stem
        if stem.endswith("g"):
            plural = stem + "e"
        elif stem.endswith("c"):
            plural = stem[:-1] + "ç"
        return [strong + "e", strong + "es", strong + "e", plural + "ons", stem + "ez", strong + "ent"]
    if infinitive.endswith("ir"):
        return [stem + e for e in ("is", "is", "it", "issons", "issez", "issent")]
    assert infinitive.endswith("re"), infinitive
    return [stem + e for e in ("s", "s", "", "ons", "ez", "ent")]


def _strong_stem(infinitive: str) -> str:
    """Returns the stem of an -er verb before a silent ending: achèt-, préfèr-, nettoi-, appell-."""
    stem = infinitive[:-2]
    if infinitive in _DOUBLING:
        return stem + stem[-1]
    if stem.endswith(("oy", "uy")):
        return stem[:-1] + "i"
    if len(stem) > 2 and stem[-1] in _CONSONANTS and stem[-2] in "eé":
        return stem[:-2] + "è" + stem[-1]
    return stem


def _future_stem(infinitive: str) -> str:
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][2]
    if infinitive.endswith("er"):
        stem = infinitive[:-2]
        if stem[-2:-1] == "é":  # préférera keeps its é
            return infinitive
        return _strong_stem(infinitive) + "er"
    return infinitive.removesuffix("e")


def french_plural(singular: str) -> str:
    """
    >>> french_plural("chat"), french_plural("bateau"), french_plural("journal"), french_plural("souris")
    ('chats', 'bateaux', 'journaux', 'souris')
    """
    if singular.endswith(("s", "x", "z")):
        return singular
    if singular.endswith(("eau", "eu")):
        return singular + "x"
    if singular.endswith("al"):
        return singular[:-2] + "aux"
    return singular + "s"


def feminine_adjective(masculine: str) -> str:
    """
    >>> [feminine_adjective(word) for word in ("grand", "heureux", "léger", "jeune")]
    ['grande', 'heureuse', 'légère', 'jeune']
    """
    if masculine.endswith("e"):
        return masculine
    if masculine.endswith("eux"):
        return masculine[:-1] + "se"
    if masculine.endswith("er"):
        return masculine[:-2] + "ère"
    if masculine.endswith("f"):
        return masculine[:-1] + "ve"
    return masculine + "e"


def plural_adjective(singular: str) -> str:
    """Returns the plural of an adjective: that of a noun, but bleu → bleus."""
    if singular.endswith("bleu"):
        return singular + "s"
    return french_plural(singular)
