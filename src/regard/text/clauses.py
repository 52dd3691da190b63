"""Splits a sentence that is too long for a model into parts that fit, at clauses where possible.

    after . ! ? within it  →  after ; : —  →  after a comma  →  before a conjunction  →  between words  →  characters

Parts are as few and as even as the possible splits allow. Better kinds of splits may be less even: each kind has a
penalty, in shares of the longest part that fits, which is added to the distance from the even split.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from functools import cache
from math import ceil

import regex

from regard.text.words import Span, word_lists

Fits = Callable[[str], bool]

FIRST_GUESS = 256  # initial guess of the characters that fit
TOLERANCE = 16  # relative precision 1 / TOLERANCE of the longest part that fits
MAX_TRIED = 8  # split points tried if the best do not fit
PENALTIES = {"end": 0.0, "colon": 0.05, "comma": 0.1, "conjunction": 0.15, "word": 0.5}
EXTRA_PART_PENALTY = 0.25  # of a split after which the rest needs one more part

_GRAPHEME = regex.compile(r"\X")
_SPACE_BEFORE, _SPACE_AFTER = regex.compile(r"(?r)\s+"), regex.compile(r"\s++")
_JOINED = regex.compile(r"[\p{M}\p{Cf}\p{Extended_Pictographic}\p{Regional_Indicator}ᄀ-ᇿ\n]")  # may be in a grapheme


def clause_spans(text: str, span: Span, fits: Fits, language: str = "en") -> list[Span]:
    """Returns the parts of the sentence at `span`, each of which `fits`; the sentence itself if it does.

    Only white space is left out between parts. `fits` must accept any part of a text that it accepts. A single
    character is a part even if it does not fit.

    >>> text = "I came because you called; you were not there, and I left."
    >>> [text[a:b] for a, b in clause_spans(text, (0, len(text)), lambda part: len(part) <= 40)]
    ['I came because you called;', 'you were not there, and I left.']
    """
    start, end = span
    if start >= end or fits(text[start:end]):
        return [span] if start < end else []
    found: list[Span] = []
    guess = FIRST_GUESS
    while start < end:
        guess = _longest(text, start, end, fits, guess)
        if start + guess >= end:
            found.append((start, end))
            break
        stop = _best_split(text, start, end, guess, fits, language)
        found.append((start, start + 1 + len(text[start + 1 : stop].rstrip())))
        start = stop
        while start < end and text[start].isspace():
            start += 1
    return found


def _longest(text: str, start: int, end: int, fits: Fits, guess: int) -> int:
    """Returns how many characters from `start` fit, to one part in `TOLERANCE`; at least 1.

    It searches around the guess with doubling steps, so that a good guess takes two calls of `fits`, and no string much
    longer than the result is tried.
    """
    most = end - start
    low, high = 0, most + 1  # low fits, high does not
    size, step = min(guess, most), max(1, guess // TOLERANCE)
    while high - low > max(1, low // TOLERANCE):
        if fits(text[start : start + size].rstrip()):
            low = size
        else:
            high = size
        size = (low + high) // 2
        if low == 0:
            size = max(high - step, 1)
        elif high > most:
            size = min(low + step, most)
        step *= 2
        if low == most or high == 1:
            break
    return max(low, 1)


def _best_split(text: str, start: int, end: int, longest: int, fits: Fits, language: str) -> int:
    """Returns where the part that begins at `start` ends."""
    rest = end - start
    parts = -(-rest // longest)
    even = rest / parts
    shortest = rest - (parts - 1) * longest  # a shorter one needs one more part

    def penalty(place: tuple[int, str]) -> float:
        length = place[0] - start
        return abs(length - even) / longest + PENALTIES[place[1]] + EXTRA_PART_PENALTY * (length < shortest)

    points = _split_points(text, start, start + longest, end, even, language)
    for stop, _ in heapq.nsmallest(MAX_TRIED, points, key=penalty):
        if fits(text[start:stop].rstrip()):
            return stop
    return _grapheme_boundary(text, start, start + min(longest, ceil(even)))


def _split_points(text: str, start: int, stop: int, end: int, even: float, language: str) -> Iterator[tuple[int, str]]:
    """Yields the ends of clauses after `start` and up to `stop`, with their kinds; and the ends of words nearest to the
    even split, before and after it."""
    for found in _pattern(language).finditer(text, start + 1, min(stop + 1, end)):
        if found.end() <= stop:
            yield found.end(), found.lastgroup
    middle = start + int(even)
    for found in (_SPACE_BEFORE.search(text, start + 1, middle), _SPACE_AFTER.search(text, middle, stop)):
        if found:
            yield found.end(), "word"


@cache
def _pattern(language: str) -> regex.Pattern[str]:
    name = language.replace("_", "-").partition("-")[0].lower()
    conjunctions = word_lists("conjunctions")
    words = "|".join(sorted(conjunctions.get(name, conjunctions["en"]), key=len, reverse=True))
    return regex.compile(
        rf"""(?P<end>[.!?…][\"'”’»)\]]*+\s++|[。！？｡।॥][」』）”]*+)
        |(?P<colon>[;:—–]\s++|[；：])
        |(?P<comma>[,،]\s++|[，、])
        |(?P<conjunction>(?<!\s)\s++(?=(?:{words})(?<=['’])|(?:{words})\b))""",
        regex.VERBOSE | regex.IGNORECASE,
    )


def _grapheme_boundary(text: str, start: int, stop: int) -> int:
    """Returns the last grapheme boundary up to `stop` (é and 👩‍🚀 are not split), or `stop` itself."""
    if not _JOINED.search(text, start, stop + 1):
        return stop
    places = [found.end() for found in _GRAPHEME.finditer(text, start, stop + 1) if found.end() <= stop]
    return places[-1] if places else stop
