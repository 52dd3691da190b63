"""Which known words a misspelt word may be a slip of: "staiton" of "station".

One slip: two letters swapped, a letter twice, a letter missing, a neighbouring key (in words of five letters and more),
an accent or an apostrophe missing. The last letter is not looked at, because another form of a word is no slip:
"delegation" is not "delegations" misspelt. `known_words.py` says which words are known, `decode/prepare.py` reads a
misspelt word as the one known word that it can be.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from itertools import pairwise

from regard.text.keyboards import NEIGHBOURS

SHORTEST, SHORTEST_WITH_OTHER_KEY, LONGEST = 4, 5, 30  # letters of a word
_ACCENTED = "àâäáãåçéèêëíîïìñóôöòõúùûüßœ"
_LETTERS = "abcdefghijklmnopqrstuvwxyz" + _ACCENTED
_WITH_ACCENT = {
    base: "".join(letter for letter in _ACCENTED if unicodedata.normalize("NFD", letter)[0] == base)
    for base in _LETTERS
}
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
