"""Whether what must survive is in a translation: as it was, as often as it was; a number in any locale's form.

A number that stands only within a longer number does not count, nor a word within a longer word, nor an address within
a longer address.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import regex

from regard.text.number_words import numbers_in_words
from regard.text.values import Quantity, quantities

Span = tuple[int, int]

NUMBERS = ("number", "amount")  # whose form may be the locale's
_SPACES = str.maketrans("\u00a0\u2009\u202f", "   ")
_LETTER = r"[\p{Latin}\p{Greek}\p{Cyrillic}\p{M}\p{N}_]"  # Chinese and Japanese have no space around a name
_ADDRESSES = ("url", "email", "path")


def occurs(wanted: str, kind: str, target: str) -> list[Span]:
    """Where it stands in the translation.

    >>> occurs("1,250", "number", "Il y a 1 250 personnes et 11 250 chats.")
    [(7, 12)]
    >>> occurs("Ann", "name", "Ann et Anna")
    [(0, 3)]
    """
    if kind in NUMBERS:
        spans = _numbers_like(wanted, _by_reading(quantities(target)))
        if spans is not None:
            return spans
    return [found.span() for found in _pattern(wanted, kind).finditer(target.translate(_SPACES))]


def located(wanted: Sequence[tuple[str, str]], target: str) -> list[Span | None]:
    """For each (wanted text, kind) its place in the translation, each place given once; None for what is missing.

    >>> located([("5", "number"), ("5", "number"), ("Tom", "name")], "Tom a 5 chats.")
    [(6, 7), None, (0, 3)]
    """
    places: list[Span | None] = [None] * len(wanted)
    same: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i, (text, kind) in enumerate(wanted):
        same[text, kind].append(i)
    taken = bytearray(len(target))
    numbers = _by_reading(quantities(target)) if any(kind in NUMBERS for _, kind in same) else {}
    for (text, kind), rows in sorted(same.items(), key=lambda item: -len(item[0][0])):  # the longest first
        spans = _numbers_like(text, numbers) if kind in NUMBERS else None
        free = iter(rows)
        for start, end in spans if spans is not None else occurs(text, kind, target):
            if taken.find(1, start, end) < 0 and (row := next(free, None)) is not None:
                taken[start:end] = b"\x01" * (end - start)
                places[row] = (start, end)
    return places


def invented_numbers(source: str, target: str, language: str = "en") -> list[Span]:
    """The numbers of the translation that are not in the source, in digits or in words (of its `language`).

    >>> invented_numbers("He has two cats and 1,250 dogs.", "Il a 2 chats et 1 250 chiens, 7 en tout.")
    [(30, 31)]
    """
    allowed = {reading.lstrip("-") for found in quantities(source) for reading in found.readings}
    allowed |= set(regex.findall(r"\d+", source))
    allowed |= {number.lstrip("0") for number in allowed}
    words = numbers_in_words(source, language)
    invented: list[Span] = []
    for found in quantities(target):
        if invented and found.start < invented[-1][1]:
            invented.pop()  # a pair of joined numbers: its parts decide
        plain = {reading.lstrip("-") for reading in found.readings}
        if not plain & allowed and not {reading.lstrip("0") or "0" for reading in plain} & (allowed | words):
            invented.append((found.start, found.end))
    return invented


def _by_reading(found: Sequence[Quantity]) -> dict[str, list[Quantity]]:
    numbers: dict[str, list[Quantity]] = defaultdict(list)
    for quantity in found:
        for reading in quantity.readings:
            numbers[reading].append(quantity)
    return numbers


def _numbers_like(wanted: str, numbers: Mapping[str, list[Quantity]]) -> list[Span] | None:
    """Those that agree with the wanted one, as spans that do not overlap; None where that is no plain number."""
    own = quantities(wanted)
    if not own or own[0].whole != (0, len(wanted)):
        return None
    spans: list[Span] = []
    for other in sorted({other for reading in own[0].readings for other in numbers.get(reading, ())}):
        if own[0].unit in ("", other.unit):
            span = other.whole if own[0].unit else (other.start, other.end)
            if not spans or span[0] >= spans[-1][1]:
                spans.append(span)
    return spans


def _pattern(wanted: str, kind: str) -> regex.Pattern[str]:
    wanted = wanted.translate(_SPACES)
    before, after = "", ""
    if kind in _ADDRESSES:
        before, after = r"(?<![\w@/.\\-])", r"(?![\w/\\@-]|[.?=&#%:]\w)"
    elif kind == "emoji":
        before, after = "(?<!\u200d)", "(?![\u200d\ufe0f\u20e3\U0001f3fb-\U0001f3ff])"
    elif kind != "placeholder":
        before = f"(?<!{_LETTER})" if regex.match(_LETTER, wanted) else ""
        after = f"(?!{_LETTER})" if regex.match(_LETTER, wanted[-1:]) else ""
        if kind == "name" and after:
            after = f"(?!(?!s(?!{_LETTER})){_LETTER})"  # Merkels Wagen
        if kind == "time" or wanted[:1].isdecimal():
            before, after = f"(?<!\\d[.,:]){before}", f"{after}(?![.,:]?\\d)"
    elif wanted[:1] in "{%" and wanted[1:2] != wanted[:1]:
        before = f"(?<!{regex.escape(wanted[0])})"  # not {x} in {{x}}
    return regex.compile(before + regex.escape(wanted) + after)
