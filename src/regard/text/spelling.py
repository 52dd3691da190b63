"""Spelling correction: the known words that a misspelled word may stand for, "station" for "staiton".

One error: two letters swapped, a letter doubled, a letter missing, a neighboring key (in words of five letters and
more), an accent or an apostrophe missing. The last letter is not changed, because another form of a word is not an
error: "delegation" is not "delegations" misspelled. `known_words.py` has the known words; `normalize_input.py` reads a
misspelled word as the one known word that it can be.

If word frequencies are known, more can be corrected (`likely_correction`): most typing errors occur in frequent words,
but a word unknown to a model may be any rare word, and rare words are similar to other rare words. So a correction must
be a frequent word, the more frequent the shorter it is and if its first or last letter is wrong; then short words,
first and last letters are corrected too, and of several candidates one that is far more frequent than the others is
taken.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

# English and Spanish, French, German; each row of keys is half a key to the right of the row above
KEYBOARDS = (
    ("qwertyuiop", "asdfghjklñ", "zxcvbnm"),
    ("azertyuiop", "qsdfghjklm", "wxcvbn"),
    ("qwertzuiopü", "asdfghjklöä", "yxcvbnm"),
)


def key_neighbors(rows: Sequence[str]) -> dict[str, str]:
    """Returns the letters around each letter of a keyboard.

    >>> key_neighbors(KEYBOARDS[0])["s"]
    'wedxza'
    """
    keys = {(row, column): key for row, letters in enumerate(rows) for column, key in enumerate(letters)}
    around = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))
    return {
        key: "".join(keys.get((row + down, column + right), "") for down, right in around)
        for (row, column), key in keys.items()
    }


KEY_NEIGHBORS = tuple(map(key_neighbors, KEYBOARDS))

MIN_LETTERS, MIN_LETTERS_OTHER_KEY, MAX_LETTERS = 4, 5, 30  # of a word
_ACCENTED = "àâäáãåçéèêëíîïìñóôöòõúùûüßœ"
_LETTERS = "abcdefghijklmnopqrstuvwxyz" + _ACCENTED
_WITH_ACCENT = {
    base: "".join(letter for letter in _ACCENTED if unicodedata.normalize("NFD", letter)[0] == base)
    for base in _LETTERS
}
_LIGATURES = {ord("ß"): "ss", ord("œ"): "oe", ord("æ"): "ae"}
_TRANSCRIBED = _LIGATURES | {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}
_NEAR_KEYS = {
    letter: "".join(sorted({key for keyboard in KEY_NEIGHBORS for key in keyboard.get(letter, "")}))
    for letter in _LETTERS
}


def spelling_candidates(word: str, known: Collection[str]) -> set[str]:
    """Returns the known words that a word in lower case may be a misspelling of; none if it is known itself.

    >>> known = {"station", "stations", "where", "doesn't", "été", "cat"}
    >>> [sorted(spelling_candidates(word, known)) for word in ("staiton", "wherre", "doesnt", "ete", "statiob", "ct")]
    [['station'], ['where'], ["doesn't"], [], [], []]
    """
    if not MIN_LETTERS <= len(word) <= MAX_LETTERS or word in known:
        return set()
    return {other for other in (*_transpositions(word), *_one_letter_away(word)) if other in known}


class RankLimits(NamedTuple):
    """The frequency ranks that a word must be below to be a correction."""

    transposed: float  # two letters swapped, one doubled
    inner: float  # another letter wrong or missing
    edge: float  # the first or the last letter


LIMITS_BY_LENGTH = {1: (0, 0, 0), 2: (60, 25, 25), 3: (500, 300, 120), 4: (20_000, 3_000, 500)}
MAX_EDGE_RANK = 3_000
MAX_INNER_RANK = 10_000
LONG_WORD_LIMITS = (100_000, MAX_INNER_RANK, MAX_EDGE_RANK)
FREQUENCY_RATIO = 5  # minimal ratio of all other candidates' ranks to a correction's rank
MAX_SPLIT_RANK = 40  # of both words of a split


def likely_correction(word: str, ranks: Mapping[str, int]) -> str | None:
    """Returns the word that a word in lower case is most probably a misspelling of, by the known words' frequency ranks
    (0 is the most frequent); None if it is known itself, or if no word or more than one is probable enough.

    >>> ranks = {word: rank for rank, word in enumerate(["the", "to", "his", "hid", "know", "people"])}
    >>> [likely_correction(word, ranks) for word in ("teh", "jnow", "peopl", "people", "hie", "xylophone")]
    ['the', 'know', 'people', None, None, None]
    """
    if not 2 <= len(word) <= MAX_LETTERS or word in ranks:
        return None
    limits = RankLimits(*LIMITS_BY_LENGTH.get(len(word), LONG_WORD_LIMITS))
    candidates = [(other, limit) for other, limit in _one_error_away(word, limits) if other in ranks]
    best = min((other for other, limit in candidates if ranks[other] < limit), key=ranks.__getitem__, default=None)
    if best is None:
        return None
    rare = FREQUENCY_RATIO * (ranks[best] + 10)
    return best if all(ranks[other] >= rare for other, _ in candidates if other != best) else None


def without_a_letter(word: str) -> list[str]:
    """
    >>> without_a_letter("cat")
    ['at', 'ct', 'ca']
    """
    return [word[:at] + word[at + 1 :] for at in range(len(word))]


def may_have_correction(word: str, ranks: Mapping[str, int], shortened: frozenset[str]) -> bool:
    """Returns False for most words without a `likely_correction`, far faster. `shortened` has each word whose rank is
    below MAX_INNER_RANK without each of its letters: what it has in common with a word in which that letter is missing
    or another one.

    >>> ranks = {"the": 0, "know": 1}
    >>> shortened = frozenset(["he", "te", "th", "now", "kow", "knw", "kno"])
    >>> [may_have_correction(word, ranks, shortened) for word in ("teh", "jnow", "knw", "xylophone")]
    [True, True, True, False]
    """
    return not (
        word not in shortened
        and shortened.isdisjoint(without_a_letter(word))
        and ranks.keys().isdisjoint(_transpositions(word))
    )


def unaccented_spellings(word: str) -> set[str]:
    """Returns the spellings of a word with accents as typed without any; German has two.

    >>> sorted(unaccented_spellings("größe")), unaccented_spellings("élève")
    (['groesse', 'grosse'], {'eleve'})
    """
    transcribed = word.translate(_TRANSCRIBED)
    decomposed = unicodedata.normalize("NFD", word.translate(_LIGATURES))
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return {transcribed, bare} if transcribed.isascii() else {bare}


def split_words_run_together(word: str, ranks: Mapping[str, int]) -> str | None:
    """Splits a word into two of the most frequent words, with the missing space between them; None if impossible.

    >>> ranks = {word: rank for rank, word in enumerate(["of", "the", "in", "set"])}
    >>> split_words_run_together("ofthe", ranks), split_words_run_together("offthe", ranks)
    ('of the', None)
    """
    if not MIN_LETTERS <= len(word) <= MAX_LETTERS or word in ranks:
        return None
    parts = [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    found = [" ".join(two) for two in parts if all(ranks.get(part, MAX_SPLIT_RANK) < MAX_SPLIT_RANK for part in two)]
    return found[0] if len(found) == 1 else None


def is_transposed(word: str, known: Collection[str]) -> bool:
    """Whether a word is a known word with two letters swapped or one doubled, which hardly any name is.

    >>> [is_transposed(word, {"where", "pillar"}) for word in ("wheer", "whhere", "wher", "pilar")]
    [True, True, False, False]
    """
    return MIN_LETTERS <= len(word) <= MAX_LETTERS and any(other in known for other in _transpositions(word))


def _one_error_away(word: str, limits: RankLimits) -> Iterator[tuple[str, float]]:
    """Yields every word that is one error away, with the rank that it must be below."""
    for other in _transpositions(word):
        yield other, limits.transposed
    last = len(word) - 1
    for at, letter in enumerate(word):
        before, rest, after = word[:at], word[at:], word[at + 1 :]
        limit = limits.inner if 0 < at < last else limits.edge
        yield from ((before + new + after, limit) for new in _NEAR_KEYS.get(letter, ""))
        yield from ((before + new + after, limits.inner) for new in _WITH_ACCENT.get(letter, ""))
        limit = limits.inner if at else limits.edge
        yield from ((before + new + rest, limit) for new in (_LETTERS if at < last else _LETTERS + "'"))
    yield from ((word + new, limits.edge) for new in _LETTERS)


def _transpositions(word: str) -> list[str]:
    return [
        word[:at] + ("" if letter == following else following) + letter + word[at + 2 :]
        for at, (letter, following) in enumerate(pairwise(word))
    ]


def _one_letter_away(word: str) -> Iterator[str]:
    for at, letter in enumerate(word[:-1]):
        before, rest, after = word[:at], word[at:], word[at + 1 :]
        yield from (before + other + after for other in _WITH_ACCENT.get(letter, ""))
        yield from (before + other + rest for other in _LETTERS)
        if at and len(word) >= MIN_LETTERS_OTHER_KEY:
            yield from (before + other + after for other in _NEAR_KEYS.get(letter, ""))
    yield from (word[:-1] + other + word[-1] for other in (*_LETTERS, "'"))
