"""The rules of `clean.py` that judge a pair, or a line of one language, by itself.

A row is the texts of one pair, (source, target), or of one line, (text,). Each row gets the first rule that it breaks,
in the order of `Rule`, or none. Rules that compare rows or need the whole corpus (duplicates, lengths, looseness) are
in `clean.py`.

The language of a line is checked fast enough for millions of lines: the identifier
(`text/language_identification.py`) takes a quarter of a millisecond per line. It judges some thousand lines of the
corpus; the words of the accepted lines are counted, and a line most of whose words are common among them, and more
common than in other languages of the corpus, is accepted without it. Only the other lines are passed to the identifier,
so a line is never dropped without its verdict.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.config import key, require
from regard.data.overlap import HashedLines, Hashes, HeldOutText, Ints, Overlap, key_words
from regard.text.language_identification import foreign_language
from regard.text.protected_spans import placeholders

Row = tuple[str, ...]

DIGITS = re.compile(r"\d+(?:[.,’' \u00a0\u202f]\d{3})*(?!\d)|\d+")
SIDE = np.uint64(0x100000001B3)  # multiplies one side's hash, so that (a, b) and (b, a) differ


class Rule(IntEnum):
    """The rules that a row can break, in the order in which they are tried."""

    NONE = 0
    EMPTY = 1
    HELD_OUT = 2
    HELD_OUT_INSIDE = 3
    NEAR_HELD_OUT = 4
    IDENTICAL = 5
    SHORT = 6
    LONG = 7
    LETTERS = 8
    NUMBERS = 9
    PLACEHOLDERS = 10
    LANGUAGE = 11
    DUPLICATE = 12
    LENGTHS = 13
    LOOSE = 14


_TABLE = tomllib.loads(Path(__file__).with_name("clean_rules.toml").read_text(encoding="utf-8"))
REASONS = {Rule[name]: reason for name, reason in _TABLE.items()}


@dataclass(frozen=True)
class CleanConfig:
    """The rules and their thresholds, which were set on Europarl by reading the dropped rows (docs/data.md)."""

    identical: bool = key(True, "drop pairs whose sides are the same")
    shortest: int = key(1, "drop rows with fewer words than this on a side")
    longest: int = key(150, "drop rows with more words than this on a side")
    letters: float = key(0.5, "share of a side's visible characters that must be letters")
    numbers: bool = key(False, "drop pairs with a number of two digits or more on one side alone")
    same_placeholders: bool = key(False, "drop pairs whose placeholders ({name}, %1, <b>) are not the same")
    check_language: bool = key(True, "drop rows that are not in their language")
    duplicates: bool = key(True, "drop rows that occurred before, in whatever spelling")
    near: bool = key(True, "drop rows that share most of their runs of five words with held-out sentences")
    deviations: float = key(4.0, "drop pairs whose lengths are this many deviations apart; 0 keeps all")
    least_score: float = key(1.5, "drop pairs whose words translate each other less than this, in nats; 0 keeps all")

    def __post_init__(self) -> None:
        require(self.shortest >= 1, f"shortest must be at least 1 word, but is {self.shortest}")
        shortest, longest = self.shortest, self.longest
        require(longest >= shortest, f"longest must be at least shortest ({shortest}), but is {longest}")
        require(0 <= self.letters <= 1, f"letters is a share and must be from 0 to 1, but is {self.letters:g}")
        require(self.deviations >= 0, f"deviations must be 0 or more, but is {self.deviations:g}")
        require(self.least_score >= 0, f"least_score must be 0 or more, but is {self.least_score:g}")


@dataclass(frozen=True)
class RuleResults:
    """The results of the rules for L rows."""

    rules: NDArray[np.uint8]  # (L,) the first `Rule` that each breaks
    hashes: Hashes  # (L,) of the words of all sides: equal for rows that differ only in case and punctuation
    characters: Ints  # (L, sides)


@dataclass(frozen=True)
class Rules:
    """Judges rows one by one; can be pickled."""

    config: CleanConfig
    held_out: HeldOutText
    language: LineLanguage | None

    def judge(self, rows: Sequence[Row]) -> RuleResults:
        words = [[key_words(text) for text in side] for side in zip(*rows, strict=True)]  # by side, then row
        hashed = [HashedLines.of(lines) for lines in words]
        overlaps = np.max([self.held_out.overlaps(lines) for lines in hashed], axis=0).tolist()
        rules = [self.broken(row, [side[i] for side in words], Overlap(overlaps[i])) for i, row in enumerate(rows)]
        hashes = np.zeros(len(rows), dtype=np.uint64)
        for lines in hashed:
            hashes = hashes * SIDE + lines.whole()
        return RuleResults(np.array(rules, np.uint8), hashes, np.array([[len(text) for text in row] for row in rows]))

    def broken(self, row: Row, words: Sequence[Sequence[str]], overlap: Overlap) -> Rule:
        """Returns the first rule that a row breaks; `words` are the `key_words` of each side."""
        c = self.config
        if not all(text.strip() for text in row):
            return Rule.EMPTY
        if overlap > (Overlap.NONE if c.near else Overlap.NEAR):
            return {3: Rule.HELD_OUT, 2: Rule.HELD_OUT_INSIDE, 1: Rule.NEAR_HELD_OUT}[overlap]
        if c.identical and len(row) == 2 and words[0] == words[1]:
            return Rule.IDENTICAL
        lengths = [len(side) for side in words]
        if min(lengths) < c.shortest:
            return Rule.SHORT
        if max(lengths) > c.longest:
            return Rule.LONG
        if any(letter_share(text) < c.letters for text in row):
            return Rule.LETTERS
        if c.numbers and len(row) == 2 and long_numbers(row[0]) != long_numbers(row[1]):
            return Rule.NUMBERS
        if c.same_placeholders and len(row) == 2 and placeholders(row[0]) != placeholders(row[1]):
            return Rule.PLACEHOLDERS
        if self.language and any(self.language.is_wrong(side, row[side], words[side]) for side in range(len(row))):
            return Rule.LANGUAGE
        return Rule.NONE


def _typical_words(here: Counter[str], counts: Sequence[Counter[str]]) -> frozenset[str]:
    """Returns the words that are common in `here`, and at least twice as common as in the others of `counts`."""
    common = ((word, count) for word, count in here.items() if count >= FEWEST and word.isalpha())
    others = [other for other in counts if other is not here]
    return frozenset(word for word, count in common if all(count >= 2 * other[word] for other in others))


def letter_share(text: str) -> float:
    """Returns the share of letters among the visible characters.

    >>> letter_share("A4 (6)")
    0.2
    """
    visible = "".join(text.split())
    return sum(map(str.isalpha, visible)) / max(1, len(visible))


def long_numbers(text: str) -> list[str]:
    """Returns the numbers of two digits or more, without the signs that group their digits, sorted.

    >>> long_numbers("In 1999, 3 of 1,250 and 12"), long_numbers("1 250")
    (['12', '1250', '1999'], ['1250'])
    """
    plain = ("".join(filter(str.isdigit, found[0])) for found in DIGITS.finditer(text))
    return sorted(number for number in plain if len(number) > 1)


SAMPLE = 8_000  # lines that the identifier judges first
FEWEST = 3  # minimum accepted lines that a word must be in
MOST = 0.6  # share of a line's words that must be its language's for the line to be accepted
WORDS = 4  # minimum words of a line that is accepted by its words


@dataclass(frozen=True)
class LineLanguage:
    """The languages of the sides of a corpus, and the words that identify them."""

    languages: tuple[str, ...]
    words: tuple[frozenset[str], ...]

    @classmethod
    def learn(cls, languages: Sequence[str], sides: Sequence[Sequence[str]]) -> LineLanguage:
        """Learns the words from some lines of each side."""
        counts = []
        for language, lines in zip(languages, sides, strict=True):
            accepted = (line for line in lines[:SAMPLE] if foreign_language(line, language) is None)
            counts.append(Counter(word for line in accepted for word in set(key_words(line))))
        return cls(tuple(languages), tuple(_typical_words(here, counts) for here in counts))

    def is_wrong(self, side: int, text: str, words: Sequence[str]) -> bool:
        """Whether a line, whose `key_words` are `words`, is in another language."""
        known = self.words[side]
        if len(words) >= WORDS and sum(word in known for word in words) >= MOST * len(words):
            return False
        return foreign_language(text, self.languages[side]) is not None
