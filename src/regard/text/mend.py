"""The case of informal text, made readable for a model trained on edited sentences.

    LINES IN CAPITALS      read in small letters, translated in capitals
    Lines In Title Case    read in small letters

A vocabulary learnt from ordinary text spells capitals letter by letter, which a small model translates badly. In small
letters, names and words cannot be distinguished. It is optional ([decode] mend): not for a model that was trained on
such text. In German, where nouns are capitalised, no line is taken for title case. `decode/prepare.py` applies it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from regard.text.capitals import CAPITALISED_NOUNS

FEWEST_LETTERS = 4  # of a line in capitals; one with fewer may be a name: USA, BBC
FEWEST_WORDS = 4  # of a line in title case; one with fewer may be names: Mary Ann Smith
SHORT = 3  # letters of words that titles may leave small: of, the
CAPITALISED = 0.75  # of the words of a title, more than this share

WORD = re.compile(r"[^\W\d_][\w'’-]*")
BETWEEN_WORDS = re.compile(r"^\w|\W++\w?")  # possessive, so that time is linear in the length of a line
SENTENCE_BREAK = re.compile(r"[.!?…]\s")


def in_capitals(line: str) -> bool:
    """Whether it has enough letters and none of them is small. Scripts without case are never in capitals.

    >>> [in_capitals(line) for line in ("STOP! 2 CATS.", "USA", "Stop!", "猫がいます。", "ÉTÉ 42 À NICE")]
    [True, False, False, False, True]
    """
    return line.isupper() and sum(map(str.isalpha, line)) >= FEWEST_LETTERS


def in_title_case(line: str, language: str | None = None) -> bool:
    """
    >>> [in_title_case(line) for line in ("The Cat Is Back on His Mat", "Tom met John Smith.", "Mary Ann Smith")]
    [True, False, False]
    >>> in_title_case("Herr Doktor Weber ist Arzt", "de")
    False
    """
    if language in CAPITALISED_NOUNS:
        return False
    words = WORD.findall(line)
    capitalised = [word for word in words if word[0].isupper()]
    long_ones_are = all(word[0].isupper() for word in words if len(word) > SHORT)
    return len(words) >= FEWEST_WORDS and long_ones_are and len(capitalised) > CAPITALISED * len(words)


def in_small(line: str) -> str:
    """As many characters as before.

    >>> in_small("HELLO. HOW ARE YOU, TOM?")
    'Hello. How are you, tom?'
    """

    def capitalised(found: re.Match[str]) -> str:
        begins = found.start() == 0 or SENTENCE_BREAK.search(found[0])
        return _each(str.upper, found[0]) if begins else found[0]

    return BETWEEN_WORDS.sub(capitalised, _each(str.lower, line))


def _each(change: Callable[[str], str], text: str) -> str:
    """Change each character that stays one character, so that every character keeps its place."""
    return "".join(new if len(new := change(character)) == 1 else character for character in text)
