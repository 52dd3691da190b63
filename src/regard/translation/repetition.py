"""Loops: repetitions of a translation that its source does not have.

A model that does not understand its source may repeat a word, a phrase or a letter again and again. Repetition by
itself is not an error: "very, very", "Bye-bye!", "nous nous levons". So only repetition beyond the source counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import regex

from regard.text.words import PartCache, may_repeat

MAX_CHARS_CHECKED = 20_000  # characters that are checked
PHRASE = 8  # maximal number of words of a phrase
WORD = regex.compile(r"[\p{L}\p{M}\p{N}]++(?:['’-][\p{L}\p{M}\p{N}]++)*+")
STUTTER = re.compile(r"([^\W\d_]{1,4}?)\1{3,}")  # one to four letters, at least four times in a row
LETTERS = 5  # of a word that may not be repeated directly; shorter ones may be: "nous nous", "that that"
OFTEN = 4  # minimal occurrences of a word, not adjacent, that may be a loop
SHARE = 0.3  # minimal share of a word's occurrences among all words


class Loop(NamedTuple):
    text: str  # the repeated text
    times: int


_WORDS = PartCache[str](lambda part: [part] if part.isalpha() else WORD.findall(part))


def words_of(text: str) -> list[str]:
    """Returns the words of a text in lower case."""
    return _WORDS(text[:MAX_CHARS_CHECKED].lower())


def repeated_phrase(words: Sequence[str]) -> Loop:
    """Returns the phrase that is repeated most often in direct succession, with times=1 if there is none. Words of
    fewer than five letters count from three times on, other phrases from two.

    >>> repeated_phrase("le chat le chat le chat dort".split())
    Loop(text='le chat', times=3)
    """
    best = Loop("", 1)
    for size in range(1, min(PHRASE, len(words) // 2, _longest_run_of_repeated(words)) + 1):
        run = 0  # words in a row that are equal to the one `size` words before
        for at in range(size, len(words)):
            run = run + 1 if words[at] == words[at - size] else 0
            times = 1 + run // size
            short = size == 1 and len(words[at]) < LETTERS
            if times > best.times and not (short and times < 3):
                best = Loop(" ".join(words[at - size + 1 : at + 1]), times)
    return best


def _longest_run_of_repeated(words: Sequence[str]) -> int:
    """Returns the maximal number of words in a row that all occurred before: no longer phrase is repeated."""
    seen = set(words)
    if len(seen) == len(words):
        return 0
    seen.clear()
    longest = run = 0
    for word in words:
        if word in seen:
            run += 1
            longest = max(longest, run)
        else:
            run = 0
            seen.add(word)
    return longest


def _stutters(part: str) -> list[Loop]:
    found = STUTTER.finditer(part) if may_repeat(part, 4) else ()
    return [Loop(m[1], len(m[0]) // len(m[1])) for m in found]


_STUTTERS = PartCache(_stutters)


def stutter(text: str) -> Loop:
    """Returns the one to four letters that are repeated most often in a row.

    >>> stutter("PDNOOOOOOONEA"), stutter("hello")
    (Loop(text='o', times=7), Loop(text='', times=1))
    """
    found = _STUTTERS(text[:MAX_CHARS_CHECKED].lower())
    return max(found, key=lambda loop: loop.times, default=Loop("", 1))


def repeated_words(words: Sequence[str]) -> Loop:
    """Returns the most frequent long word."""
    counts = Counter([word for word in words if len(word) >= LETTERS])
    return Loop(*counts.most_common(1)[0]) if counts else Loop("", 0)


def loop(source: str, target: str) -> Loop | None:
    """Returns a repetition of the target that the source does not have, or None.

    >>> loop("Where is it?", "Le septembre septembre septembre")
    Loop(text='septembre', times=3)
    >>> loop("It is very, very, very late.", "Il est très, très, très tard.") is None
    True
    """
    ours = words_of(target)
    phrase, letters, word = repeated_phrase(ours), stutter(target), repeated_words(ours)
    often = word.times >= OFTEN and word.times > SHARE * len(ours)
    if phrase.times == letters.times == 1 and not often:
        return None  # whatever the source repeats
    theirs = words_of(source)
    if phrase.times > repeated_phrase(theirs).times and not (phrase.times == 2 and _doubled(theirs)):
        return phrase
    if letters.times > 1 + stutter(source).times:
        return letters
    return word if often and word.times >= 2 * max(Counter(theirs).values(), default=0) else None


def _doubled(words: Sequence[str]) -> bool:
    """Whether any word occurs twice in a row."""
    return any(one == other for one, other in pairwise(words))
