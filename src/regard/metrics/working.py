"""The working of a BLEU score: the definition (Papineni et al., 2002) run with its mouth open.

    lines ─ cut ─▶ n-grams, counted and clipped ─▶ precisions ─▶ penalty · mean = score ─▶ reasons, in plain words

The counts are `counted.py`'s, the score is `Bleu.score` of them, the sentences are `reasons.py`'s. This file puts them
together and finds which words of a text to light. It prints nothing (`show/working.py` does).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from regard.errors import InputError
from regard.metrics.base import References, Stats
from regard.metrics.bleu import Bleu, BleuScore, NGrams, geometric_mean, line_stats, ngram_counts
from regard.metrics.counted import OrderCounts, TokenizedLine, length_of, orders_of
from regard.metrics.lines import checked_lines, reference_count
from regard.metrics.reasons import Reasons

EXTREMES = 3  # lines with the lowest scores that are shown of a corpus, and as many with the highest


@dataclass(frozen=True)
class Lit:
    """The tokens of one text, and for each the longest credited n-gram that covers it (0: none)."""

    name: str
    tokens: tuple[str, ...]
    longest: tuple[int, ...]


@dataclass(frozen=True)
class Shown:
    why: str  # "asked", "lowest" or "highest"
    line: int  # counted from 1
    score: float  # of this line alone; with effective order unless it was asked for
    texts: tuple[Lit, ...]  # the hypothesis, then its references


@dataclass(frozen=True)
class Working:
    metric: Bleu
    line: int | None  # counted from 1; None: all lines together
    lines: int  # of the whole text
    orders: tuple[OrderCounts, ...]
    ref_lens: tuple[int | None, ...]  # of each stream; None where it lacks the line
    mean: float  # of the precisions, of 100
    score: BleuScore
    shown: tuple[Shown, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "score": self.score.to_dict()}


def explain_bleu(
    metric: Bleu, hypotheses: Sequence[str], references: References, line: int | None = None, most: int = 20
) -> Working:
    """The working of one line, counted from 1; or of all lines together, with `most` n-grams in a table at most."""
    lines, streams = checked_lines(hypotheses, references)
    of = len(lines)
    if line is not None and not 1 <= line <= of:
        raise InputError(f"there is no line {line}; the text has {of:,} {'line' if of == 1 else 'lines'}, from 1 on")
    if of == 1:
        line = 1
    if line is not None:
        lines, streams = lines[line - 1 : line], [stream[line - 1 : line] for stream in streams]
    cuts = [
        TokenizedLine.of(metric, hypothesis, [stream[i] for stream in streams], number=(line or 1) + i)
        for i, hypothesis in enumerate(lines)
    ]
    rows = np.array([line_stats(cut.hypothesis, cut.references, metric.max_order, metric.ref_length) for cut in cuts])
    stats = Stats(rows, reference_count(streams))  # (lines, 2 + 2N)
    score = metric.score(stats)
    orders = tuple(orders_of(metric, score, cuts, None if line else most))
    mean = geometric_mean([order.precision for order in orders if not order.left_out], metric.weights)
    return Working(
        metric=metric,
        line=line,
        lines=of,
        orders=orders,
        ref_lens=tuple(length_of([cut.streams[i] for cut in cuts]) for i in range(len(streams))),
        mean=mean,
        score=score,
        shown=(_shown(cuts[0], "asked", score.score, metric.max_order),) if line else _extremes(metric, stats, cuts),
        reasons=tuple(Reasons(metric, lines, streams, cuts, score, orders, mean, one=line is not None)),
    )


# ------------------------------------------------------------------------------------------------ lighting


def longest_matches(tokens: Sequence[str], credit: Sequence[NGrams]) -> tuple[int, ...]:
    """For each token the longest credited n-gram that covers it; `credit[n - 1]` says how often each is credited.

    An n-gram that occurs more often than it is credited is credited inside longer matches first, then from the left.

    >>> from collections import Counter
    >>> longest_matches("the the cat".split(), [Counter({("the",): 1, ("cat",): 1}), Counter({("the", "cat"): 1})])
    (0, 2, 2)
    """
    longest = [0] * len(tokens)
    longer: set[int] = set()  # where credited n-grams of the order above begin
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


def _shown(cut: TokenizedLine, why: str, score: float, max_order: int) -> Shown:
    orders = range(1, max_order + 1)
    credit = [here & most for here, most in (cut.counts(n) for n in orders)]
    texts = [Lit("hypothesis", tuple(cut.hypothesis), longest_matches(cut.hypothesis, credit))]
    for number, tokens in enumerate(cut.streams, start=1):
        if tokens is not None:
            credit = [ngram_counts(cut.hypothesis, n) & ngram_counts(tokens, n) for n in orders]
            name = f"reference {number}" if len(cut.streams) > 1 else "reference"
            texts.append(Lit(name, tuple(tokens), longest_matches(tokens, credit)))
    return Shown(why, cut.number, score, tuple(texts))


def _extremes(metric: Bleu, stats: Stats, cuts: Sequence[TokenizedLine]) -> tuple[Shown, ...]:
    """The lines with the lowest and the highest scores of their own; of equals, the longer first."""
    scores = replace(metric, effective_order=True).scores(stats.rows).tolist()
    lowest = sorted(range(len(cuts)), key=lambda i: (scores[i], -len(cuts[i].hypothesis)))[:EXTREMES]
    others = [i for i in range(len(cuts)) if i not in lowest]
    highest = sorted(others, key=lambda i: (-scores[i], -len(cuts[i].hypothesis)))[:EXTREMES]
    chosen = [("lowest", i) for i in lowest] + [("highest", i) for i in highest]
    return tuple(_shown(cuts[i], why, scores[i], metric.max_order) for why, i in chosen)
