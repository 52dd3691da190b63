"""Numbers in digits and in words, and the numbers of a translation that its source does not have.

1,250 · 1 250 · 1.250 · 1250 are one number, 3.14 and 3,14 another, whatever the locale. "1,250" alone can be either
1250 or 1.25: a number has one or two values, and two numbers agree if they share one. Number words are known in
English, French, German and Spanish: "two" may become 2, "twenty-one" 21, "half past three" 30, and in the afternoon 3
may become 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import regex

from regard.text.span_patterns import CURRENCY, DIGITS, PERCENT, SPACE
from regard.text.words import PartCache, Span, word_lists

_QUANTITY = regex.compile(
    rf"(?P<sign>(?<![\w)\]])[-−+])?(?P<before>{CURRENCY}{SPACE}?+[-−]?)?(?P<digits>{DIGITS})"
    rf"(?(before)|(?P<after>{PERCENT}|{SPACE}?+(?:°|{CURRENCY}(?!\d)))?)",
    regex.VERSION1,
)
_RANGE = regex.compile(r"[-\u2010\u2011–/:x×]")  # joins numbers that also count separately: 1939–1945
_GROUPING = regex.compile(rf"{SPACE}|['’]")
_GROUPS = regex.compile(r"\d{1,3}(?:[.,]\d{3})+")

_WORD = regex.compile(
    r"[\p{L}\p{M}]++|(?:\d{1,3}(?:[.,\u00a0\u202f ]\d{3}(?!\d))+|\d++(?:[.,]\d{1,2}(?!\d))?+)", regex.VERSION1
)
_CONJUNCTIONS = ("and", "et", "und", "y", "a")
_GERMAN_ENDING = regex.compile(r"s?te[nrsm]?$|s?tel[ns]?$|mal\w*$|jährig\w*$|fach\w*$|köpfig\w*$|e[rn]$")
_ROMAN = regex.compile(r"\b[IVX]{2,}(?=\p{Ll}{0,3}\b)|\b[VX](?=e?\b)")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_DIGITS = regex.compile(r"\d+")
_GERMAN_COMPOUND = regex.compile(r"(\p{L}+)und(\p{L}+zig|dreißig)")


MAX_DIGITS = 16  # of a number that is part of a run
MAX_TEXTS = 64  # whose numbers are remembered: each is asked for once for every protected number


class NumberWords(NamedTuple):
    """The number words of a language with their values, and the words that mark hours as afternoon."""

    values: dict[str, list[int]]
    cardinals: frozenset[str]  # those that are always numbers: "two", but not "a", "one" or "both"
    afternoon: frozenset[str]


@cache
def number_words(language: str) -> NumberWords:
    """Returns the number words in `word_lists.json`; none for other languages."""
    lists = word_lists("numbers").get(language, {})
    values = {word: [value] for value, word in enumerate(lists.get("from_zero", ()))}
    for word, _, value in (entry.partition("=") for entry in (*lists.get("cardinals", ()), *lists.get("others", ()))):
        values.setdefault(word, []).append(int(value))
    cardinals = [*lists.get("from_zero", ())[2:], *(entry.partition("=")[0] for entry in lists.get("cardinals", ()))]
    certain = frozenset(cardinals).difference(lists.get("ambiguous", ()))  # "neuf" is also "new"
    return NumberWords(values, certain, frozenset(lists.get("afternoon", ())))


class Quantity(NamedTuple):
    """A number in a text."""

    start: int  # of the digits, sign included
    end: int
    values: frozenset[str]
    unit: str  # %, a currency sign or empty
    whole: Span  # including the unit


@lru_cache(MAX_TEXTS)
def quantities(text: str) -> tuple[Quantity, ...]:
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
    return tuple(found)


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


class NumberRun(NamedTuple):
    """Number words in a row: two hundred five."""

    start: int
    end: int
    values: list[Sequence[float]]  # that each word may have
    certain: list[Sequence[float]]  # values of the words that are numbers in any context

    @property
    def total(self) -> int:
        total = current = 0.0
        for value, *_ in self.values:
            if value >= 1000 and 0 < total < value:
                total, current = (total + current) * value, 0  # dos mil millones
            elif value >= 1000:
                total, current = total + max(current, 1) * value, 0
            elif value == 100:
                current = max(current, 1) * value
            else:
                current = current * value if current == 4 and value == 20 else current + value  # quatre-vingt
        return round(total + current)


def number_runs(text: str, language: str) -> list[NumberRun]:
    """Returns the numbers in words, or in words and digits: twenty-one, 2 million."""
    runs: list[NumberRun] = []
    joined, known, before_hour = False, _known_values(language), False
    for match in _WORD.finditer(text):
        word = match[0].lower()
        values, certain = known[word]
        if before_hour and values and values[0] <= 12:
            values = (values[0] - 1, *values)  # halb sieben: 6:30
            certain = [values for _ in certain]
        before_hour = language == "de" and word == "halb"
        if values:
            start, _, before, certain_before = runs.pop() if joined else (match.start(), 0, [], [])
            runs.append(NumberRun(start, match.end(), [*before, values], [*certain_before, *certain]))
        joined = bool(values) or (joined and word in _CONJUNCTIONS)
    return runs


@cache
def _known_values(language: str) -> PartCache[Any]:
    return PartCache(partial(_word_values, language))


def _word_values(language: str, word: str) -> tuple[Sequence[float], Sequence[Sequence[float]]]:
    """Returns the values that a word may have, and in a list the same again if it is a number in any context."""
    word_values, cardinals, _ = number_words(language)
    values: Sequence[float] = word_values.get(word, ())
    if word[0].isdecimal() and len(word) < MAX_DIGITS:
        values = (float(min(numeric_values(word), key=len)),)
    if not values and language == "de" and (value := _german_number(word, word_values)) > 1:
        return (value,), ((value,),)
    return values, (values,) if word in cardinals else ()


def _german_number(word: str, values: dict[str, list[int]]) -> int:
    """Returns the value of a compound or an ordinal, or 0: zweihundertfünf, einundzwanzig, vierte, dreimal."""
    if word in values:
        return values[word][0]
    for factor, name in ((1000, "tausend"), (100, "hundert")):
        left, found, right = word.partition(name)
        if found:
            high, low = _german_number(left, values) if left else 1, right.removeprefix("und")
            rest = _german_number(low, values) if low else 0
            return high * factor + rest if high and (rest or not low) else 0
    if "und" in word and (compound := _GERMAN_COMPOUND.fullmatch(word)):
        return sum(values.get(part, [0])[0] for part in compound.groups())
    stem = _GERMAN_ENDING.sub("", word)
    return _german_number(stem, values) if stem != word and len(stem) > 2 else 0


def numbers_in_words(text: str, language: str = "en") -> set[str]:
    """Returns the numbers, as digits, that the text has in words or that follow from its words.

    >>> sorted(numbers_in_words("I have twenty-one cats.", "en"), key=int)
    ['1', '20', '21']
    """
    return _as_digits(number_runs(text, language), text, language)


def _as_digits(runs: Sequence[NumberRun], text: str, language: str) -> set[str]:
    found = {round(value) for run in runs for values in run.values for value in values if value == round(value)}
    found |= {run.total for run in runs}
    afternoon, lower = number_words(language).afternoon, text.lower()
    if found and any(word in lower for word in afternoon) and not afternoon.isdisjoint(_WORD.findall(lower)):
        found.update(
            {value + 12 for value in found if value <= 12} | {value - 12 for value in found if 12 < value < 25}
        )
    return set(map(str, found))


def invented_numbers(source: str, target: str, languages: tuple[str, str] = ("en", "fr")) -> list[Span]:
    """Returns the numbers of the translation, in digits or words, that the source has in neither.

    >>> invented_numbers("He has two cats and 1,250 dogs.", "Il a 2 chats et 1 250 chiens, sept en tout.")
    [(30, 34)]
    """
    return _invented(_Numbers(source, languages[0]), _Numbers(target, languages[1]))


def differing_numbers(source: str, target: str, languages: tuple[str, str]) -> tuple[list[Span], list[Span]]:
    """Returns the numbers of the translation that the source does not have, and those of the source that the
    translation does not have, both by `invented_numbers`."""
    own, other = _Numbers(source, languages[0]), _Numbers(target, languages[1])
    return _invented(own, other), _invented(other, own)


class _Numbers:
    """The numbers of a text."""

    def __init__(self, text: str, language: str) -> None:
        self.text, self.language = text, language
        self.quantities, self.runs = quantities(text), number_runs(text, language)

    @cached_property
    def known(self) -> set[str]:
        """All values that the text can stand for, without sign and outer zeros."""
        known = _as_digits(self.runs, self.text, self.language) | _roman_numbers(self.text)
        for value in (*(v for found in self.quantities for v in found.values), *_DIGITS.findall(self.text)):
            known |= _equivalents(value)
        return known


def _invented(source: _Numbers, other: _Numbers) -> list[Span]:
    in_target, target = other.quantities, other.text
    runs = [run for run in other.runs if run.certain]
    if not in_target and not runs:
        return []
    known = source.known
    invented: list[Span] = []
    for found in in_target:
        if invented and found.start < invented[-1][1]:
            invented.pop()  # a pair of joined numbers: its parts decide
        ignored = found.start > 0 and target[found.start - 1].isalpha()  # mm2, CO2
        ignored = ignored or found.values == {"00"}  # 15:00 is 15 Uhr
        if not ignored and not any(_equivalents(value) & known for value in found.values):
            invented.append((found.start, found.end))
    for run in runs:
        every = all(any(str(round(value)) in known for value in values) for values in run.certain)
        if not every and str(run.total) not in known:
            invented.append((run.start, run.end))
    return invented


def _equivalents(value: str) -> set[str]:
    """Returns a value without its sign and outer zeros, and for a decade, which is the eighties or the 1980s, both."""
    plain = value.lstrip("-").lstrip("0") or "0"
    plain = plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain
    return {plain, "0"} if plain == "0" else {plain, plain[-2:] if len(plain) == 4 and plain[-1] == "0" else plain}


def _roman_numbers(text: str) -> set[str]:
    """Returns the Roman numerals up to 39, as digits: siglo XIX."""
    found = set()
    for numeral in _ROMAN.findall(text):
        values = [_ROMAN_VALUES[letter] for letter in numeral]
        found.add(
            sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
        )
    return set(map(str, found))
