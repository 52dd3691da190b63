"""Which known words a misspelt word may be a slip of: "staiton" of "station".

One slip: two letters swapped, a letter twice, a letter missing, a neighbouring key (in words of five letters and more),
an accent or an apostrophe missing. The last letter is not looked at, because another form of a word is no slip:
"delegation" is not "delegations" misspelt. `known_words.py` says which words are known, `translation/prepare.py` reads
a misspelt word as the one known word that it can be.

Where it is known how frequent words are, more can be said (`likely`): what people mistype is mostly what they type
often, but a word that a model does not know may be any rare word, and beside a rare word lies another rare one. So a
slip must be of a frequent word, the more so the shorter it is and where its first or last letter is wrong; then short
words, first and last letters are looked at too, and of several words one that is far more frequent than the others is
meant.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from regard.text.keyboards import NEIGHBOURS

SHORTEST, SHORTEST_WITH_OTHER_KEY, LONGEST = 4, 5, 30  # letters of a word
_ACCENTED = "àâäáãåçéèêëíîïìñóôöòõúùûüßœ"
_LETTERS = "abcdefghijklmnopqrstuvwxyz" + _ACCENTED
_WITH_ACCENT = {
    base: "".join(letter for letter in _ACCENTED if unicodedata.normalize("NFD", letter)[0] == base)
    for base in _LETTERS
}
_JOINED = {ord("ß"): "ss", ord("œ"): "oe", ord("æ"): "ae"}
_SPELT_OUT = _JOINED | {ord("ä"): "ae", ord("ö"): "oe", ord("ü"): "ue"}
_BESIDE = {
    letter: "".join(sorted({key for keyboard in NEIGHBOURS for key in keyboard.get(letter, "")})) for letter in _LETTERS
}


def meant(word: str, known: Collection[str]) -> set[str]:
    """The known words that a word in small letters may stand for; none if it is one itself.

    >>> known = {"station", "stations", "where", "doesn't", "été", "cat"}
    >>> [sorted(meant(word, known)) for word in ("staiton", "wherre", "doesnt", "ete", "statiob", "ct")]
    [['station'], ['where'], ["doesn't"], [], [], []]
    """
    if not SHORTEST <= len(word) <= LONGEST or word in known:
        return set()
    return {other for other in (*_untangled(word), *_one_key_away(word)) if other in known}


class Limits(NamedTuple):
    """Of which rank by frequency a word must be to have been meant."""

    tangled: float  # two letters swapped, one twice
    within: float  # another letter wrong or missing
    edge: float  # the first or the last letter


LIMITS = {1: Limits(0, 0, 0), 2: Limits(60, 25, 25), 3: Limits(500, 300, 120), 4: Limits(20_000, 3_000, 500)}
OF_LONGER = Limits(100_000, 10_000, 3_000)
FAR_MORE_FREQUENT = 5  # times
FREQUENT_APART = 40  # rank of each of two words that are read as two


def likely(word: str, ranks: Mapping[str, int]) -> str | None:
    """The word that a word in small letters is most probably a slip of, by the ranks of the known words by frequency
    (0 is the most frequent); None if it is known itself, or if no word or more than one is probable enough.

    >>> ranks = {word: rank for rank, word in enumerate(["the", "to", "his", "hid", "know", "people"])}
    >>> [likely(word, ranks) for word in ("teh", "jnow", "peopl", "people", "hie", "xylophone")]
    ['the', 'know', 'people', None, None, None]
    """
    if not 2 <= len(word) <= LONGEST or word in ranks:
        return None
    limits = LIMITS.get(len(word), OF_LONGER)
    allowed: dict[str, float] = {}
    for other, limit in _all_slips(word, limits):
        if other in ranks and ranks[other] < limit:
            allowed[other] = max(limit, allowed.get(other, 0))
    others = {other for other, _ in _all_slips(word, limits) if other in ranks}
    best = min(allowed, key=lambda other: ranks[other], default=None)
    if best is None:
        return None
    rare = FAR_MORE_FREQUENT * (ranks[best] + 10)
    return best if all(ranks[other] >= rare for other in others if other != best) else None


def without_accents(word: str) -> set[str]:
    """How a word with accents is typed without any; German has two ways.

    >>> sorted(without_accents("größe")), without_accents("élève")
    (['groesse', 'grosse'], {'eleve'})
    """
    spelt_out = word.translate(_SPELT_OUT)
    bare = "".join(
        letter for letter in unicodedata.normalize("NFD", word.translate(_JOINED)) if not unicodedata.combining(letter)
    )
    return {spelt_out, bare} if spelt_out.isascii() else {bare}


def run_together(word: str, ranks: Mapping[str, int]) -> str | None:
    """Two of the most frequent words that a word is, without the space between them.

    >>> ranks = {word: rank for rank, word in enumerate(["of", "the", "in", "set"])}
    >>> run_together("ofthe", ranks), run_together("offthe", ranks)
    ('of the', None)
    """
    if not SHORTEST <= len(word) <= LONGEST or word in ranks:
        return None
    parts = [(word[:at], word[at:]) for at in range(2, len(word) - 1)]
    found = [" ".join(two) for two in parts if all(ranks.get(part, FREQUENT_APART) < FREQUENT_APART for part in two)]
    return found[0] if len(found) == 1 else None


def says_last_letter_twice(word: str, ranks: Mapping[str, int]) -> bool:
    """Whether a word that looks like a form of a known one ("thiss", "havee") is a frequent one with its end twice."""
    return word[-1:] == word[-2:-1] and ranks.get(word[:-1], OF_LONGER.edge) < OF_LONGER.edge and word not in ranks


def _all_slips(word: str, limits: Limits) -> Iterator[tuple[str, float]]:
    """Every word that is one slip away, with the rank that it must have."""
    for other in _untangled(word):
        yield other, limits.tangled
    last = len(word) - 1
    for at, letter in enumerate(word):
        limit = limits.within if 0 < at < last else limits.edge
        yield from ((word[:at] + new + word[at + 1 :], limit) for new in _BESIDE.get(letter, ""))
        yield from ((word[:at] + new + word[at + 1 :], limits.within) for new in _WITH_ACCENT.get(letter, ""))
        limit = limits.within if at else limits.edge
        yield from ((word[:at] + new + word[at:], limit) for new in (_LETTERS if at < last else _LETTERS + "'"))
    yield from ((word + new, limits.edge) for new in _LETTERS)


def is_tangled(word: str, known: Collection[str]) -> bool:
    """Whether it is a known word with two letters swapped or one twice, which hardly any name is.

    >>> [is_tangled(word, {"where", "pillar"}) for word in ("wheer", "whhere", "wher", "pilar")]
    [True, True, False, False]
    """
    return SHORTEST <= len(word) <= LONGEST and any(other in known for other in _untangled(word))


def _untangled(word: str) -> Iterator[str]:
    for at, (letter, following) in enumerate(pairwise(word)):
        yield word[:at] + ("" if letter == following else following) + letter + word[at + 2 :]


def _one_key_away(word: str) -> Iterator[str]:
    for at, letter in enumerate(word[:-1]):
        before, rest, after = word[:at], word[at:], word[at + 1 :]
        yield from (before + other + after for other in _WITH_ACCENT.get(letter, ""))
        yield from (before + other + rest for other in _LETTERS)
        if at and len(word) >= SHORTEST_WITH_OTHER_KEY:
            yield from (before + other + after for other in _BESIDE.get(letter, ""))
    yield from (word[:-1] + other + word[-1] for other in (*_LETTERS, "'"))
