"""How well attention aligns: its links compared with gold links annotated by people (Och and Ney, 2003).

    AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)      A links found, S sure, P possible (including S)

A link is (source word, target word), counted from 0. The steps are map → links → statistics of each sentence → their
sum → AER. A view chosen by its AER on some sentences must be reported on others.

This file reads no files and trains no aligner. AER is a fraction, 0 is perfect; print it with `:.1%`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.align.attention import ROW_MEANINGS, Link, RowMeaning, View, WordAttention, hard_links
from regard.errors import InputError

Links = AbstractSet[Link]

_LINK = re.compile(r"([0-9]+)([-p])([0-9]+)")


# ------------------------------------------------------------------------------------------------ links


def diagonal(source_words: int, target_words: int) -> set[Link]:
    """The baseline that uses only positions.

    >>> sorted(diagonal(2, 4))
    [(0, 0), (0, 1), (1, 2), (1, 3)]
    """
    if source_words == 0:
        return set()
    return {(int((j + 0.5) * source_words / target_words), j) for j in range(target_words)}


def transpose(links: Links) -> set[Link]:
    return {(j, i) for i, j in links}


def parse_links(line: str, first: int = 0) -> tuple[set[Link], set[Link]]:
    """Parses a line in Pharaoh format into sure and possible links: `i-j` is sure, `ipj` only possible. The possible
    links returned include the sure ones. `first` is the index that the file gives to the first word.

    >>> sure, possible = parse_links("1-1 2p3", first=1)
    >>> sorted(sure), sorted(possible)
    ([(0, 0)], [(0, 0), (1, 2)])
    """
    sure, possible = set(), set()
    for part in line.split():
        match = _LINK.fullmatch(part)
        link = (int(match[1]) - first, int(match[3]) - first) if match else (-1, -1)
        if match is None or min(link) < 0:
            raise InputError(f'a link must be like "{first}-{first + 1}", counted from {first}, but is "{part}"')
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return sure, possible


def format_links(links: Links) -> str:
    """
    >>> format_links({(1, 2), (0, 0)})
    '0-0 1-2'
    """
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


# ------------------------------------------------------------------------------------------------ AER


@dataclass(frozen=True)
class Trust:
    """How reliable a view is: its alignment error rate, a fraction, on sentences other than those it was chosen on."""

    aer: float
    on: str = ""  # the name of the text it was measured on

    def __str__(self) -> str:
        return f"AER {self.aer:.1%}" + (f" on {self.on}" if self.on else "")


NOT_EVALUATED = "AER not evaluated"


def aer_stats(
    links: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> NDArray[np.int64]:
    """Counts |A ∩ S|, |A ∩ P|, |A|, |S|, one row per sentence. Rows add up. Sure links are always possible."""
    possible = sure if possible is None else possible
    if not len(links) == len(sure) == len(possible):
        raise InputError(
            f"alignments must be of the same sentences, but there are {len(links)} found,"
            f" {len(sure)} sure and {len(possible)} possible"
        )
    rows = [(len(a & s), len(a & (p | s)), len(a), len(s)) for a, s, p in zip(links, sure, possible, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


def aer_score(stats: NDArray[np.int64]) -> float:
    in_sure, in_possible, found, sure = stats.sum(axis=0).tolist()
    return 1 - (in_sure + in_possible) / (found + sure) if found + sure else 0.0


def precision_and_recall(stats: NDArray[np.int64]) -> tuple[float, float]:
    """|A ∩ P| / |A| and |A ∩ S| / |S|; 1 if the denominator is 0."""
    in_sure, in_possible, found, sure = stats.sum(axis=0).tolist()
    return in_possible / found if found else 1.0, in_sure / sure if sure else 1.0


def aer(links: Sequence[Links], sure: Sequence[Links], possible: Sequence[Links] | None = None) -> float:
    """Alignment error rate over all sentences."""
    return aer_score(aer_stats(links, sure, possible))


# ------------------------------------------------------------------------------------------------ views


@dataclass(frozen=True)
class ViewChoice:
    """The best view on the sentences it was chosen on. Its `aer` there is too low: report `view_aer` on others."""

    view: View
    aer: float
    by_view: dict[View, float]


def all_links(maps: Mapping[View, WordAttention]) -> dict[View, set[Link]]:
    """The links of every view of a sentence (`attention.views_of`)."""
    return {view: hard_links(attention) for view, attention in maps.items()}


def view_aer(
    links: Sequence[Mapping[View, Links]], view: View, sure: Sequence[Links], possible: Sequence[Links] | None = None
) -> float:
    """The AER of one view over all sentences."""
    return aer([sentence[view] for sentence in links], sure, possible)


def choose_view(
    links: Sequence[Mapping[View, Links]],
    sure: Sequence[Links],
    possible: Sequence[Links] | None = None,
    row: RowMeaning | None = None,
) -> ViewChoice:
    """Chooses the view with the lowest AER over sentences, from the links of all views; `row` restricts the choice.

    Ties are broken in this order: the mean of heads before a single head, the lower layer, *predicting*.
    """
    if not links:
        raise InputError("a view is chosen on sentences with known alignments, but there are none")
    by_view = {view: view_aer(links, view, sure, possible) for view in links[0] if row in (None, view.row)}

    def rank(view: View) -> tuple[float, bool, int, int, int]:
        return by_view[view], view.head is not None, view.layer, view.head or 0, ROW_MEANINGS.index(view.row)

    best = min(by_view, key=rank)
    return ViewChoice(best, by_view[best], by_view)
