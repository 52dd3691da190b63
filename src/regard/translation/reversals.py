"""Reversals: a translation that says the opposite of its source, found by words that both texts must share.

    negation    a negation, or a word such as "impossible", that the other text has in no form
    opposite    a word on one side of a scale became one on the other side: tenant → owner, before → after
    modality    what must be became what may be, or the reverse
    number      a number in digits or words that the other text does not have
    roles       who does something became the one to whom it is done

`reversals.toml` has the words of English, French, German and Spanish; texts in other languages are not checked. A word
that is not listed is not known, so an unlisted opposite passes. Two reversals may cancel out: "not bad" is "good".
`benchmarks/reversals.py` measures how many planted reversals are found, and the false alarms.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import regex

from regard.text.numbers import differing_numbers, number_words
from regard.text.words import PartCache
from regard.translation.translation import Reason

Mark = tuple[str, int]  # a scale, and the side of it on which a word is; of a negation, how certain it is
Found = dict[Mark, list["Place"]]  # the words of a text that have the mark

NEGATIONS = ("certain", "possible", "opposite", "beside_ne", "limiting", "alone", "neutral")
CERTAIN, POSSIBLE, OPPOSITE, BESIDE_NE, LIMITING, ALONE, _ = range(7)
MAX_CHARS_CHECKED = 20_000
NEAR = 0.3  # greatest distance between a word and its translation, of the length of the text
EITHER = 3  # a side of a scale: words that may stand for both others
SHORT = 80  # characters of a source whose negations are counted
MEDIUM = 120  # characters of a source in which words with a negative prefix are compared
CONCORD = ("fr", "es")  # several negative words make one negation: no vino nadie
CONCORD_WORDS = 7  # maximal distance between them
REWRITTEN = {
    "en": (regex.compile(r"(n['’]t\b)|\bnos?\.?\s*(?=\d)"), lambda match: " not " if match[1] else " number "),
    "fr": (regex.compile(r"\bn['’]"), "ne "),
}
TAG_QUESTION = regex.compile(r",\s*\p{L}+\s+not\s+\p{L}+\s*\?|,\s*(?:nicht(?: wahr)?|¿no)\s*\?|,?\s*\bne est-ce pas")
CERTAIN_NEGATION: Mark = ("negation", CERTAIN)
NOT_OPPOSITES = frozenset(
    ("negation", "modality", "number", "subject_1", "subject_3", "object_1", "object_3", "other_1", "inverse")
)
LONGEST_ENTRY = 30  # letters
CLAUSE_ENDS = frozenset(".;:!?()")
WORD = regex.compile(r"\p{L}++|\d|[.;:!?()]")
Marks = tuple[tuple[Mark, int], ...]  # of the longest entries that begin at a word, with their number of words
Word = str | tuple[str, Marks | None]  # most have no marks; None: they depend on the words after it


class Place(NamedTuple):
    """A word or phrase, and where it is in its text: from 0, the beginning, to 1."""

    text: str
    at: float

    def near(self, others: Iterable[Place]) -> bool:
        return any(abs(self.at - other.at) <= NEAR for other in others)


class Lists(NamedTuple):
    """The entries of a language: those of whole words, by their words, and beginnings of words."""

    phrases: dict[tuple[str, ...], list[Mark]]
    beginnings: dict[str, list[Mark]]
    sizes: dict[str, int]  # of the longest entry that begins with a word
    lengths: dict[str, list[int]]  # of the beginnings, by their first two letters, in order
    beside_ne: frozenset[str]  # French words that complete a negation


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def lists(language: str | None) -> Lists | None:
    """Returns the entries of a language with the marks they give; None for a language without lists."""
    tables = _tables()
    if language not in tables["negation"]:
        return None
    negation = tables["negation"][language]
    entries: list[tuple[str, Mark]] = [(words, ("negation", NEGATIONS.index(name))) for name, words in negation.items()]
    for side, words in enumerate(tables["modality"][language]):
        entries += [(words, ("modality", side)), (tables["modality_either"][language], ("modality", EITHER))]
    for number, scale in enumerate(tables["opposites"]):
        entries += [(words, (f"opposite {number}", side)) for side, words in enumerate(scale[language])]
    numbers = number_words(language).cardinals
    entries.append((" ".join(word + "*" * (language == "de") for word in numbers), ("number", 0)))
    for name, words in tables["roles"][language].items():
        entries.append((words, (name, 0)))
    phrases: dict[tuple[str, ...], list[Mark]] = defaultdict(list)
    beginnings: dict[str, list[Mark]] = defaultdict(list)
    for words, mark in entries:
        for entry in words.split():
            if entry.endswith("*"):
                beginnings[entry[:-1]].append(mark)
            else:
                phrases[tuple(entry.split("_"))].append(mark)
    sizes: dict[str, int] = {}
    for phrase in phrases:
        sizes[phrase[0]] = max(len(phrase), sizes.get(phrase[0], 0))
    lengths: dict[str, list[int]] = defaultdict(list)
    for length, start in sorted({(len(start), start[:2]) for start in beginnings if len(start) <= LONGEST_ENTRY}):
        lengths[start].append(length)
    beside_ne = frozenset(negation["certain"].split() + negation.get("beside_ne", "").split())
    return Lists(dict(phrases), dict(beginnings), sizes, dict(lengths), beside_ne)


def marked_words(text: str, language: str) -> Found | None:
    """Returns the words of a text by their marks; None for a language without lists.

    >>> marked_words("The tenant doesn't pay.", "en")[("negation", CERTAIN)]
    [Place(text='not', at=0.5)]
    """
    entries = lists(language)
    if entries is None:
        return None
    read = _reader(language)(_rewritten(text[:MAX_CHARS_CHECKED].lower(), language))
    words = [one if isinstance(one, str) else one[0] for one in read]
    found: Found = defaultdict(list)
    ends: dict[str, tuple[int, int]] = {}  # the last entry of each scale: entries inside it are not counted
    last = -CONCORD_WORDS - 1  # place of the last negation in the clause
    for place, (word, marks) in [(place, one) for place, one in enumerate(read) if not isinstance(one, str)]:
        if word in CLAUSE_ENDS:
            last = -CONCORD_WORDS - 1
        elif word.isdecimal():
            found["number", 0].append(Place(word, place / len(words)))
        for (scale, side), size in _longest(entries, words, place) if marks is None else marks:
            start, end = ends.get(scale, (0, 0))
            if start < place < end:
                continue
            ends[scale] = place, place + size
            if scale == "negation":
                side = _negation_in_context(side, entries, words, place)
                if side == LIMITING and found[CERTAIN_NEGATION]:
                    found["negation", POSSIBLE].append(found[CERTAIN_NEGATION].pop())
                elif side == CERTAIN and language in CONCORD:
                    side = POSSIBLE if place - last <= CONCORD_WORDS else side
                    last = place
            found[scale, side].append(Place(" ".join(words[place : place + size]), place / len(words)))
    return found


def _rewritten(text: str, language: str) -> str:
    """Returns a text in lower case with its negations as separate words, and without tag questions."""
    if language in REWRITTEN:
        text = REWRITTEN[language][0].sub(REWRITTEN[language][1], text)
    return TAG_QUESTION.sub("?", text) if "?" in text or "ne est-ce pas" in text else text


@cache
def _reader(language: str) -> PartCache[Word]:
    """Returns what reads the words of texts of a language."""
    entries = lists(language)
    assert entries is not None

    def marks(word: str) -> Marks | None:
        if entries.sizes.get(word, 0) > 1 or not word.isalpha():
            return None
        return tuple(_longest(entries, [word], 0))

    def read(part: str) -> list[Word]:
        words = [(word, marks(word)) for word in WORD.findall(part)]
        return [word if found == () else (word, found) for word, found in words]

    return PartCache(read)


def _by_beginning(entries: Lists, word: str) -> list[tuple[Mark, float]]:
    """Returns the marks of a word whose entries are beginnings of words, with lengths less than 1."""
    ends = entries.lengths.get(word[:2], ())
    return [(mark, end / 100) for end in ends if end <= len(word) for mark in entries.beginnings.get(word[:end], ())]


def _longest(entries: Lists, words: Sequence[str], place: int) -> list[tuple[Mark, int]]:
    """Returns the marks of the longest entry of each scale that begins at a place, with its number of words."""
    marks = _by_beginning(entries, words[place])
    for size in range(1, entries.sizes.get(words[place], 0) + 1):
        for mark in entries.phrases.get(tuple(words[place : place + size]), ()):
            marks.append((mark, size))
    if not marks:
        return []
    longest: dict[str, float] = {}
    for (scale, _), length in marks:
        longest[scale] = max(length, longest.get(scale, 0))
    found: list[tuple[Mark, int]] = []
    for mark, length in dict.fromkeys(marks):
        if length == longest[mark[0]]:
            found.append((mark, max(1, round(length))))
    return found


def _negation_in_context(side: int, entries: Lists, words: Sequence[str], place: int) -> int:
    """Decides about French words that are negative only together: ne … plus."""
    if side == BESIDE_NE and "ne" in words[max(0, place - CONCORD_WORDS) : place + 3]:
        return CERTAIN
    if side == ALONE and entries.beside_ne.isdisjoint(words[max(0, place - 3) : place + CONCORD_WORDS]):
        return POSSIBLE
    return side


def reversals(source: str, target: str, languages: tuple[str | None, str | None]) -> list[Reason]:
    """Returns the reasons to assume that the target says the opposite of the source, one for each kind.

    >>> print(*reversals("Der Mieter ist verpflichtet.", "The owner is obliged.", ("de", "en")))
    "mieter" may have become the opposite: "owner".
    """
    own, other = marked_words(source, languages[0] or ""), marked_words(target, languages[1] or "")
    if own is None or other is None:
        return []
    here, there = set(dict(own.keys())), set(dict(other.keys()))  # scales; most sentences have few in common
    found = _negation(own, other, len(source)) if "negation" in here | there else []
    opposites = _opposites(own, other, shared) if (shared := here & there - NOT_OPPOSITES) else []
    if len(own.get(CERTAIN_NEGATION, ())) == len(other.get(CERTAIN_NEGATION, ())):
        found += opposites
    elif opposites and len(source) <= SHORT:
        found = []  # "not bad" for "good"
    if "modality" in here & there:
        found += _modality(own, other)
    if "number" in here | there:
        found += _numbers(source, target, languages)
    if "object_1" in here | there and "object_3" in here | there:
        found += _roles(own, other)
    return found


def _negation(own: Found, other: Found, length: int) -> list[Reason]:
    """In a long source, by its length, one of several negations is often translated in another way, and so are words
    with a negative prefix."""
    for first, second, where in ((own, other, "translation"), (other, own, "source")):
        certain, there = first.get(CERTAIN_NEGATION, ()), second.get(CERTAIN_NEGATION, ())
        possible = _possible_negations(second)
        if len(possible) <= len(_possible_negations(first)):
            possible = []  # each has a counterpart
        alone = [word for word in certain if not (possible if length <= SHORT else word.near(possible))]
        if alone and (len(certain) > len(there) if length <= SHORT else not there):
            return [Reason("negation", f'"{alone[0].text}" has no counterpart in the {where}.')]
        opposite = first.get(("negation", OPPOSITE), ())
        if length <= MEDIUM and opposite and not there and not _possible_negations(second):
            return [Reason("negation", f'"{opposite[0].text}" has no counterpart in the {where}.')]
    return []


def _possible_negations(found: Found) -> list[Place]:
    return [*found.get(("negation", POSSIBLE), ()), *found.get(("negation", OPPOSITE), ())]


def _became(own: Found, other: Found, scale: str) -> tuple[str, str] | None:
    """Returns a word of the source, and a word at about its place in the target on the other side of the scale."""
    for side in (0, 1):
        lost = _alone(own.get((scale, side), ()), other, scale, side)
        gained = _alone(other.get((scale, 1 - side), ()), own, scale, 1 - side)
        if lost and gained:
            for word in lost:
                for new in gained:
                    if word.near([new]):
                        return word.text, new.text
    return None


def _alone(words: Sequence[Place], other: Found, scale: str, side: int) -> list[Place]:
    """Returns the words that have no counterpart at about their place in the other text."""
    counterparts = [*other.get((scale, side), ()), *other.get((scale, EITHER), ())]
    return [word for word in words if not word.near(counterparts)]


def _opposites(own: Found, other: Found, scales: Iterable[str]) -> list[Reason]:
    for scale in sorted(scales):
        if pair := _became(own, other, scale):
            return [Reason("opposite", f'"{pair[0]}" may have become the opposite: "{pair[1]}".')]
    return []


def _modality(own: Found, other: Found) -> list[Reason]:
    pair = _became(own, other, "modality")
    return [Reason("modality", f'"{pair[0]}" became "{pair[1]}".')] if pair else []


def _numbers(source: str, target: str, languages: tuple[str | None, str | None]) -> list[Reason]:
    in_target, in_source = differing_numbers(source, target, (languages[0] or "en", languages[1] or "en"))
    added, lost = [target[start:end] for start, end in in_target], [source[start:end] for start, end in in_source]
    if len(source) > MEDIUM and not (added and lost) and not any(map(str.isdecimal, "".join(added + lost))):
        return []  # in a long sentence "both" may become "the two"
    found = [f"{', '.join(some)} {where}" for some, where in ((added, "not in the source"), (lost, "lost")) if some]
    return [Reason("number", f"Numbers: {'; '.join(found)}.")] if found else []


def _roles(own: Found, other: Found) -> list[Reason]:
    if ("inverse", 0) in own or ("inverse", 0) in other:
        return []
    for first, second in ((own, other), (other, own)):
        if ("other_1", 0) in first or ("object_1", 0) in first or ("subject_1", 0) in second:
            continue
        if ("subject_1", 0) in first and ("object_3", 0) in first and ("object_1", 0) in second:
            return [
                Reason(
                    "roles", f'"{first["subject_1", 0][0].text}" and "{first["object_3", 0][0].text}" changed roles.'
                )
            ]
    return []
