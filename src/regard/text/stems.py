"""Whether a word that is not known is a form of one that is: "cantaremos" of "cantar".

By its ending alone, so it is right about most verbs and wrong about some names; `known_words.py` asks where a word
begins a sentence, or where it would be taken for a slip.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple


class Forms(NamedTuple):
    """Endings of forms, and what stands in their place in the form that may be known."""

    endings: tuple[str, ...]
    instead: tuple[str, ...]


def _forms(endings: str, *instead: str) -> Forms:
    return Forms(tuple(endings.split()), instead)


_FORMS = {
    "en": (_forms("ed d ing ly er ers ness less e en n", ""),),
    "fr": (
        _forms("e es ons ez ent ais ait ions iez aient ai as a âmes èrent é ée és ées ant", "er", "ir", "re"),
        _forms("issons issez issent is it î irent i ie ies", "ir", "re"),
        _forms("ai as a ons ez ont ais ait ions iez aient", "", "e"),  # after the infinitive
        _forms("ment", "", "e"),
    ),
    "de": (
        _forms("e st est t et te test ten tet end", "en", "n"),
        _forms("er es em en ere eren erer eres", "", "e"),
    ),
    "es": (
        _forms("o as a amos áis an é aste ó asteis aron aba abas ábamos abais aban ando ado e es emos en ad", "ar"),
        _forms("o es e emos éis en í iste ió imos isteis ieron ía ías íamos íais ían iendo ido", "er", "ir"),
        _forms("a as amos an ed id iera ieras iéramos ieran", "er", "ir"),
        _forms("ara aras áramos aran", "ar"),
        _forms("é ás á emos éis án ía ías íamos íais ían", ""),  # after the infinitive
        _forms("mente", "", "a"),
    ),
}
_ATTACHED = re.compile(r"(?:me|te|se|nos|os)?(?:lo|la|le|los|las|les|me|te|se|nos|os)$")  # to a Spanish verb: dímelo
_PLAIN = str.maketrans("áéíóú", "aeiou")
SHORTEST_STEM = 3  # letters before an ending


def has_known_stem(small: str, known: Collection[str], language: str = "en") -> bool:
    """
    >>> known = {"cantar", "correr", "decir", "di", "see", "chanter", "kaufen"}
    >>> [has_known_stem(word, known, "es") for word in ("cantaremos", "corrimos", "dímelo", "maría")]
    [True, True, True, False]
    >>> has_known_stem("chantons", known, "fr"), has_known_stem("kauft", known, "de"), has_known_stem("seeing", known)
    (True, True, True)
    """
    return any(form in known for form in _stems(small, language))


def _stems(small: str, language: str) -> Iterator[str]:
    yield from _without_endings(small, language)
    if language == "es" and (attached := _ATTACHED.search(small)) and attached.start() >= 2:
        verb = small[: attached.start()].translate(_PLAIN)
        yield verb
        yield from _without_endings(verb, language)


def _without_endings(small: str, language: str) -> Iterator[str]:
    for forms in _FORMS.get(language, ()):
        for ending in forms.endings:
            if small.endswith(ending) and (language == "en" or len(small) - len(ending) >= SHORTEST_STEM):
                stem = small[: -len(ending)]
                yield from (stem + instead for instead in forms.instead)
