"""Pronouns that may refer to a sentence before: whether a text has one, and whether two translations differ in one.

    It is very old.       Elle est très vieille.       Je la vends.             have one
    The car is old.       La voiture est vieille.      Je vends la voiture.     have none

English, French, German and Spanish have lists of words (`word_lists.json`); a text in another language has no pronouns.
Words that are also articles (le, la, les; lo, la, los, las) count where they follow a word of the list "before_object",
such as a subject pronoun. A Spanish verb without a subject at the beginning (*Es muy vieja.*) counts as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from difflib import SequenceMatcher
from functools import cache

from regard.text.words import word_lists, word_spans

MOST_CHANGED = 3  # words that a pronoun may change with it, other forms of a word aside
STEM = 3  # first letters that the forms of a word share


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    lists = word_lists("pronouns").get(language)
    if lists is None:
        return None
    words = "|".join(lists["words"])
    found = [rf"\b(?:{words})\b", rf"^\W*(?i:{'|'.join([words, *lists.get('first', ())])})\b"]
    if "objects" in lists:
        found.append(rf"(?i:\b(?:{'|'.join(lists['before_object'])})[ '’-](?:{'|'.join(lists['objects'])})\b)")
    if "endings" in lists:
        found.append(rf"\w(?:{'|'.join(lists['endings'])})\b")
    return re.compile("|".join(found))


def has_pronoun(text: str, language: str | None) -> bool:
    """Whether a text in this language has a pronoun that may refer to a sentence before.

    >>> has_pronoun("I will sell it.", "en"), has_pronoun("I will sell the car.", "en")
    (True, False)
    """
    pattern = _pattern(language or "")
    return pattern is not None and pattern.search(text) is not None


def differ_in_pronoun(first: str, second: str, language: str | None) -> bool:
    """Whether two translations into this language differ in a pronoun, or in the forms of words, and in little else.

    >>> differ_in_pronoun("Ça s'est cassé.", "Elle s'est cassée.", "fr")
    True
    >>> differ_in_pronoun("Elle est cassée.", "Elle est abîmée.", "fr")
    False
    """
    lists = word_lists("pronouns").get(language or "")
    if lists is None:
        return False
    one, other = changed_words(first, second)
    left, right = (Counter(map(_stem, words)) for words in (one, other))
    rest = [(left - right), (right - left)]  # other forms of a word aside
    changed = {word for words, stems in zip((one, other), rest, strict=True) for word in words if _stem(word) in stems}
    shown = not changed.isdisjoint(lists["words"] + lists["other_words"]) or changed.issubset(lists.get("articles", ()))
    return shown and max(stems.total() for stems in rest) <= MOST_CHANGED


def changed_words(first: str, second: str) -> tuple[list[str], list[str]]:
    """Returns the words of each text that the other does not have in this place, in lower case.

    >>> changed_words("C'était trop cher.", "Elle était trop chère.")
    (["c'", 'cher'], ['elle', 'chère'])
    """
    one, other = ([text[a:b].casefold().replace("’", "'") for a, b in word_spans(text)] for text in (first, second))
    changes = [edit for edit in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if edit[0] != "equal"]
    left = [word for _, a, b, _, _ in changes for word in one[a:b]]
    return left, [word for _, _, _, a, b in changes for word in other[a:b]]


def _stem(word: str) -> str:
    """Returns the first letters without accents.

    >>> _stem("chère"), _stem("cher")
    ('che', 'che')
    """
    letters = [letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)]
    return "".join(letters[:STEM])
