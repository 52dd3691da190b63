"""Which lines of a test set an output is of: newstest2014 exists with its documents in two orders, and shortened.

An output's line is like the reference it translates, and the lines of a document follow each other. So the lines are
the path j(1), j(2), … of most similarity, with a bonus wherever j(i) = j(i-1) + 1: Viterbi's algorithm. Similarity is
the cosine of the two sets of words, rare words weighing more. Of two lines that came out as the same one (a sentence
may occur twice in slightly other words), the less similar one is then moved to the line that is left.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NEXT = 0.5  # bonus of the line that follows; a similarity is at most 1
LEAST = 0.2  # similarity of a line to the one that is left for it
SHARED = 0.2  # of the words of an output and its reference, on average; of any two lines it is a twentieth
WORD = re.compile(r"\w+")


def lines_of(outputs: Sequence[Sequence[str]], references: Sequence[str]) -> list[int] | None:
    """The number of the reference of each line, by several systems' outputs for the same lines. None: some line is
    like none of the references that are left.

    >>> lines_of([["the dog barks", "a cat sleeps"]], ["one black cat sleeps", "nobody", "my dog barks"])
    [2, 0]
    """
    said = [set().union(*map(words, lines)) for lines in zip(*outputs, strict=True)]
    if len(said) == len(references) and in_order(said, references):
        return list(range(len(said)))
    if not 0 < len(said) <= len(references):
        return None
    alike = similarity(said, references)
    return one_to_one(best_path(alike), alike)


def words(line: str) -> set[str]:
    return set(WORD.findall(line.lower()))


def in_order(lines: Sequence[set[str]], references: Sequence[str]) -> bool:
    shares = [len(a & b) / max(1, len(a | b)) for a, b in zip(lines, map(words, references), strict=True)]
    return sum(shares) >= SHARED * len(shares)


def similarity(lines: Sequence[set[str]], references: Sequence[str]) -> NDArray[np.float32]:
    """(lines, references)"""
    where = defaultdict(list)
    for j, reference in enumerate(references):
        for word in words(reference):
            where[word].append(j)
    weight = {word: math.log(1 + len(references) / len(found)) ** 2 for word, found in where.items()}
    size = np.full(len(references), 1e-9)
    for word, found in where.items():
        size[found] += weight[word]
    alike = np.zeros((len(lines), len(references)), np.float32)
    for i, line in enumerate(lines):
        for word in line & where.keys():
            alike[i, where[word]] += weight[word]
        alike[i] /= np.sqrt(size * (1e-9 + sum(weight.get(word, 1.0) for word in line)))
    return alike


def best_path(alike: NDArray[np.float32]) -> list[int]:
    """For every row the column on the path of most similarity."""
    best, came_from = alike[0].astype(np.float64), []
    for row in alike[1:]:
        anywhere = int(best.argmax())
        after = np.concatenate([[-np.inf], best[:-1]]) + NEXT  # from the column before
        follows = after >= best[anywhere]
        came_from.append(np.where(follows, np.arange(len(best)) - 1, anywhere))
        best = np.where(follows, after, best[anywhere]) + row
    path = [int(best.argmax())]
    for sources in reversed(came_from):
        path.append(int(sources[path[-1]]))
    return path[::-1]


def one_to_one(path: Sequence[int], alike: NDArray[np.float32]) -> list[int] | None:
    found = list(path)
    free = set(range(alike.shape[1])) - set(path)
    taken: set[int] = set()
    for i in sorted(range(len(path)), key=lambda i: -alike[i, path[i]]):
        if path[i] in taken:
            left = max(free, key=lambda j: alike[i, j], default=None)
            if left is None or alike[i, left] < LEAST:
                return None
            free.remove(left)
            found[i] = left
        taken.add(path[i])
    return found
