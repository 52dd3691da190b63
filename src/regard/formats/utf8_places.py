"""Places in UTF-8 bytes as places in characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

CONTINUES, MASK = 0x80, 0xC0  # the first two bits of a byte that does not begin a character


def character_places(text: str) -> Sequence[int]:
    """For each byte of the text in UTF-8, and for its end: how many characters begin before it.

    >>> list(character_places("é!"))
    [0, 1, 1, 2]
    """
    if text.isascii():
        return range(len(text) + 1)
    begins = (np.frombuffer(text.encode(), np.uint8) & MASK) != CONTINUES
    counted: list[int] = np.concatenate(([0], np.cumsum(begins, dtype=np.int32))).tolist()
    return counted
