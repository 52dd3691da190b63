"""Decides whether a full stop ends a sentence, by abbreviations, initials, ordinals and sentence starters around it.

The words of each language are in `word_lists.json`, without their last full stop, and abbreviations of several words
without spaces: "z.B" is found in "z. B." and in "z.B.". Case matters: "Fr." is a title, "fr." is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import regex

from regard.text.words import word_lists

LOOK_BACK = 32  # characters read before a full stop: the longest abbreviation and the word before it
NO_WORDS = frozenset[str]()
OPENING = "\"'“”‘’„‚«‹»›([{（¿¡*_—–-"  # before a word

_LABEL = regex.compile(r"\d{1,3}|\p{Lu}|[IVX]{1,5}|[a-z]")
_ACRONYM = regex.compile(r"(?:\p{L}{1,2}\.-?)+\p{L}{1,2}")
_ROMAN = regex.compile(r"[IVXLC]{2,}")
_SHORT_NUMBER = regex.compile(r"(?:\d{1,2}\.?[-–])?\d{1,2}")  # 3  3.–5
_ELISION = regex.compile(r"\p{L}{1,2}['’](?=\p{L})")


@dataclass(frozen=True)
class FullStopRules:
    """The words of one language that decide whether a full stop ends a sentence."""

    never: frozenset[str]  # a word always follows: Mr., e.g.
    before_number: frozenset[str]  # an abbreviation only before a number: No. 5, p. 12, Jan. 3
    unless_starter: frozenset[str]  # may end a sentence, but names follow as well: U.S., Inc., Jr.
    may_end: frozenset[str]  # before a capital the sentence is over: etc., p.m.
    starters: frozenset[str] = NO_WORDS  # words that begin sentences and rarely follow an abbreviation: the, he, when
    months: frozenset[str] = NO_WORDS
    ordinals: frozenset[str] = NO_WORDS  # words before an ordinal number, where "3." is one: am 3. Oktober
    lettered: frozenset[str] = NO_WORDS  # after these a single capital is not an initial: vitamin C, plan B, an A

    def is_abbreviation(self, word: str) -> bool:
        return any(word in kind for kind in (self.never, self.before_number, self.unless_starter, self.may_end))


@cache
def full_stop_rules(language: str) -> FullStopRules:
    """Returns the rules of a language, given as "de" or "de-AT"; for an unknown one those that many languages share.

    >>> "Mr" in full_stop_rules("en-GB").never, full_stop_rules("xx") == full_stop_rules("any")
    (True, True)
    """
    lists = word_lists("full_stops")
    own = lists.get(language.replace("_", "-").partition("-")[0].lower(), lists["any"])
    lettered = frozenset([*own.get("lettered", ()), *lists["any"]["lettered"]])
    return FullStopRules(**{kind: frozenset(words) for kind, words in own.items()} | {"lettered": lettered})


class Following(NamedTuple):
    """The text after a punctuation mark: its opening punctuation, and its first word."""

    opening: str = ""
    word: str = ""
    has_stop: bool = False  # a full stop follows the word

    def is_starter(self, rules: FullStopRules) -> bool:
        """Whether the word begins a sentence rather than follows an abbreviation."""
        if self.has_stop and len(self.word) == 1:
            return False
        word = self.word.lower().replace("’", "'")
        opens = "¿" in self.opening or "¡" in self.opening
        return opens or not rules.starters.isdisjoint({word, word.partition("'")[0]})


def last_words(text: str, start: int, stop: int) -> list[str]:
    """Returns the words just before a mark, without quotation marks before them; none if a space precedes the mark."""
    if stop <= start or text[stop - 1].isspace():
        return []
    words = text[max(start, stop - LOOK_BACK) : stop].rsplit(maxsplit=3)[-3:]
    return [_ELISION.sub("", word.lstrip(OPENING), count=1) for word in words]


def full_stop_ends(text: str, start: int, stop: int, after: Following, rules: FullStopRules) -> bool:
    """Whether the full stop at `stop` ends the sentence that begins at `start`."""
    words = last_words(text, start, stop)
    if not words:
        return True
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if len(last) == stop - start:
        if _LABEL.fullmatch(last) and not (last == "I" and after.is_starter(rules)):
            return False  # "A. Einstein", "IV. Summary"
        lower = last[0].lower() + last[1:]
        words = [lower] if rules.is_abbreviation(lower) else words  # Vgl. = vgl.
    decided = _ends_after_abbreviation(words, after, rules)
    if decided is not None:
        return decided
    if len(last) == 1 and last.isalpha():
        if after.has_stop and len(after.word) == 1:
            return False  # J. R. R. Tolkien
        return last == "I" or before.lower() in rules.lettered or after.is_starter(rules)
    if _ACRONYM.fullmatch(last) and not (last.islower() and len(last.rpartition(".")[2]) > 1):
        return after.is_starter(rules)
    if _SHORT_NUMBER.fullmatch(last):
        return before[-1:] not in (":", ";", ",") and not _is_ordinal(before, after, rules)  # a list: 1. this, 2. that
    if rules.ordinals and _ROMAN.fullmatch(last):  # Ludwig XIV.
        return after.is_starter(rules)
    return True


def _ends_after_abbreviation(words: list[str], after: Following, rules: FullStopRules) -> bool | None:
    """Whether the sentence ends after these words; None if they are not an abbreviation."""
    for length in (3, 2, 1):
        key = "".join(words[-length:])
        if len(words) < length or not all(word.endswith(".") for word in words[-length:-1]):
            continue
        if key in rules.never or (len(key) > 1 and key.isupper() and key.capitalize() in rules.never):
            return False
        if key in rules.before_number and (after.word[:1].isdigit() or _ROMAN.fullmatch(after.word)):
            return False
        if key in rules.unless_starter or ("str" in rules.unless_starter and key.endswith("str")):
            return after.is_starter(rules)
        if key in rules.may_end:
            in_range = after.opening[:1] in ("-", "–") and after.word[:1].isdigit()  # 10 a.m. - 2 p.m.
            return after.word.lower() not in rules.months and not in_range
    return False if words[-2:] == ["par", "ex"] else None


def _is_ordinal(before: str, after: Following, rules: FullStopRules) -> bool:
    """Whether a short number with a full stop is an ordinal or a part of a date: am 3. Oktober, 3. 10. 2020."""
    if after.word.isdigit():
        in_date = before.removesuffix(".").isdigit() and len(after.word) == 4
        return in_date or (after.has_stop and len(after.word) <= 2)
    if not rules.ordinals:
        return False
    is_month = after.word.lower() in rules.months
    return is_month or (before.lower() in rules.ordinals and not after.is_starter(rules))
