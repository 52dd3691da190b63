"""Which pieces a model writes after each of its tags: `written_pieces` of its card.

A model for several languages has one vocabulary for all of them, and each language uses about half of it. An engine
that computes probabilities for these pieces alone is faster: on a CPU most of a step goes into the output matrix. Of
each tag the card holds a bit for every entry of the vocabulary, in hexadecimal. Pieces that make less than RARE of the
text after a tag are not among them, so that a foreign name here and there does not add the other languages again; any
word can still be spelt in bytes, which an engine adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.bundle.json_file import one_line
from regard.errors import BundleError

KEY = "written_pieces"
RARE = 1e-6  # of the tokens


def frequent(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which entries occur, and not too rarely.

    >>> frequent(np.array([5_000_000, 0, 3, 6])).tolist()
    [True, False, False, True]
    """
    found: NDArray[np.bool_] = counts >= max(1.0, RARE * float(counts.sum()))
    return found


def to_card(counts: Mapping[str, NDArray[np.int64]]) -> dict[str, str]:
    """By tag, from how often each entry of the vocabulary occurs in the targets after it.

    >>> to_card({"<fr>": np.array([1, 0, 0, 2, 0, 0, 0, 0, 1])})
    {'<fr>': '9080'}
    """
    return {tag: np.packbits(frequent(found)).tobytes().hex() for tag, found in counts.items()}


def from_card(card: Mapping[str, Any], size: int) -> dict[str, list[int]]:
    """The ids by tag, of a vocabulary of this size; empty where the card says nothing.

    >>> from_card({"written_pieces": {"<fr>": "9080"}}, size=9)
    {'<fr>': [0, 3, 8]}
    """
    told = card.get(KEY, {})
    try:
        bits = {tag: np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8)) for tag, text in told.items()}
    except (AttributeError, TypeError, ValueError) as problem:
        raise BundleError(f"{KEY} of the card must have digits of base 16 for each tag ({one_line(problem)})") from None
    for tag, found in bits.items():
        if not size <= len(found) < size + 8:
            raise BundleError(f"{KEY} of the card has {len(found)} bits for {tag}, but the vocabulary {size} entries")
    return {tag: np.flatnonzero(found[:size]).tolist() for tag, found in bits.items()}
