"""How often each character occurs in lines, counted many lines at a time.

A vocabulary's alphabet depends on every character of a corpus. A `Counter` of each line takes most of the time that
learning a vocabulary takes; the code points of joined lines are counted by numpy in a twentieth of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from regard.errors import InputError
from regard.text.normalize import nfc
from regard.text.pieces import SPACE, to_pieces_form
from regard.text.slots import without_slots

LINE_END = "\n"  # what joins lines: NFC composes nothing with it


class CharacterCounts:
    """Characters of lines in pieces form, without slots.

    >>> counts = CharacterCounts()
    >>> counts.add(["Le chat", "", "dort"])
    >>> sorted(counts.counter().items())[:3], counts.counter()["▁"]
    ([('L', 1), ('a', 1), ('c', 1)], 3)
    """

    def __init__(self) -> None:
        self._counts = np.zeros(0, np.int64)  # by code point

    def add(self, lines: Sequence[str]) -> None:
        joined = LINE_END.join(lines)
        plain = without_slots(joined)
        if plain is not joined:  # a line of slots alone becomes an empty one
            lines = [without_slots(line) for line in lines]
        form = to_pieces_form(_normalised(plain, lines))
        found = np.bincount(np.frombuffer(form.encode("utf-32-le"), np.uint32), minlength=ord(SPACE) + 1)
        if found.any():  # each line that is not empty begins with a space, the joined ones with one together
            found[ord(SPACE)] += sum(map(bool, lines)) - 1
            found[ord(LINE_END)] -= len(lines) - 1
        longer, shorter = sorted((self._counts, found), key=len, reverse=True)
        self._counts = longer.copy()
        self._counts[: len(shorter)] += shorter

    def counter(self) -> Counter[str]:
        return Counter({chr(code): int(self._counts[code]) for code in np.flatnonzero(self._counts)})


def _normalised(joined: str, lines: Sequence[str]) -> str:
    try:
        return nfc(joined)
    except InputError:
        for line in lines:  # an error that names the place in its line
            nfc(line)
        raise
