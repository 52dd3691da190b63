"""Pronouns that may refer to a sentence before, by short lists of words (`word_lists.json`).

    It is very old.       Elle est très vieille.       Je la vends.       true
    The car is old.       La voiture est vieille.      Je vends la voiture.

Words that are also articles (le, la, les; lo, la, los, las) count where they follow a word of the list "before_object",
such as a subject pronoun. English, French, German and Spanish have lists; a text in another language has no pronouns.
"""

from __future__ import annotations

import re
from functools import cache

from regard.text.words import word_lists


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    lists = word_lists("pronouns").get(language)
    if lists is None:
        return None
    words = rf"\b(?:{'|'.join(lists['words'])})\b"
    if objects := lists.get("objects"):
        words += rf"|\b(?:{'|'.join(lists['before_object'])})[ '’-](?:{'|'.join(objects)})\b"
    if endings := lists.get("endings"):  # "verla": attached to an infinitive or a gerund
        words += rf"|\w(?:{'|'.join(endings)})\b"
    return re.compile(words, re.IGNORECASE)


def has_pronoun(text: str, language: str | None) -> bool:
    """Whether a text in this language has a pronoun that may refer to a sentence before.

    >>> has_pronoun("I will sell it.", "en"), has_pronoun("I will sell the car.", "en")
    (True, False)
    """
    pattern = _pattern(language or "")
    return pattern is not None and pattern.search(text) is not None
