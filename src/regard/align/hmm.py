"""The HMM aligner: each target word's maker stands near the last one's (Vogel, Ney and Tillmann, 1996).

    p(f, a | e) = ∏_j p(a_j | a_{j−1}, I) · t(f_j | e_{a_j})
    p(i | i', I) = (1 − p0) · s(i − i') / Σ_k s(k − i')        k = 1 … I
    p(NULL | ·)  = p0

The word at j = 0 is made from position 0, before the sentence. A word made by NULL leaves the position where it was:
that is Och and Ney's (2003) NULL state for each position, and it lets forward and backward carry one number a position.
Jumps beyond ±`widest` share the weight of the widest one.

The M-step of t is that of model 1, which also gives the first t. That of s has no closed form, because the sum below
the line depends on where the jump starts and on I; the update here (Hunter, 2004, for choices among varying options),

    s(d) ← N(d) / Σ_{i', I} N(i', I) · [options of width d] / Σ_k s(k − i')

with the expected counts N of jumps by width and by start, never lets the likelihood fall.

Two directions find different links; `symmetrise` joins them (Och and Ney, 2003; Koehn, Och and Marcu, 2003).

Axes: B sentence pairs, I source words (I + 1 positions), T target words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from regard.align import ibm
from regard.align.ibm import Floats, LexicalTable, Meetings, links_of
from regard.align.numbered import Group, Link, NumberedPairs, Numbers, Text, align_in_chunks
from regard.config import key, nearest, require
from regard.errors import InputError

Way = Literal["viterbi", "posterior"]
Join = Literal["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]

_LEAST = 1e-12  # of t and s: words that never met, jumps that were never made
_JUMP_UPDATES = 5  # of s in one M-step


class Expected(NamedTuple):
    """What the E-step of one group of pairs gives."""

    makers: Floats  # (B, T, I + 1) p(maker of word j | f, e), NULL first
    jumps: Floats  # (I + 1, I) expected number of jumps from a position to a source word
    log_likelihoods: Floats  # (B,)


def moves(weights: Floats, source_words: int) -> Floats:
    """(I + 1, I): p(next | position), NULL left aside. Position 0 is before the sentence."""
    scores = weights[_widths(weights, source_words)]
    moves: Floats = scores / scores.sum(axis=1, keepdims=True)
    return moves


def _widths(weights: Floats, source_words: int) -> Numbers:
    """(I + 1, I): which of the weights the jump from a position to a source word has."""
    widest = len(weights) // 2
    width = np.arange(1, source_words + 1)[None, :] - np.arange(source_words + 1)[:, None]
    clipped: Numbers = np.clip(width, -widest, widest) + widest
    return clipped


def forward_backward(emissions: Floats, mask: NDArray[np.bool_], move: Floats, p0: float) -> Expected:
    """Expected makers and jumps. Emissions (B, T, I + 1) must be 1 in the padding: then it changes nothing."""
    pairs, words, positions = emissions.shape
    go = (1 - p0) * emissions[:, :, 1:].transpose(1, 0, 2)  # (T, B, I)
    stay = p0 * emissions[:, :, :1].transpose(1, 0, 2)  # (T, B, 1)
    at = np.zeros((words + 1, pairs, positions))  # p(position after j words | first j words)
    at[0, :, 0] = 1.0
    scale = np.empty((words, pairs, 1))
    for j in range(words):
        following = at[j] * stay[j]
        following[:, 1:] += (at[j] @ move) * go[j]
        scale[j] = following.sum(axis=1, keepdims=True)
        at[j + 1] = following / scale[j]
    rest = np.ones((pairs, positions))  # p(words after j | position), scaled
    makers = np.empty((words, pairs, positions))
    jumps = np.zeros_like(move)
    for j in reversed(range(words)):
        by_word = go[j] * rest[:, 1:] / scale[j]
        by_null = stay[j] * rest / scale[j]
        makers[j, :, 0] = (at[j] * by_null).sum(axis=1)
        makers[j, :, 1:] = (at[j] @ move) * by_word
        jumps += move * (at[j].T @ (by_word * mask[:, j, None]))
        rest = by_word @ move.T + by_null
    return Expected(makers.transpose(1, 0, 2), jumps, np.log(scale).sum(axis=(0, 2)))


def viterbi(emissions: Floats, mask: NDArray[np.bool_], move: Floats, p0: float) -> Numbers:
    """(B, T): the makers of the most probable alignment, 0 for NULL. Emissions as in `forward_backward`."""
    pairs, words, positions = emissions.shape
    best = np.full((pairs, positions), -np.inf)
    best[:, 0] = 0.0
    log_move = np.log(move)
    before = np.empty((words, pairs, positions), dtype=np.int64)  # the position that each position was reached from
    by_null = np.empty((words, pairs, positions), dtype=np.bool_)
    for j in range(words):
        reached = best[:, :, None] + log_move  # (B, I + 1, I)
        before[j, :, 1:] = reached.argmax(axis=1)
        jumped = np.full((pairs, positions), -np.inf)
        jumped[:, 1:] = reached.max(axis=1) + np.log((1 - p0) * emissions[:, j, 1:])
        stayed = best + np.log(p0 * emissions[:, j, :1])
        word = mask[:, j, None]  # in the padding every path stays where it is, at no cost
        by_null[j] = (stayed > jumped) | ~word
        best = np.where(word, np.where(by_null[j], stayed, jumped), best)
    makers = np.zeros((pairs, words), dtype=np.int64)
    rows = np.arange(pairs)
    position = best.argmax(axis=1)
    for j in reversed(range(words)):
        silent = by_null[j, rows, position]
        makers[:, j] = np.where(silent, 0, position)
        position = np.where(silent, position, before[j, rows, position])
    return makers


# ------------------------------------------------------------------------------------------------ the model


@dataclass(frozen=True)
class HmmConfig:
    iterations: int = key(5, "rounds of EM")
    model1_iterations: int = key(5, "rounds of EM of model 1, which gives the first lexical table")
    p0: float = key(0.2, "probability that NULL makes a word; it is not learnt")
    widest: int = key(7, "jumps further than this are all alike")
    smoothing: float = key(0.0, "added to the count of every pair of words that meet")

    def __post_init__(self) -> None:
        require(self.iterations >= 1, f"hmm.iterations must be 1 or more, but is {self.iterations}")
        require(
            self.model1_iterations >= 1, f"hmm.model1_iterations must be 1 or more, but is {self.model1_iterations}"
        )
        require(0 < self.p0 < 1, f"hmm.p0 must be between 0 and 1, but is {self.p0}")
        require(self.widest >= 1, f"hmm.widest must be 1 or more, but is {self.widest}")
        require(self.smoothing >= 0, f"hmm.smoothing must be 0 or more, but is {self.smoothing}")


@dataclass(frozen=True)
class Hmm:
    table: LexicalTable
    jumps: Floats  # (2 × widest + 1,) s(−widest) … s(widest)
    p0: float
    log_likelihoods: tuple[float, ...]  # of all pairs, by the parameters that each iteration started from

    def align(self, source: Text, target: Text, way: Way = "viterbi") -> list[Link]:
        """Links of one pair: of the most probable alignment, or of the most probable maker of each word."""
        return self.align_all([(source, target)], way)[0]

    def align_all(self, pairs: Sequence[tuple[Text, Text]], way: Way = "viterbi") -> list[list[Link]]:
        if way not in get_args(Way):
            raise InputError(f'alignments are found by viterbi or by posterior, but not by "{way}"')
        links: list[list[Link]] = [[] for _ in pairs]
        for group in self.table.numbered(pairs):
            emissions = _ready(self.table.emissions(group), group)
            move = moves(self.jumps, emissions.shape[2] - 1)
            if way == "viterbi":
                makers = viterbi(emissions, group.mask, move, self.p0)
            else:
                makers = forward_backward(emissions, group.mask, move, self.p0).makers.argmax(axis=2)
            for pair, row, mask in zip(group.pairs, makers, group.mask, strict=True):
                links[pair] = links_of(row[mask])
        return links

    def align_each(self, pairs: Iterable[tuple[Text, Text]], way: Way = "viterbi") -> Iterator[list[Link]]:
        """As `align_all`, for a stream of any length."""
        return align_in_chunks(pairs, lambda chunk: self.align_all(chunk, way))


def _ready(emissions: Floats, group: Group) -> Floats:
    """No zero, so that every sentence has an alignment, and 1 in the padding."""
    return np.where(group.mask[:, :, None], np.maximum(emissions, _LEAST), 1.0)


def train(pairs: Iterable[tuple[Text, Text]], config: HmmConfig | None = None) -> Hmm:
    """An aligner from (source, target) pairs, which are read once, by EM, its table begun by model 1."""
    return train_on(NumberedPairs.of(pairs), config)


def train_on(pairs: NumberedPairs, config: HmmConfig | None = None) -> Hmm:
    c = config or HmmConfig()
    table, met = ibm.meetings(pairs)
    table = ibm.train_on(table, met, c.model1_iterations, c.smoothing).table
    weights = np.full(2 * c.widest + 1, 1 / (2 * c.widest + 1))
    log_likelihoods = []
    for _ in range(c.iterations):
        counts, jumps, log_likelihood = _expect(table, met, weights, c.p0)
        table = table.estimated(counts, c.smoothing)
        for _ in range(_JUMP_UPDATES):
            weights = update_jumps(weights, jumps)
        log_likelihoods.append(log_likelihood)
    return Hmm(table, weights, c.p0, tuple(log_likelihoods))


def _expect(table: LexicalTable, met: Meetings, weights: Floats, p0: float) -> tuple[Floats, dict[int, Floats], float]:
    """The E-step: counts of word pairs (P,), of jumps for each I, and the log-likelihood."""
    counts = np.zeros(len(table.keys))
    jumps: dict[int, Floats] = {}
    log_likelihood = 0.0
    for mask, places in met:
        source_words = places.shape[1] - 1
        emissions = np.ones((*mask.shape, places.shape[1]))  # (B, T, I + 1)
        emissions[mask] = np.maximum(table.probabilities[places], _LEAST)
        found = forward_backward(emissions, mask, moves(weights, source_words), p0)
        counts += np.bincount(places.ravel(), found.makers[mask].ravel(), minlength=len(counts))
        jumps[source_words] = jumps.get(source_words, 0.0) + found.jumps
        log_likelihood += float(found.log_likelihoods.sum())
    return counts, jumps, log_likelihood


def update_jumps(weights: Floats, jumps: dict[int, Floats]) -> Floats:
    """One update of s from the expected jumps (I + 1, I) for each I."""
    made, offered = np.zeros_like(weights), np.zeros_like(weights)
    for source_words, expected in jumps.items():
        widths = _widths(weights, source_words)
        totals = weights[widths].sum(axis=1, keepdims=True)
        starts = np.broadcast_to(expected.sum(axis=1, keepdims=True) / totals, widths.shape)
        made += np.bincount(widths.ravel(), expected.ravel(), minlength=len(weights))
        offered += np.bincount(widths.ravel(), starts.ravel(), minlength=len(weights))
    updated = np.where(offered > 0, made / np.where(offered > 0, offered, 1.0), weights)
    updated = np.maximum(updated, _LEAST)
    normal: Floats = updated / updated.sum()
    return normal


# ------------------------------------------------------------------------------------------------ both directions


@dataclass(frozen=True)
class BothWays:
    forward: Hmm
    backward: Hmm  # trained with source and target exchanged

    def align(self, source: Text, target: Text, join: Join = "grow-diag") -> list[Link]:
        return self.align_all([(source, target)], join)[0]

    def align_all(self, pairs: Sequence[tuple[Text, Text]], join: Join = "grow-diag") -> list[list[Link]]:
        forward = self.forward.align_all(pairs)
        backward = self.backward.align_all([(target, source) for source, target in pairs])
        turned = ([(i, j) for j, i in links] for links in backward)
        return [symmetrise(one, other, join) for one, other in zip(forward, turned, strict=True)]

    def align_each(self, pairs: Iterable[tuple[Text, Text]], join: Join = "grow-diag") -> Iterator[list[Link]]:
        """As `align_all`, for a stream of any length."""
        return align_in_chunks(pairs, lambda chunk: self.align_all(chunk, join))


def train_both(pairs: Iterable[tuple[Text, Text]], config: HmmConfig | None = None) -> BothWays:
    """An aligner for each direction, from pairs that are read once."""
    return train_both_on(NumberedPairs.of(pairs), config)


def train_both_on(pairs: NumberedPairs, config: HmmConfig | None = None) -> BothWays:
    return BothWays(train_on(pairs, config), train_on(pairs.turned(), config))


_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def symmetrise(forward: Iterable[Link], backward: Iterable[Link], join: Join = "grow-diag") -> list[Link]:
    """Links of both directions, both as (source word, target word), made one.

    grow-diag starts from the links that both have. It adds, one after the other, those links of either that touch a
    link, at a side or a corner, and whose two words are still without one. (The paper asks it of one of the words
    only. That is less exact, and Koehn's own pseudocode asks it of both.) Then final adds any link of either where a
    word is without one, final-and where both words are.

    >>> symmetrise([(0, 0), (1, 1), (3, 3)], [(0, 0), (2, 1)], "grow-diag")
    [(0, 0), (1, 1)]
    """
    if join not in get_args(Join):
        raise InputError(f'alignments cannot be joined by "{join}"; {nearest(join, get_args(Join))}')
    one, other = set(forward), set(backward)
    if join == "union":
        return sorted(one | other)
    links = one & other
    if join == "intersection":
        return sorted(links)
    _grow(links, one | other)
    if join != "grow-diag":
        enough = any if join == "grow-diag-final" else all
        for i, j in [*sorted(one), *sorted(other)]:
            if enough((all(i != source for source, _ in links), all(j != target for _, target in links))):
                links.add((i, j))
    return sorted(links)


def _grow(links: set[Link], union: set[Link]) -> None:
    """Adds neighbours until a round brings nothing new."""
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    size = -1
    while len(links) != size:
        size = len(links)
        for i, j in sorted(union):
            if (i, j) in links:
                for down, right in _NEIGHBOURS:
                    near = (i + down, j + right)
                    if near in union and near[0] not in sources and near[1] not in targets:
                        links.add(near)
                        sources.add(near[0])
                        targets.add(near[1])
