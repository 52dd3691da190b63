"""GLEU, a score for single sentences (Wu et al. 2016, "Google's neural machine translation system", section 5).

    GLEU = min(precision, recall) = matches / max(n-grams of the hypothesis, n-grams of the reference)

over all n-grams of 1 to 4 tokens together; an n-gram matches as often as both sides have it. It lies between 0 and
1 and is symmetric. Too short and too long outputs are penalized equally, so it needs no brevity penalty and no
smoothing, which makes it suitable as a training reward (`training/reward.py`).

Tokens are any hashable values: words, or ids of a vocabulary. `gleu` is the definition; `gleu_scores` is its fast
version for many lines of ids. The GLEU of grammatical error correction (Napoles et al. 2015) is another score. There is
one reference per line, and text is not tokenized here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from regard.metrics.ngrams import Ragged, matching

MAX_ORDER = 4


def pooled_ngrams(tokens: Sequence[Hashable], order: int = MAX_ORDER) -> Counter[tuple[Hashable, ...]]:
    """The counts of all n-grams of 1 to `order` tokens.

    >>> pooled_ngrams("a b a".split(), 2)
    Counter({('a',): 2, ('b',): 1, ('a', 'b'): 1, ('b', 'a'): 1})
    """
    lengths = range(1, order + 1)
    return Counter(tuple(tokens[i : i + n]) for n in lengths for i in range(len(tokens) - n + 1))


def gleu(hypothesis: Sequence[Hashable], reference: Sequence[Hashable], order: int = MAX_ORDER) -> float:
    """GLEU of one sentence. The score of two empty sentences is 1.

    >>> round(gleu("the cat sat".split(), "the cat sat down".split()), 2)
    0.6
    """
    ours, theirs = pooled_ngrams(hypothesis, order), pooled_ngrams(reference, order)
    if not ours and not theirs:
        return 1.0
    return (ours & theirs).total() / max(ours.total(), theirs.total())


def gleu_scores(
    hypotheses: Sequence[Sequence[int]], references: Sequence[Sequence[int]], order: int = MAX_ORDER
) -> NDArray[np.float64]:
    """`gleu` of each line of ids: (lines,)."""
    assert len(hypotheses) == len(references), "a score needs as many references as hypotheses"
    ours, theirs = ragged(hypotheses), ragged(references)
    if len(ours) == 0:
        return np.zeros(0)
    matches = matching(ours, [theirs], order).sum(axis=1)  # (lines,)
    longer = np.maximum(ours.lengths, theirs.lengths)  # has at least as many n-grams of every order
    most = np.maximum(0, longer[:, None] - np.arange(order)).sum(axis=1)  # (lines,)
    scores: NDArray[np.float64] = np.where(most > 0, matches / np.maximum(most, 1), 1.0)
    return scores


def ragged(lines: Sequence[Sequence[int]]) -> Ragged:
    lengths = np.fromiter(map(len, lines), np.int64, len(lines))
    return Ragged(np.fromiter(chain.from_iterable(lines), np.int64, int(lengths.sum())), lengths)
