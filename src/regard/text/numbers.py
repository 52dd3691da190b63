"""Numbers in digits and in words, and the numbers of a translation that its source does not have.

1,250 · 1 250 · 1.250 · 1250 are one number, 3.14 and 3,14 another, whatever the locale. "1,250" alone can be either
1250 or 1.25: a number has one or two values, and two numbers agree if they share one. Number words are known in
English, French, German and Spanish: "two" may become 2, "twenty-one" 21, "half past three" 30, and in the afternoon 3
may become 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import regex

from regard.text.span_patterns import CURRENCY, DIGITS, PERCENT, SPACE
from regard.text.words import Span, word_lists

_QUANTITY = regex.compile(
    rf"(?P<sign>(?<![\w)\]])[-−+])?(?P<before>{CURRENCY}{SPACE}?+[-−]?)?(?P<digits>{DIGITS})"
    rf"(?(before)|(?P<after>{PERCENT}|{SPACE}?+(?:°|{CURRENCY}(?!\d)))?)",
    regex.VERSION1,
)
_RANGE = regex.compile(r"[-\u2010\u2011–/:x×]")  # joins numbers that also count separately: 1939–1945
_GROUPING = regex.compile(rf"{SPACE}|['’]")
_GROUPS = regex.compile(r"\d{1,3}(?:[.,]\d{3})+")

_WORD = regex.compile(r"[\p{L}\p{M}]++|\d++")
_CONJUNCTIONS = ("and", "et", "und", "y", "a")
_GERMAN_COMPOUND = regex.compile(r"(\p{L}+)und(\p{L}+zig|dreißig)")


class NumberWords(NamedTuple):
    """The number words of a language with their values, and the words that mark hours as afternoon."""

    values: dict[str, list[int]]
    afternoon: frozenset[str]


@cache
def number_words(language: str) -> NumberWords:
    """Returns the number words in `word_lists.json`; none for other languages."""
    lists = word_lists("numbers").get(language, {})
    values = {word: [value] for value, word in enumerate(lists.get("from_zero", ()))}
    for word, _, value in (entry.partition("=") for entry in lists.get("others", ())):
        values.setdefault(word, []).append(int(value))
    return NumberWords(values, frozenset(lists.get("afternoon", ())))


class Quantity(NamedTuple):
    """A number in a text."""

    start: int  # of the digits, sign included
    end: int
    values: frozenset[str]
    unit: str  # %, a currency sign or empty
    whole: Span  # including the unit


def quantities(text: str) -> list[Quantity]:
    """Returns all numbers of a text; for joined numbers (1939–1945) the pair and each of them.

    >>> [(sorted(found.values), found.unit) for found in quantities("1,250 people, 3,14 and 20 %")]
    [(['1.250', '1250'], ''), (['3.14'], ''), (['20'], '%')]
    """
    found = []
    for match in _QUANTITY.finditer(text):
        start, end = match.span("digits")
        before, digits = match["before"] or "", match["digits"]
        unit = (before + (match["after"] or "")).strip(" \u00a0\u2007\u2009\u202f-−")
        sign = "-" if match["sign"] in ("-", "−") or "-" in before or "−" in before else ""
        values = frozenset(sign + value for value in numeric_values(digits))
        first = match.start("sign") if match["sign"] and not before else start
        found.append(Quantity(first, end, values, unit, match.span()))
        parts = _RANGE.split(digits)
        if len(parts) > 1:
            for part in parts:
                stop = start + len(part)
                found.append(Quantity(start, stop, numeric_values(part), "", (start, stop)))
                start = stop + 1
    return found


def numeric_values(digits: str) -> frozenset[str]:
    """Returns the values that a number without its sign and unit may have, as decimals.

    >>> sorted(numeric_values("1,250")), sorted(numeric_values("1.250,5")), sorted(numeric_values("1 250 000"))
    (['1.250', '1250'], ['1250.5'], ['1250000'])
    """
    plain = _GROUPING.sub("", digits).replace("–", "-")
    commas, points = plain.count(","), plain.count(".")
    bare = plain.replace(",", "").replace(".", "")
    if not bare.isdecimal() or not commas + points:
        return frozenset([plain])
    if commas and points:
        decimal, grouping = (",", ".") if plain.rfind(",") > plain.rfind(".") else (".", ",")
        if plain.count(decimal) > 1:
            return frozenset([plain])
        return frozenset([plain.replace(grouping, "").replace(",", ".")])
    grouped = _GROUPS.fullmatch(plain) is not None and plain[0] != "0"
    if commas + points > 1:
        return frozenset([bare if grouped else plain])
    return frozenset([plain.replace(",", "."), bare] if grouped else [plain.replace(",", ".")])


def numbers_in_words(text: str, language: str = "en") -> set[str]:
    """Returns the numbers, as digits, that the text has in words or that follow from its words.

    >>> sorted(numbers_in_words("I have twenty-one cats.", "en"), key=int)
    ['1', '20', '21']
    """
    word_values, afternoon = number_words(language)
    found: set[int] = set()
    run: list[int] = []
    is_afternoon = False
    for word in [*map(str.lower, _WORD.findall(text)), ""]:
        values = [int(word)] if word.isdecimal() and len(word) < 10 else word_values.get(word, [])
        if not values and language == "de" and (compound := _GERMAN_COMPOUND.fullmatch(word)):
            values = [sum(word_values.get(part, [0])[0] for part in compound.groups())]
        is_afternoon = is_afternoon or word in afternoon
        if values:
            found.update(values)
            run.append(values[0])
        elif run and word not in _CONJUNCTIONS:
            found.add(_combined(run))
            run = []
    if is_afternoon:
        found.update({value + 12 for value in found if value <= 12})
    return set(map(str, found))


def _combined(run: Sequence[int]) -> int:
    """Returns the value of number words in a row: two hundred five."""
    total = current = 0
    for value in run:
        if value >= 1000:
            total, current = total + max(current, 1) * value, 0
        elif value == 100:
            current = max(current, 1) * value
        else:
            current = current * value if current == 4 and value == 20 else current + value  # quatre-vingt
    return total + current


def invented_numbers(source: str, target: str, language: str = "en") -> list[Span]:
    """Returns the numbers of the translation that the source has neither in digits nor in words (of its `language`).

    >>> invented_numbers("He has two cats and 1,250 dogs.", "Il a 2 chats et 1 250 chiens, 7 en tout.")
    [(30, 31)]
    """
    in_target = quantities(target)
    if not in_target:
        return []
    allowed = {value.lstrip("-") for found in quantities(source) for value in found.values}
    allowed |= set(regex.findall(r"\d+", source))
    allowed |= {number.lstrip("0") for number in allowed}
    words = numbers_in_words(source, language)
    invented: list[Span] = []
    for found in in_target:
        if invented and found.start < invented[-1][1]:
            invented.pop()  # a pair of joined numbers: its parts decide
        values = {value.lstrip("-") for value in found.values}
        if not values & allowed and not {value.lstrip("0") or "0" for value in values} & (allowed | words):
            invented.append((found.start, found.end))
    return invented
