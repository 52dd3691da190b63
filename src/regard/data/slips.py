"""Simulates careless typing: typing errors, missing accents and apostrophes, no punctuation.

    Where's the café, then?   →   Wheres teh cafe then

A slip is a neighbouring key in place of a letter, a letter twice, a letter missing, or two letters swapped. Words with
digits or signs inside (addresses, code, placeholders, slots) are left as they are. Everything is drawn from the given
generator, and time is linear in the length of the text. `transforms.py` does this to training text,
`benchmarks/rough.py` to a test set.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Mapping

from regard.text.spelling import KEY_NEIGHBORS

KINDS = ("neighbour", "neighbour", "neighbour", "missing", "missing", "missing", "swapped", "swapped", "twice")
LETTERS_PER_TYPO = (10, 20, 30, 50)  # letters per slip: careless to careful
UNACCENTED, UNMARKED = 0.3, 0.3  # probability that all accents are left out, or that apostrophes are changed
LONGEST_WORD = 40  # maximum characters in each direction that are searched for the edges of a word

_SIGNS = re.compile(r"[^\w'’.,;:!?…()\"«»“”„¿¡-]|[\d_]")  # characters that no ordinary word has
_LAST_MARK = re.compile(r"\s*[.!?…]+$")
_OPENING_MARK = re.compile(r"(?<!\S)[¿¡]+\s?")
_COMMA = re.compile(r"[,;](?=\s)")
_MARKS = re.compile(r"\s*[.,;:!?…»”\"]+(?=\s|$)|(?<!\S)[«“„\"¿¡]+\s?")


def _bare_letters() -> dict[int, str]:
    """Returns accented Latin letters and ligatures → their unaccented spelling."""
    found = {ord(a): b for a, b in zip("ßœŒæÆøØłŁđĐ", str.split("ss oe Oe ae Ae o O l L d D"), strict=True)}
    for number in range(0xC0, 0x250):
        base = unicodedata.normalize("NFD", chr(number))[0]
        if base.isascii() and base.isalpha():
            found[number] = base
    return found


BARE = _bare_letters()
SPELT_OUT = BARE | {ord(a): b for a, b in zip("äöüÄÖÜ", str.split("ae oe ue Ae Oe Ue"), strict=True)}  # as in German


def without_accents(text: str, letters: Mapping[int, str] = BARE) -> str:
    """
    >>> without_accents("Où est Frau Müßig ?"), without_accents("Müßig", SPELT_OUT)
    ('Ou est Frau Mussig ?', 'Muessig')
    """
    return text if text.isascii() else text.translate(letters)


def with_typos(text: str, rng: random.Random) -> str:
    """Adds typing slips to a text; their number, the keyboard and the use of accents are drawn at random."""
    typed = text
    if rng.random() < UNACCENTED:
        typed = without_accents(typed, rng.choice((BARE, SPELT_OUT)))
    if rng.random() < UNMARKED:
        typed = other_apostrophes(typed, rng)
        typed = typed if typed.strip() else text
    return with_slips(typed, rng.choice(LETTERS_PER_TYPO), rng)


def other_apostrophes(text: str, rng: random.Random) -> str:
    """Removes all apostrophes, or makes them all curly or all straight."""
    return re.sub("['’]", rng.choice(("", "’", "'")), text)


def with_slips(text: str, every: int, rng: random.Random) -> str:
    """Makes one slip in `every` letters on average, whatever the length of the text.

    >>> with_slips("Where is the station?", 10, random.Random(3))
    'Wherr is the sattion?'
    """
    keyboard = rng.choice(KEY_NEIGHBORS)
    letters = [at for at, character in enumerate(text) if character.isalpha()]
    count = int(len(letters) / every + rng.random())
    typed = list(text)
    for at in sorted(rng.sample(letters, count), reverse=True):  # from the end, so that earlier positions stay valid
        if not _SIGNS.search(_word_around(text, at)):
            kind = rng.choice(KINDS)
            if kind == "missing" and not _beside_letter(text, at):
                continue
            typed[at : at + 2] = slip(text[at], "".join(typed[at + 1 : at + 2]), kind, keyboard, rng)
    return "".join(typed)


def _word_around(text: str, at: int) -> str:
    before, after = text[max(0, at - LONGEST_WORD) : at], text[at : at + LONGEST_WORD]
    return (before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else "") + after.split(None, 1)[0]


def _beside_letter(text: str, at: int) -> bool:
    return text[at + 1 : at + 2].isalpha() or (at > 0 and text[at - 1].isalpha())


def slip(letter: str, following: str, kind: str, keyboard: Mapping[str, str], rng: random.Random) -> tuple[str, str]:
    """Returns the text typed for a letter and for the character that follows it.

    >>> kinds, keys = ("neighbour", "missing", "swapped", "twice"), KEY_NEIGHBORS[0]
    >>> [slip("a", "t", kind, keys, random.Random(1)) for kind in kinds]
    [('w', 't'), ('', 't'), ('t', 'a'), ('aa', 't')]
    """
    if kind == "missing":
        return "", following
    if kind == "twice":
        return letter * 2, following
    if kind == "swapped":
        return (following, letter) if following.isalpha() else (letter, following)
    near = keyboard.get(without_accents(letter).lower())
    new = rng.choice(near) if near else letter
    return new.upper() if letter.isupper() else new, following


def without_marks(text: str, kind: str) -> str:
    """Removes the "last" mark, the "commas", or "all" marks of a text; unchanged if nothing else would be left.

    >>> [without_marks("Well, ¿qué? It is 3.5, no?", kind) for kind in ("last", "commas", "all")]
    ['Well, qué? It is 3.5, no', 'Well ¿qué? It is 3.5 no?', 'Well qué It is 3.5 no']
    """
    if kind == "last":
        left = _OPENING_MARK.sub("", _LAST_MARK.sub("", text))
    else:
        left = _COMMA.sub("", text) if kind == "commas" else _MARKS.sub("", text).strip()
    return left if left.strip() else text


MARKS_LOST = ("last", "last", "commas", "all")
