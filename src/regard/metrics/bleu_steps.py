"""The steps of a BLEU score: the definition (Papineni et al., 2002) with every intermediate value.

    lines ─ tokens ─▶ n-grams, counted and clipped ─▶ precisions ─▶ penalty · mean = score ─▶ reasons

The counts are those of `ngram_tables.py`, the score is `Bleu.score` of them, the sentences are from `reasons.py`. This
file combines them and finds which words to highlight. `show/bleu_steps.py` prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from regard.errors import InputError
from regard.metrics.base import References, Stats, checked_lines, reference_count
from regard.metrics.bleu import Bleu, BleuScore, NGrams, geometric_mean, line_stats, ngram_counts
from regard.metrics.ngram_tables import OrderCounts, TokenizedLine, length_of, orders_of
from regard.metrics.reasons import Reasons

EXTREMES = 3  # number of lowest-scoring lines of a corpus that are shown, and of highest-scoring ones


@dataclass(frozen=True)
class MarkedText:
    """The tokens of one text, and for each token the length of the longest credited n-gram that covers it (0: none)."""

    name: str
    tokens: tuple[str, ...]
    longest: tuple[int, ...]


@dataclass(frozen=True)
class ShownLine:
    why: str  # "asked" (requested by the user), "lowest" or "highest"
    line: int  # counted from 1
    score: float  # of this line alone, with effective order unless the user requested the line
    texts: tuple[MarkedText, ...]  # the hypothesis, then its references


@dataclass(frozen=True)
class BleuSteps:
    metric: Bleu
    line: int | None  # counted from 1; None for all lines together
    lines: int  # number of lines in the whole text
    orders: tuple[OrderCounts, ...]
    ref_lens: tuple[int | None, ...]  # of each stream; None if the stream lacks the line
    mean: float  # of the precisions, from 0 to 100
    score: BleuScore
    shown: tuple[ShownLine, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary for JSON."""
        return {**asdict(self), "score": self.score.to_dict()}


def explain_bleu(
    metric: Bleu, hypotheses: Sequence[str], references: References, line: int | None = None, most: int = 20
) -> BleuSteps:
    """Explains one line, counted from 1, or all lines together, with at most `most` n-grams in each table."""
    lines, streams = checked_lines(hypotheses, references)
    of = len(lines)
    if line is not None and not 1 <= line <= of:
        raise InputError(f"there is no line {line}; the text has {of:,} {'line' if of == 1 else 'lines'}, from 1 on")
    if of == 1:
        line = 1
    if line is not None:
        lines, streams = lines[line - 1 : line], [stream[line - 1 : line] for stream in streams]
    tokenized = [
        TokenizedLine.of(metric, hypothesis, [stream[i] for stream in streams], number=(line or 1) + i)
        for i, hypothesis in enumerate(lines)
    ]
    rows = np.array(
        [line_stats(row.hypothesis, row.references, metric.max_order, metric.ref_length) for row in tokenized]
    )
    stats = Stats(rows, reference_count(streams))  # (lines, 2 + 2N)
    score = metric.score(stats)
    orders = tuple(orders_of(metric, score, tokenized, None if line else most))
    mean = geometric_mean([order.precision for order in orders if not order.left_out], metric.weights)
    return BleuSteps(
        metric=metric,
        line=line,
        lines=of,
        orders=orders,
        ref_lens=tuple(length_of([row.streams[i] for row in tokenized]) for i in range(len(streams))),
        mean=mean,
        score=score,
        shown=(_shown(tokenized[0], "asked", score.score, metric.max_order),)
        if line
        else _extremes(metric, stats, tokenized),
        reasons=tuple(Reasons(metric, lines, streams, tokenized, score, orders, mean, one=line is not None)),
    )


# ------------------------------------------------------------------------------------------------ highlighting


def longest_matches(tokens: Sequence[str], credit: Sequence[NGrams]) -> tuple[int, ...]:
    """For each token, the length of the longest credited n-gram that covers it; `credit[n - 1]` is their credit.

    An n-gram that occurs more often than it is credited is credited inside longer matches first, then from the left.

    >>> from collections import Counter
    >>> longest_matches("the the cat".split(), [Counter({("the",): 1, ("cat",): 1}), Counter({("the", "cat"): 1})])
    (0, 2, 2)
    """
    longest = [0] * len(tokens)
    longer: set[int] = set()  # starts of credited n-grams of the next order
    for n in range(len(credit), 0, -1):
        places: dict[tuple[str, ...], list[int]] = {}
        for i in range(len(tokens) - n + 1):
            places.setdefault(tuple(tokens[i : i + n]), []).append(i)
        begin: set[int] = set()
        for ngram, some in places.items():
            inside_first = sorted(some, key=lambda i: i not in longer and i - 1 not in longer)
            begin.update(inside_first[: credit[n - 1][ngram]])
        for i in begin:
            longest[i : i + n] = [max(n, known) for known in longest[i : i + n]]
        longer = begin
    return tuple(longest)


def _shown(row: TokenizedLine, why: str, score: float, max_order: int) -> ShownLine:
    orders = range(1, max_order + 1)
    credit = [here & most for here, most in (row.counts(n) for n in orders)]
    texts = [MarkedText("hypothesis", tuple(row.hypothesis), longest_matches(row.hypothesis, credit))]
    for number, tokens in enumerate(row.streams, start=1):
        if tokens is not None:
            credit = [ngram_counts(row.hypothesis, n) & ngram_counts(tokens, n) for n in orders]
            name = f"reference {number}" if len(row.streams) > 1 else "reference"
            texts.append(MarkedText(name, tuple(tokens), longest_matches(tokens, credit)))
    return ShownLine(why, row.number, score, tuple(texts))


def _extremes(metric: Bleu, stats: Stats, tokenized: Sequence[TokenizedLine]) -> tuple[ShownLine, ...]:
    """The lines with the lowest and the highest sentence scores; ties are sorted by length, longest first."""
    scores = replace(metric, effective_order=True).scores(stats.rows).tolist()
    lowest = sorted(range(len(tokenized)), key=lambda i: (scores[i], -len(tokenized[i].hypothesis)))[:EXTREMES]
    others = [i for i in range(len(tokenized)) if i not in lowest]
    highest = sorted(others, key=lambda i: (-scores[i], -len(tokenized[i].hypothesis)))[:EXTREMES]
    chosen = [("lowest", i) for i in lowest] + [("highest", i) for i in highest]
    return tuple(_shown(tokenized[i], why, scores[i], metric.max_order) for why, i in chosen)
