"""Loops: what a translation repeats and its source does not.

A model that does not understand its source may say the same word or phrase again and again, or one letter. Repetition
by itself is no fault: "very, very", "Bye-bye!", "nous nous levons". So only what goes beyond the source counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

LONGEST = 20_000  # characters that are looked at
PHRASE = 8  # words of the longest phrase that is looked for
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:['’-][\p{L}\p{M}\p{N}]++)*+")
STUTTER = re.compile(r"([^\W\d_]{1,4}?)\1{3,}")  # at least four times the same one to four letters
LETTERS = 5  # of a word whose immediate repetition is no grammar; shorter ones may be: "nous nous", "that that"
OFTEN = 4  # times a word occurs, further apart, from which on it may be a loop
SHARE = 0.3  # of the words that are repetitions, from which on they are a loop


class Loop(NamedTuple):
    text: str  # what is repeated
    times: int


def words_of(text: str) -> list[str]:
    found: list[str] = WORD.findall(text[:LONGEST].lower())
    return found


def repeated_phrase(words: Sequence[str]) -> Loop:
    """The phrase that is said most often in immediate succession, one time for each word of a phrase that is not
    repeated at all. Of single words only long ones count from two times on.

    >>> repeated_phrase("le chat le chat le chat dort".split())
    Loop(text='le chat', times=3)
    """
    best = Loop("", 1)
    for size in range(1, min(PHRASE, len(words) // 2) + 1):
        run = 0  # words in a row that are equal to the one `size` words before
        for at in range(size, len(words)):
            run = run + 1 if words[at] == words[at - size] else 0
            times = 1 + run // size
            short = size == 1 and len(words[at]) < LETTERS
            if times > best.times and not (short and times < 3):
                best = Loop(" ".join(words[at - size + 1 : at + 1]), times)
    return best


def stutter(text: str) -> Loop:
    """The longest run of the same one to four letters.

    >>> stutter("PDNOOOOOOONEA"), stutter("hello")
    (Loop(text='o', times=7), Loop(text='', times=1))
    """
    found = [Loop(m[1], len(m[0]) // len(m[1])) for m in STUTTER.finditer(text[:LONGEST].lower())]
    return max(found, key=lambda loop: loop.times, default=Loop("", 1))


def repeated_words(words: Sequence[str]) -> Loop:
    """The long word that occurs most often, anywhere."""
    counts = Counter(word for word in words if len(word) >= LETTERS)
    return Loop(*counts.most_common(1)[0]) if counts else Loop("", 0)


def loop(source: str, target: str) -> Loop | None:
    """What the target repeats and the source does not, or None.

    >>> loop("Where is it?", "Le septembre septembre septembre")
    Loop(text='septembre', times=3)
    >>> loop("It is very, very, very late.", "Il est très, très, très tard.") is None
    True
    """
    ours, theirs = words_of(target), words_of(source)
    phrase = repeated_phrase(ours)
    if phrase.times > repeated_phrase(theirs).times and not (phrase.times == 2 and _doubled(theirs)):
        return phrase
    letters = stutter(target)
    if letters.times > 1 + stutter(source).times:
        return letters
    word, known = repeated_words(ours), max(Counter(theirs).values(), default=0)
    if word.times >= max(OFTEN, 2 * known) and word.times > SHARE * len(ours):
        return word
    return None


def _doubled(words: Sequence[str]) -> bool:
    """Whether any word is said twice in a row."""
    return any(one == other for one, other in pairwise(words))
