"""Informal text, made readable for a model trained on edited sentences.

    LINES IN CAPITALS      read in small letters, translated in capitals
    Lines In Title Case    read in small letters
    lines in small letters are read with the capitals of the words that are known with one alone: paris, das haus
    A lnie with slips.     A line with slips: a word that is none is read as the only known word that it can be

A vocabulary learnt from ordinary text spells capitals letter by letter, which a small model translates badly. In small
letters, names and words cannot be distinguished but for those that are known, and a model that has learnt to read them
(`data.lower`) loses least.
It is optional ([decode] mend), and not for a model that was trained on capitals. `translation/prepare.py` applies it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from regard.text.capitals import CAPITALISED_NOUNS, Span, cased_words
from regard.text.known_words import KnownWords

Change = tuple[int, int, str]  # a span of a text, and what is read there


FEWEST_LETTERS = 4  # of a line in capitals; one with fewer may be a name: USA, BBC
FEWEST_WORDS = 4  # of a line in title case; one with fewer may be names: Mary Ann Smith
FULL_STOPS = (".", "!", "?", "…")
SHORT = 3  # letters of words that titles may leave small: of, the
CAPITALISED = 0.75  # of the words of a title, more than this share

OPENING, CLOSING = "\"'“‘«(¿¡", ".,;:!?…\"'”’»)"  # punctuation before and after a word
FIRST_LETTER = re.compile(r"[^\W\d_]")

WORD = re.compile(r"[^\W\d_][\w'’-]*")
BETWEEN_WORDS = re.compile(r"^\w|\W++\w?")  # possessive, so that time is linear in the length of a line
SENTENCE_BREAK = re.compile(r"[.!?…]\s")


def in_capitals(line: str) -> bool:
    """Whether it has enough letters and none of them is small. Scripts without case are never in capitals.

    >>> [in_capitals(line) for line in ("STOP! 2 CATS.", "USA", "Stop!", "猫がいます。", "ÉTÉ 42 À NICE")]
    [True, False, False, False, True]
    """
    return line.isupper() and sum(map(str.isalpha, line)) >= FEWEST_LETTERS


def in_title_case(line: str, language: str | None = None, known: KnownWords | None = None) -> bool:
    """Whether words have a capital that would have none otherwise. German nouns always have one; so there two words
    beside the first must be known in small letters. A line of two or three words may be a name; it must be a sentence
    with a full stop, of known words, one of them known in small letters.

    >>> [in_title_case(line) for line in ("The Cat Is Back on His Mat", "Tom met John Smith.", "Mary Ann Smith")]
    [True, False, False]
    >>> known = KnownWords(["Tag", "Frau", "Berg", "guten", "ist", "hier"])
    >>> [in_title_case(line, "de", known) for line in ("Guten Tag Frau Berg", "Frau Berg Ist Hier", "Es Ist Hier.")]
    [False, True, True]
    """
    words = WORD.findall(line)
    capitalised = [word for word in words if word[0].isupper()]
    long_ones_are = all(word[0].isupper() for word in words if len(word) > SHORT)
    if not long_ones_are or len(capitalised) <= CAPITALISED * len(words):
        return False
    short = len(words) < FEWEST_WORDS
    if not short and language not in CAPITALISED_NOUNS:
        return True
    knowledge = [known.knowledge(word) for word in capitalised[1:]] if known else []
    ordinary, nouns = knowledge.count("ordinary"), language in CAPITALISED_NOUNS
    if short and ("unknown" in knowledge or not line.rstrip().endswith(FULL_STOPS)):
        return False
    return ordinary >= (2 if nouns else 1)


def in_small(line: str) -> str:
    """As many characters as before.

    >>> in_small("HELLO. HOW ARE YOU, TOM?")
    'Hello. How are you, tom?'
    """

    def capitalised(found: re.Match[str]) -> str:
        begins = found.start() == 0 or SENTENCE_BREAK.search(found[0])
        return _each(str.upper, found[0]) if begins else found[0]

    return BETWEEN_WORDS.sub(capitalised, _each(str.lower, line))


def with_known_capitals(text: str, known: KnownWords, language: str = "en") -> str:
    """A text whose capitals say nothing, with those of words that are known with one alone. As many characters as
    before.

    >>> with_known_capitals("das haus ist in paris", KnownWords(["das", "Haus", "ist", "in", "Paris"]), "de")
    'das Haus ist in Paris'
    """
    read = list(text)
    for start, end, _ in cased_words(text, language=language):
        if (new := known.with_its_capital(text[start:end])) != text[start:end] and len(new) == end - start:
            read[start] = new[0]
    return "".join(read)


def respelt(sentence: str, taken: Sequence[Span], known: KnownWords, language: str = "en") -> list[Change]:
    """Words outside the spans `taken` that are slips, each with the known word that it must be. In a sentence that
    begins with a small letter names may have one too, so nothing is changed there.

    >>> known = KnownWords(["where", "is", "the", "station"])
    >>> respelt("Where is teh staiton?", [], known), respelt("where is the staiton", [], known)
    ([(13, 20, 'station')], [])
    """
    first = FIRST_LETTER.search(sentence)
    if not first or not first[0].isupper():
        return []
    changes = []
    for start, end, at_start in cased_words(sentence, taken, language):
        if _stands_alone(sentence, start, end) and (new := known.intended(sentence[start:end], at_start, language)):
            changes.append((start, end, new))
    return changes


def _stands_alone(sentence: str, start: int, end: int) -> bool:
    """Whether a word has nothing beside it but space and punctuation: [w]hile and file_name are no slips."""
    before, after = sentence[start - 1 : start] if start else " ", sentence[end : end + 1] or " "
    return (before.isspace() or before in OPENING) and (after.isspace() or after in CLOSING)


def _each(change: Callable[[str], str], text: str) -> str:
    """Change each character that stays one character, so that every character keeps its place."""
    return "".join(new if len(new := change(character)) == 1 else character for character in text)
