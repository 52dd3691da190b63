"""English word forms: regular ones computed, irregular ones given by the lexicon."""

from __future__ import annotations

_VOWELS = "aeiou"
_DOUBLED = frozenset({"stop", "cut", "put", "sit", "run", "swim", "forget", "win"})


def plural_noun(singular: str) -> str:
    """
    >>> plural_noun("cat"), plural_noun("box"), plural_noun("city"), plural_noun("boy")
    ('cats', 'boxes', 'cities', 'boys')
    """
    return _add_s(singular)


def third_person(base: str) -> str:
    """
    >>> third_person("watch"), third_person("carry"), third_person("go"), third_person("have")
    ('watches', 'carries', 'goes', 'has')
    """
    if base == "have":
        return "has"
    return base + "es" if base == "go" else _add_s(base)


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


def _add_s(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    return word + "s"


def _double(base: str) -> str:
    return base + base[-1] if base in _DOUBLED else base
