"""Stack decoding: finds the best translation of a sentence by phrases, in any order within the distortion limit.

A hypothesis translates some of the source words (its coverage). It is extended by a phrase for source words that are
still open, appended to the translation. Stack n has the hypotheses that cover n words:

    score       = Σ w · (table scores, phrases, words, ln p of the language model, jump)
    jump        = − |first word of this phrase − word after the last phrase|, in words of the source
    recombine   two hypotheses with equal coverage, end of the last phrase and language-model state have equal futures:
                the worse one is kept only as an alternative for the list of n best
    future      the best score of the open words by themselves (`future_scores`), added when hypotheses are compared

A jump may not be longer than the limit, nor leave the first open word further behind than the limit, so that the search
can always return to it. Stacks are filled by cube pruning (Chiang, 2007; Huang and Chiang, 2007): hypotheses of equal
coverage × phrases for one span form a grid, both sides sorted; the most promising cells of all grids are taken, and
only those query the language model. Without limits on cells and stack the search is exact.

A search builds a graph: each hypothesis with all arcs that lead to it. Its score is that of the best path from the
beginning, so a path that is built from the end backwards has an exact bound on its total score, and the first path that
reaches the beginning is the best one: A* with a perfect heuristic yields the n best in order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby, islice
from typing import NamedTuple, Protocol

from regard.config import key, require

FEATURES = ("p(t|s)", "p(s|t)", "lex(t|s)", "lex(s|t)", "phrases", "words", "lm", "jump")
Weights = tuple[float, ...]  # one for each of FEATURES


@dataclass(frozen=True)
class SearchConfig:
    """Limits of the search."""

    distortion: int = key(6, "words that a jump may skip")
    stack: int = key(100, "hypotheses that are kept for each number of covered words")
    cells: int = key(200, "hypotheses that are made for each number of covered words")

    def __post_init__(self) -> None:
        require(self.distortion >= 0, f"distortion must be 0 or more, but is {self.distortion}")
        require(self.stack >= 1, f"stack must be 1 or more, but is {self.stack}")
        require(self.cells >= 1, f"cells must be 1 or more, but is {self.cells}")


class Language(Protocol):
    """The interface of a language model for the search (`kneser_ney.py`)."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    def follow(self, state: int, word: int) -> tuple[float, int]: ...


class Option(NamedTuple):
    """A phrase that translates some span of the source."""

    words: tuple[int, ...]  # word numbers of the language model
    text: tuple[str, ...]
    scores: tuple[float, ...]  # scores of the phrase table
    score: float  # weighted sum, with the penalties for a phrase and its words
    estimate: float  # plus the language model's score within the phrase


Options = Mapping[tuple[int, int], Sequence[Option]]  # by the first source word and the one after the last


class Arc(NamedTuple):
    """One way to reach a hypothesis."""

    before: PartialTranslation
    option: Option | None  # None: the end of the sentence
    gain: float
    lm: float
    jump: int


@dataclass(slots=True, eq=False)
class PartialTranslation:
    """A hypothesis."""

    coverage: int  # bit i: source word i is translated
    end: int  # the source word after the last phrase
    state: int  # state of the language model
    score: float
    rank: float  # score plus future score
    arcs: list[Arc] = field(default_factory=list)  # the best one first


class _Grid(NamedTuple):
    """Hypotheses of equal coverage and end × options for one span."""

    hypotheses: Sequence[PartialTranslation]
    options: Sequence[Option]
    coverage: int  # after the span
    end: int
    jump: int
    future: float


