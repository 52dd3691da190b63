"""Repetitions: pairs within a corpus, and held-out sentences within the training data.

Texts are compared by 64-bit hashes, eight bytes each, so that millions fit in memory. A plain form, without case,
punctuation and spacing, also matches sentences that are written differently: "It rains!" and "it rains".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from regard.doctor.findings import FaultExample

Hashes = NDArray[np.int64]
NOT_PLAIN = re.compile(r"[^\w\n]+")
SIDES = ("pair", "source", "target")


def plain_forms(texts: Sequence[str]) -> list[str]:
    """
    >>> plain_forms(["It  rains!", "Ça va?"])
    ['it rains', 'ça va']
    """
    joined = unicodedata.normalize("NFC", "\n".join(texts).casefold())
    forms = NOT_PLAIN.sub(" ", joined).split("\n")
    if len(forms) != len(texts):  # a JSON text may contain line breaks
        return [plain_forms([text.replace("\n", " ")])[0] for text in texts]
    return [form.strip() for form in forms]


def hashes_of(texts: Sequence[object]) -> Hashes:
    return np.fromiter(map(hash, texts), dtype=np.int64, count=len(texts))


@dataclass
class Repeats:
    """The hashes of the pairs of a corpus so far."""

    pairs: list[Hashes] = field(default_factory=list)
    sources: list[Hashes] = field(default_factory=list)

    def add(self, hashes: dict[str, Hashes]) -> None:
        self.pairs.append(hashes["pair"])
        self.sources.append(hashes["source"])

    def repeated(self) -> tuple[int, Hashes]:
        """Returns the number of pairs that repeat an earlier one, and the hashes of the repeated pairs."""
        pairs, counts = np.unique(np.concatenate(self.pairs), return_counts=True)
        return int((counts - 1).sum()), pairs[counts > 1]

    def many_targets(self) -> tuple[int, Hashes]:
        """Returns the number of distinct pairs whose source has several targets, and the hashes of these sources."""
        _, first = np.unique(np.concatenate(self.pairs), return_index=True)
        sources, counts = np.unique(np.concatenate(self.sources)[first], return_counts=True)
        return int(counts[counts > 1].sum()), sources[counts > 1]


@dataclass
class HeldOutLines:
    """Held-out lines of one kind, and their occurrences in training data."""

    hashes: Hashes  # of each held-out line; 0: not searched for
    found: dict[int, FaultExample] = field(default_factory=dict)  # hash → the first occurrence

    def __post_init__(self) -> None:
        self._sorted = np.unique(self.hashes[self.hashes != 0])

    def search(self, hashes: Hashes, place: Callable[[int], FaultExample]) -> None:
        if not len(self._sorted):
            return
        at = np.minimum(np.searchsorted(self._sorted, hashes), len(self._sorted) - 1)
        for i in np.flatnonzero(self._sorted[at] == hashes).tolist():
            if int(hashes[i]) not in self.found:
                self.found[int(hashes[i])] = place(i)

    def lines(self) -> list[int]:
        """Returns the indices of the held-out lines that were found."""
        return [line for line, number in enumerate(self.hashes.tolist()) if number in self.found]


@dataclass
class Leaks:
    """Occurrences of one held-out set in training data: pairs, sources and targets, as written and in plain form."""

    exact: dict[str, HeldOutLines]
    plain: dict[str, HeldOutLines]

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> Leaks:
        sides = [src for src, _ in pairs], [tgt for _, tgt in pairs]
        exact, plain = side_hashes(*sides), plain_hashes(*sides)
        return cls(*({name: HeldOutLines(some) for name, some in hashes.items()} for hashes in (exact, plain)))

    def search(
        self, exact: dict[str, Hashes], plain: dict[str, Hashes], place: Callable[[int, int], FaultExample]
    ) -> None:
        """Searches lines with these hashes for held-out lines; `place` returns the example of (side, line)."""
        for side in SIDES:
            example = partial(place, int(side == "target"))
            self.exact[side].search(exact[side], example)
            self.plain[side].search(plain[side], example)


def side_hashes(sources: Sequence[str], targets: Sequence[str]) -> dict[str, Hashes]:
    pairs = list(zip(sources, targets, strict=True))
    return {"pair": hashes_of(pairs), "source": hashes_of(sources), "target": hashes_of(targets)}


def plain_hashes(sources: Sequence[str], targets: Sequence[str]) -> dict[str, Hashes]:
    """Hashes the plain forms; 0 for lines without a letter or digit, which all have the same form."""
    forms = plain_forms(sources), plain_forms(targets)
    hashes = side_hashes(*forms)
    empty = [np.fromiter((not form for form in side), dtype=bool, count=len(side)) for side in forms]
    for name, none in (("source", empty[0]), ("target", empty[1]), ("pair", empty[0] | empty[1])):
        hashes[name][none] = 0
    return hashes
