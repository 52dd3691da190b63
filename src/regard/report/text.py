"""Measures and cuts text and finds its direction, without a font: viewers of a picture use their own fonts.

    em   the font size; a width of 0.6 is 0.6 times that

Widths are estimated upper bounds by character class (compared with DejaVu Sans, one of the widest, in a browser), so
that labels do not overlap in any usual font.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

LINE = 1.3  # em from one line to the next; accents above and below stay inside
ELLIPSIS = "…"

_NARROW = frozenset("ijltI.,:;'’‘|!fr()[] ·-")
_BROAD = frozenset("mwMW@%—œŒæÆ…")
_LETTERS = {"Lu": 0.8, "Lt": 0.95, "Ll": 0.66, "Nd": 0.66}  # widths of Latin and Hebrew
_SLENDER = ("LATIN", "DIGIT", "HEBREW")


def printable(text: str) -> str:
    """Replaces control characters, lone surrogates and direction marks by a visible sign.

    >>> printable("a\\x1b[2J\\u202eb")
    'a�[2J�b'
    """
    return "".join("\ufffd" if _acts(c) else c for c in text)


def _acts(character: str) -> bool:
    joins = character in "\u200c\u200d"  # used within Persian, Indic and emoji
    return not joins and unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def letters_of(word: str) -> list[str]:
    """Splits a word into what a reader sees as letters: accents, joiners and what they join stay together.

    >>> letters_of("e\u0301te\u0301") == ["e\u0301", "t", "e\u0301"]
    True
    """
    letters: list[str] = []
    for character in word:
        joined = letters and (_extends(character) or letters[-1].endswith("\u200d"))
        if joined:
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _extends(character: str) -> bool:
    tone = "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tone of the emoji before it
    return tone or character in "\u200c\u200d" or unicodedata.category(character).startswith("M")


def width(text: str) -> float:
    """Returns an upper bound of the width of a line in em.

    >>> round(width("chat"), 2), round(width("猫"), 2)
    (2.4, 1.05)
    """
    return sum(map(_width, text))


@lru_cache(maxsize=4096)
def _width(character: str) -> float:
    category = unicodedata.category(character)
    if category in ("Mn", "Me") or character in "\u200c\u200d":
        return 0.0
    if character in _BROAD:
        return 1.05
    if character in _NARROW:
        return 0.42
    if unicodedata.east_asian_width(character) in "WF":
        return 1.4 if category in ("So", "Sk") else 1.05  # emoji are wider than the line height
    name = unicodedata.name(character, "")
    if name.startswith(("CYRILLIC", "GREEK")):
        return 1.1 if category == "Lu" else 0.95
    if name.startswith("ARABIC"):
        return 1.25 if character in "سشصض" else 0.95  # isolated forms; joined, most are half as wide
    if name.startswith(_SLENDER) or character.isascii():
        return _LETTERS.get(category, 0.88)
    return 1.25  # Indic and others: some letters are wide, most are not


def cut(text: str, most: float) -> str:
    """Cuts a text to at most `most` em; a cut is shown by an ellipsis.

    >>> cut("antidisestablishmentarianism", 5)
    'antidis…'
    """
    if width(text) <= most:
        return text
    kept, room = "", most - width(ELLIPSIS)
    for letter in letters_of(text):
        room -= width(letter)
        if room < 0:
            break
        kept += letter
    return kept.rstrip() + ELLIPSIS


def wrap(text: str, most: float, lines: int | None = None) -> list[str]:
    """Wraps a text to lines of at most `most` em, at spaces, else between letters; the last of `lines` is cut.

    >>> wrap("layer 2 · head 1 · predicting", 9)
    ['layer 2 · head 1', '· predicting']
    """
    found: list[str] = [""]
    for word in text.split():
        longer = f"{found[-1]} {word}" if found[-1] else word
        if width(longer) <= most:
            found[-1] = longer
            continue
        if found[-1]:
            found.append("")
        for letter in letters_of(word):
            if found[-1] and width(found[-1] + letter) > most:
                found.append("")
            found[-1] += letter
    if lines is not None and len(found) > lines:
        found = [*found[: lines - 1], cut(" ".join(found[lines - 1 :]), most)]
    return [line for line in found if line]


def runs_left(text: str) -> bool:
    """Whether a text is mainly written from right to left (Arabic, Hebrew and the like).

    >>> runs_left("القطة السوداء تنام (cat)"), runs_left("cat"), runs_left("123")
    (True, False, False)
    """
    classes = [unicodedata.bidirectional(character) for character in text]
    return sum(c in ("R", "AL") for c in classes) > classes.count("L")