def search(
    length: int, options: Options, language: Language, weights: Weights, config: SearchConfig | None = None
) -> PartialTranslation:
    """Returns the complete hypothesis; its arcs lead back to all others that were found. Every word needs an option."""
    config = config or SearchConfig()
    futures = Futures(length, options, config.distortion)
    begin = PartialTranslation(0, 0, language.start, 0.0, 0.0)
    stacks: list[list[list[PartialTranslation]]] = [[[begin]]]  # each as groups of equal coverage and end
    for covered in range(1, length + 1):
        grids = _grids(stacks, covered, options, futures, weights, config.distortion)
        made = _fill(grids, language, weights, config.cells)
        kept = heapq.nlargest(config.stack, made, key=lambda hypothesis: hypothesis.rank)
        kept.sort(key=lambda hypothesis: (hypothesis.coverage, hypothesis.end, -hypothesis.score))
        stacks.append([list(group) for _, group in groupby(kept, key=lambda one: (one.coverage, one.end))])
    arcs = []
    for hypothesis in (one for group in stacks[-1] for one in group):
        lm, _ = language.follow(hypothesis.state, language.end)
        arcs.append(Arc(hypothesis, None, weights[-2] * lm, lm, 0))
    arcs.sort(key=lambda arc: -(arc.before.score + arc.gain))
    best = arcs[0].before.score + arcs[0].gain
    return PartialTranslation((1 << length) - 1, length, 0, best, best, arcs)


def _grids(
    stacks: Sequence[Sequence[Sequence[PartialTranslation]]],
    covered: int,
    options: Options,
    futures: Futures,
    weights: Weights,
    limit: int,
) -> Iterator[_Grid]:
    """Yields the grids that cover `covered` words with one more phrase."""
    for width in range(1, min(covered, futures.longest) + 1):
        for group in stacks[covered - width]:
            coverage, end = group[0].coverage, group[0].end
            gap = first_open(coverage)
            for start in range(max(gap, end - limit), min(end + limit, futures.length - width) + 1):
                bits = ((1 << width) - 1) << start
                found = options.get((start, start + width))
                if not found or coverage & bits or (start != gap and start + width - gap > limit):
                    continue
                jump = -abs(start - end)
                after = coverage | bits
                yield _Grid(group, found, after, start + width, jump, futures.of(after) + weights[-1] * jump)


def _fill(grids: Iterable[_Grid], language: Language, weights: Weights, cells: int) -> Iterable[PartialTranslation]:
    """Returns the hypotheses of the most promising cells, recombined."""
    heap = [
        (-(grid.hypotheses[0].score + grid.options[0].estimate + grid.future), number, 0, 0, grid)
        for number, grid in enumerate(grids)
    ]
    heapq.heapify(heap)
    made: dict[tuple[int, int, int], PartialTranslation] = {}
    while heap and cells:
        cells -= 1
        _, number, row, column, grid = heap[0]
        hypothesis, option = grid.hypotheses[row], grid.options[column]
        follow = [(row, column + 1), (row + 1, 0)] if column == 0 else [(row, column + 1)]  # reaches each cell once
        new = [
            (-(grid.hypotheses[i].score + grid.options[j].estimate + grid.future), number, i, j, grid)
            for i, j in follow
            if i < len(grid.hypotheses) and j < len(grid.options)
        ]
        if new:
            heapq.heapreplace(heap, new[0])
            for item in new[1:]:
                heapq.heappush(heap, item)
        else:
            heapq.heappop(heap)
        lm, state = 0.0, hypothesis.state
        for word in option.words:
            log_prob, state = language.follow(state, word)
            lm += log_prob
        gain = option.score + weights[-2] * lm + weights[-1] * grid.jump
        score = hypothesis.score + gain
        arc = Arc(hypothesis, option, gain, lm, grid.jump)
        known = made.get((grid.coverage, grid.end, state))
        if known is None:
            rank = score + grid.future - weights[-1] * grid.jump
            made[grid.coverage, grid.end, state] = PartialTranslation(
                grid.coverage, grid.end, state, score, rank, [arc]
            )
        elif score > known.score:
            known.rank += score - known.score
            known.score = score
            known.arcs.insert(0, arc)
        else:
            known.arcs.append(arc)
    return made.values()


