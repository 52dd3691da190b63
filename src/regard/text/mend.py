"""Informal text, made readable for a model trained on edited sentences: capitals, emoji and addresses are taken out of
the source and put back into the translation.

    LINES IN CAPITALS      read in small letters, translated in capitals
    Lines In Title Case    read in small letters
    😀 :) @me #this, web and mail addresses before or after a sentence      left out, and put back in place
    a line without a letter (12:30, ***)                                    kept as it is

A vocabulary learnt from ordinary text spells capitals letter by letter and an emoji byte by byte, which a small model
translates badly. In small letters, names and words cannot be distinguished. What is within a sentence is left to the
model. It is optional ([decode] mend): not for German, where nouns are capitalised, and not for a model that was trained
on such text.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

FEWEST_LETTERS = 4  # of a line in capitals; one with fewer may be a name: USA, BBC
FEWEST_WORDS = 4  # of a line in title case; one with fewer may be names: Mary Ann Smith
SHORT = 3  # letters of words that titles may leave small: of, the
CAPITALISED = 0.75  # of the words of a title, more than this share

WORD = re.compile(r"[^\W\d_][\w'’-]*")
BETWEEN_WORDS = re.compile(r"^\w|\W++\w?")  # possessive, so that time is linear in the length of a line
SENTENCE_BREAK = re.compile(r"[.!?…]\s")
THING = r"(?:https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.\w+|[@#]\w+|[:;=]-?[()DPp/|]|<3|\^\^|xD)"
THING_BEFORE, WHOLE_THING = re.compile(rf"{THING}(?=\s|$)"), re.compile(THING)
FIRST_SIGN = "\u2000"  # before it are °, ©, ^ and the accents, which belong to words
JOINERS = "\u200d\ufe0e\ufe0f\u20e3"  # within one smiley: joined, as text or picture, on a key
SKINS = "🏻🏼🏽🏾🏿"


class Mended(NamedTuple):
    """A line as the model reads it, and what is put back: before + read + after is the line, except for case."""

    before: str
    read: str
    after: str
    loud: bool = False  # it was in capitals

    def restore(self, answer: str) -> str:
        return self.before + (answer.upper() if self.loud else answer) + self.after


def mended(line: str) -> Mended:
    """
    >>> mended("😀 WHERE ARE YOU? https://regard.example")
    Mended(before='😀 ', read='Where are you?', after=' https://regard.example', loud=True)
    >>> mended("12:30").read, mended("Tom is here.").read, mended("No One Is at Home Today").read
    ('', 'Tom is here.', 'No one is at home today')
    """
    start, end = without_things(line)
    before, read, after = line[:start], line[start:end], line[end:]
    if not any(map(str.isalpha, read)):
        return Mended(line, "", "")
    loud = in_capitals(read)
    return Mended(before, in_small(read) if loud or in_title_case(read) else read, after, loud)


def without_things(line: str) -> tuple[int, int]:
    """Start and end of the sentence within the line."""
    start, end = 0, len(line)
    while start < end:
        if _symbol(line[start]):
            start += 1
        elif found := THING_BEFORE.match(line, start):
            start = found.end()
        else:
            break
    while end > start:
        if line[end - 1].isspace():
            end -= 1
            continue
        word = end  # where the last word begins
        while word > start and not line[word - 1].isspace():
            word -= 1
        bare = end  # where it ends without its symbols
        while bare > word and _symbol(line[bare - 1]):
            bare -= 1
        whole = word == 0 or line[word - 1].isspace()
        if whole and any(WHOLE_THING.fullmatch(line, word, last) for last in (end, bare)):
            end = word
        elif bare < end:
            end = bare
        else:
            break
    return start, end


def _symbol(character: str) -> bool:
    sign = character > FIRST_SIGN and unicodedata.category(character) == "So"
    return sign or character.isspace() or character in JOINERS + SKINS


def in_capitals(line: str) -> bool:
    """Whether it has enough letters and none of them is small. Scripts without case are never in capitals.

    >>> [in_capitals(line) for line in ("STOP! 2 CATS.", "USA", "Stop!", "猫がいます。", "ÉTÉ 42 À NICE")]
    [True, False, False, False, True]
    """
    return line.isupper() and sum(map(str.isalpha, line)) >= FEWEST_LETTERS


def in_title_case(line: str) -> bool:
    """
    >>> [in_title_case(line) for line in ("The Cat Is Back on His Mat", "Tom met John Smith.", "Mary Ann Smith")]
    [True, False, False]
    """
    words = WORD.findall(line)
    capitalised = [word for word in words if word[0].isupper()]
    long_ones_are = all(word[0].isupper() for word in words if len(word) > SHORT)
    return len(words) >= FEWEST_WORDS and long_ones_are and len(capitalised) > CAPITALISED * len(words)


def in_small(line: str) -> str:
    """
    >>> in_small("HELLO. HOW ARE YOU, TOM?")
    'Hello. How are you, tom?'
    """

    def capitalised(found: re.Match[str]) -> str:
        begins = found.start() == 0 or SENTENCE_BREAK.search(found[0])
        return found[0].upper() if begins else found[0]

    return BETWEEN_WORDS.sub(capitalised, line.lower())
