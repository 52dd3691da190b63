"""Every line scored against every other line as its reference: chrF and BLEU of all pairs of a few lines.

    L lines   N orders of n-grams

The n-grams of a line are counted once, not once per pair. The k-th occurrence of an n-gram in a line is a feature of
its own, so the clipped matches of two lines, Σ min(count, count), are the number of features that both have: one
product of matrices of 0 and 1 for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.metrics.bleu import Bleu
from regard.metrics.chrf import Chrf, letters_of
from regard.metrics.ngrams import Numbers, Ragged, encoder_for, ranks

COLUMNS = 4096  # features multiplied at a time, to bound memory
PAIRS = 65_536  # pairs scored at a time, to bound memory
Scores = NDArray[np.float64]


def pairwise_chrf(lines: Sequence[str]) -> Scores:
    """(L, L): chrF of line i with line j as its reference, from 0 to 100.

    >>> pairwise_chrf(["the cat", "a cat"]).round(1).tolist()
    [[100.0, 42.3], [31.2, 100.0]]
    """
    letters = [letters_of(line) for line in lines]
    codes = np.frombuffer("".join(letters).encode("utf-32-le", "surrogatepass"), np.dtype("<u4"))
    units = Ragged(codes, np.array([len(some) for some in letters], dtype=np.int64))
    metric = Chrf()
    matches, total = shared_ngrams(units, metric.char_order), _totals(units.lengths, metric.char_order)

    def rows(some: slice) -> NDArray[Any]:
        in_reference = np.broadcast_to(total, matches[some].shape)
        in_hypothesis = total[some, None] * (in_reference > 0)
        return np.stack([in_hypothesis, in_reference, matches[some]], axis=-1).reshape(*matches[some].shape[:2], -1)

    return _scored(rows, metric.scores, len(lines))


def pairwise_bleu(lines: Sequence[str]) -> Scores:
    """(L, L): BLEU of line i with line j as its only reference, as sacreBLEU scores one sentence (with effective
    order)."""
    metric = Bleu(effective_order=True)
    units = encoder_for(metric.tokenize, metric.lowercase).encode(lines)
    matches, total = shared_ngrams(units, metric.max_order), _totals(units.lengths, metric.max_order)
    lengths = units.lengths[:, None]

    def rows(some: slice) -> NDArray[Any]:
        shape = matches[some].shape
        ours, theirs = np.broadcast_to(lengths[some, None], (*shape[:2], 1)), np.broadcast_to(lengths, (*shape[:2], 1))
        return np.concatenate([ours, theirs, matches[some], np.broadcast_to(total[some, None], shape)], axis=-1)

    return _scored(rows, metric.scores, len(lines))


def shared_ngrams(lines: Ragged, order: int) -> Numbers:
    """(L, L, N): the number of 1-grams … N-grams that two lines have in common, each counted as often as both have it.

    >>> shared_ngrams(Ragged(np.array([7, 7, 8, 7, 8, 8]), np.array([3, 3])), 2)[0, 1]
    array([2, 1])
    """
    count = len(lines)
    line = np.repeat(np.arange(count), lines.lengths)
    same_line = line[1:] == line[:-1]
    place = np.arange(len(line))  # starts of the n-grams
    gram, _ = ranks(lines.flat.astype(np.int64))  # an id for each; equal n-grams have equal ids
    found = np.zeros((count, count, order), dtype=np.int64)
    for n in range(order):
        found[..., n] = _in_common(gram, line[place], count)
        number = np.full(len(line), -1)
        number[place] = gram
        place = np.flatnonzero(same_line & (number[1:] >= 0) & (number[:-1] >= 0))
        gram, _ = ranks(number[place] * (int(gram.max(initial=0)) + 1) + number[place + 1])
    return found


def _in_common(gram: Numbers, line: Numbers, count: int) -> Numbers:
    """(L, L): the number of features that two lines share; `gram` and `line` are those of each position."""
    order = np.lexsort((line, gram))
    gram, line = gram[order], line[order]
    new = np.ones(len(gram), dtype=bool)
    new[1:] = (gram[1:] != gram[:-1]) | (line[1:] != line[:-1])
    first = np.maximum.accumulate(np.where(new, np.arange(len(gram)), 0))
    occurrence = np.arange(len(gram)) - first  # index of the occurrence of the n-gram in its line
    feature, features = ranks(gram * (int(occurrence.max(initial=0)) + 1) + occurrence)
    order = np.argsort(feature, kind="stable")
    feature, line = feature[order], line[order]
    found = np.zeros((count, count))
    for start in range(0, features, COLUMNS):
        some = slice(*np.searchsorted(feature, [start, start + COLUMNS]))
        has = np.zeros((count, min(COLUMNS, features - start)), dtype=np.float32)
        has[line[some], feature[some] - start] = 1.0
        found += has @ has.T
    return found.astype(np.int64)


def _totals(lengths: Numbers, order: int) -> Numbers:
    """(L, N): the number of n-grams of each line."""
    totals: Numbers = np.maximum(0, lengths[:, None] - np.arange(order))
    return totals


def _scored(rows: Callable[[slice], NDArray[Any]], scores: Callable[[NDArray[Any]], Scores], count: int) -> Scores:
    """(L, L): scores of the statistics that `rows` returns for a slice of hypotheses against all references."""
    step = max(1, PAIRS // max(1, count))
    found = [scores(rows(slice(start, start + step))) for start in range(0, count, step)]
    return np.concatenate(found) if found else np.zeros((0, 0))