class Futures:
    """Future scores: estimates of the best score of the open words, without jumps and context outside a phrase."""

    def __init__(self, length: int, options: Options, limit: int) -> None:
        self.length = length
        self.longest = max((end - start for start, end in options), default=1)
        self.table = future_scores(length, options, limit)
        self._known: dict[int, float] = {}

    def of(self, coverage: int) -> float:
        """Returns the sum over the gaps of open words: those before the last covered word, and the rest."""
        if (known := self._known.get(coverage)) is not None:
            return known
        covered = coverage.bit_length()
        total, start = self.table[covered, self.length], first_open(coverage)
        while start < covered:
            end = start + 1
            while not coverage >> end & 1:
                end += 1
            total += self.table[start, end]
            start = end + first_open(coverage >> end)
        self._known[coverage] = total
        return total


def first_open(coverage: int) -> int:
    """
    >>> first_open(0b1011)
    2
    """
    return ((coverage + 1) & ~coverage).bit_length() - 1


def future_scores(length: int, options: Options, limit: int) -> dict[tuple[int, int], float]:
    """Returns, for the words i to j − 1, the best sum of estimates of phrases that together cover them; for gaps within
    the limit, which jumps can leave open, and for those that reach to the end of the sentence."""
    estimates = {span: max(option.estimate for option in found) for span, found in options.items()}
    longest = max((end - start for start, end in options), default=1)
    best = {(end, end): 0.0 for end in range(length + 1)}
    for end in range(1, length + 1):
        for start in range(end - 1, -1 if end == length else max(-1, end - limit - 1), -1):
            best[start, end] = max(
                estimates[start, middle] + best[middle, end]
                for middle in range(start + 1, min(start + longest, end) + 1)
                if (start, middle) in estimates
            )
    return best


# -------------------------------------------------------------------------------- the n best translations


TRIES = 5  # maximum paths per requested translation: several paths give the same words


class Derivation(NamedTuple):
    """A translation with its features."""

    words: tuple[str, ...]
    features: tuple[float, ...]  # in the order of FEATURES
    score: float


def paths(best: PartialTranslation) -> Iterator[tuple[float, list[Arc]]]:
    """Yields the scores and arcs of all paths to a complete hypothesis, best first."""
    numbers = count()
    heap: list[tuple[float, int, PartialTranslation, float, tuple[Arc, object] | None]] = [
        (-best.score, next(numbers), best, 0.0, None)
    ]
    while heap:
        negative, _, hypothesis, behind, chain = heapq.heappop(heap)
        if not hypothesis.arcs:
            yield -negative, _listed(chain)
            continue
        for arc in hypothesis.arcs:
            total = behind + arc.gain
            heapq.heappush(heap, (-(arc.before.score + total), next(numbers), arc.before, total, (arc, chain)))


def _listed(chain: object) -> list[Arc]:
    arcs = []
    while isinstance(chain, tuple):
        arc, chain = chain
        arcs.append(arc)
    return arcs


def candidate(score: float, arcs: list[Arc]) -> Derivation:
    """Returns the translation of a path of arcs."""
    words = tuple(word for arc in arcs if arc.option for word in arc.option.text)
    chosen = [arc.option for arc in arcs if arc.option is not None]
    table = (sum(column) for column in zip(*(option.scores for option in chosen), strict=True))
    lm, jump = sum(arc.lm for arc in arcs), sum(arc.jump for arc in arcs)
    return Derivation(words, (*table, float(len(chosen)), float(len(words)), lm, float(jump)), score)


def n_best(best: PartialTranslation, size: int) -> list[Derivation]:
    """Returns the best translations with different words, at most `size`."""
    found: dict[tuple[str, ...], Derivation] = {}
    for score, arcs in islice(paths(best), size * TRIES):
        one = candidate(score, arcs)
        found.setdefault(one.words, one)
        if len(found) == size:
            break
    return list(found.values())
