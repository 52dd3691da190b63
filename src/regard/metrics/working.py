"""The working of a BLEU score: the definition (Papineni et al., 2002) run with its mouth open.

    lines ─ cut ─▶ n-grams, counted and clipped ─▶ precisions ─▶ penalty · mean = score ─▶ reasons, in plain words

Every step is one of the short functions at the top of `bleu.py`, so what is shown is what is defined; the score is
`Bleu.score` of the counts they give. This file prints nothing (`show/working.py` does), and it is slower than
`Bleu.stats`, because it keeps every n-gram.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from regard.errors import InputError
from regard.metrics.base import References, Stats
from regard.metrics.bleu import (
    Bleu,
    BleuScore,
    NGrams,
    geometric_mean,
    line_stats,
    most_in_one_reference,
    ngram_counts,
)
from regard.metrics.lines import Stream, checked_lines, reference_count
from regard.metrics.tokens import tokens_of

EXTREMES = 3  # lines with the lowest scores that are shown of a corpus, and as many with the highest
NAMED = 3  # examples that one sentence names
PIECES = re.compile(r" \.$|@-@|&apos;|&quot;|@@ |▁")  # signs of text that was not put together again


@dataclass(frozen=True)
class Row:
    """One n-gram. Of a corpus, each number is the sum over lines: clipping is done line by line."""

    ngram: tuple[str, ...]
    count: int  # in the hypothesis
    most: int  # in the one reference that has it most often
    clipped: int  # the smaller of the two: its credit


@dataclass(frozen=True)
class Table:
    kind: str  # "all": in order of appearance; "lost", "gained": by so much credit, most first
    rows: tuple[Row, ...]
    more: int = 0  # n-grams of this kind that are not listed
    more_credit: int = 0  # what those lost or gained


@dataclass(frozen=True)
class Order:
    """The n-grams of one length."""

    n: int
    correct: int
    total: int
    matches: float  # `correct` and `total` as smoothing counts them
    ngrams: float
    precision: float  # after smoothing, of 100
    weight: float  # in the mean; the weights of all orders that are not left out sum to 1
    left_out: bool  # by effective order
    tables: tuple[Table, ...]


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
    orders: tuple[Order, ...]
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
        Cut.of(metric, hypothesis, [stream[i] for stream in streams], number=(line or 1) + i)
        for i, hypothesis in enumerate(lines)
    ]
    rows = np.array([line_stats(cut.hypothesis, cut.references, metric.max_order, metric.ref_length) for cut in cuts])
    stats = Stats(rows, reference_count(streams))  # (lines, 2 + 2N)
    score = metric.score(stats)
    orders = tuple(_orders(metric, score, cuts, None if line else most))
    mean = geometric_mean([order.precision for order in orders if not order.left_out], metric.weights)
    return Working(
        metric=metric,
        line=line,
        lines=of,
        orders=orders,
        ref_lens=tuple(_length([cut.streams[i] for cut in cuts]) for i in range(len(streams))),
        mean=mean,
        score=score,
        shown=(_shown(cuts[0], "asked", score.score, metric.max_order),) if line else _extremes(metric, stats, cuts),
        reasons=tuple(Reasons(metric, lines, streams, cuts, score, orders, mean, one=line is not None)),
    )


# ------------------------------------------------------------------------------------------------ counting


@dataclass(frozen=True)
class Cut:
    """One line, in tokens."""

    number: int  # counted from 1
    hypothesis: list[str]
    streams: list[list[str] | None]  # None where a stream lacks the line

    @classmethod
    def of(cls, metric: Bleu, hypothesis: str, references: Stream, number: int) -> Cut:
        def cut(text: str) -> list[str]:
            return tokens_of(text, metric.tokenize, metric.lowercase)

        return cls(number, cut(hypothesis), [None if text is None else cut(text) for text in references])

    @property
    def references(self) -> list[list[str]]:
        return [tokens for tokens in self.streams if tokens is not None]

    def counts(self, n: int) -> tuple[NGrams, NGrams]:
        """The hypothesis' n-grams, and the most that any one reference has of each n-gram."""
        most = most_in_one_reference(ngram_counts(reference, n) for reference in self.references)
        return ngram_counts(self.hypothesis, n), most


def ngram_tables(cuts: Sequence[Cut], n: int, most: int | None) -> tuple[Table, ...]:
    """All n-grams in order of appearance; with `most`, those only that lost most credit and that gained most."""
    counts, in_references, clipped = NGrams(), NGrams(), NGrams()
    for cut in cuts:
        here, best = cut.counts(n)
        counts.update(here)
        in_references.update({ngram: best[ngram] for ngram in here if ngram in best})
        clipped.update(here & best)

    def listed(kind: str, by: NGrams, limit: int | None) -> Table:
        ngrams = list(by) if limit is None else [ngram for ngram, _ in by.most_common(limit)]
        rows = tuple(Row(ngram, counts[ngram], in_references[ngram], clipped[ngram]) for ngram in ngrams)
        return Table(kind, rows, len(by) - len(rows), by.total() - sum(by[ngram] for ngram in ngrams))

    if most is None:
        return (listed("all", counts, None),)
    return listed("lost", counts - clipped, most), listed("gained", clipped, most)


def _orders(metric: Bleu, score: BleuScore, cuts: Sequence[Cut], most: int | None) -> Iterator[Order]:
    weights = metric.weights or (1 / metric.max_order,) * metric.max_order
    in_the_mean = [
        not metric.effective_order or total > 0 or precision > 0
        for total, precision in zip(score.total, score.precisions, strict=True)
    ]
    weight_sum = sum(weight for weight, there in zip(weights, in_the_mean, strict=True) if there)
    for n, correct, total, precision, weight, there in zip(
        range(1, metric.max_order + 1), score.correct, score.total, score.precisions, weights, in_the_mean, strict=True
    ):
        added = metric.value if metric.smooth == "add-k" and n > 1 and any(score.correct) else None
        ngrams = total + (added or 0.0)
        yield Order(
            n=n,
            correct=correct,
            total=total,
            matches=correct + (added or 0.0) or precision * total / 100,
            ngrams=ngrams,
            precision=precision,
            weight=weight / weight_sum if there and weight_sum > 0 else 0.0,
            left_out=not there,
            tables=ngram_tables(cuts, n, most),
        )


def _length(texts: Sequence[list[str] | None]) -> int | None:
    there = [len(tokens) for tokens in texts if tokens is not None]
    return sum(there) if there else None


# ------------------------------------------------------------------------------------------------ lighting


def longest_matches(tokens: Sequence[str], credit: Sequence[NGrams]) -> tuple[int, ...]:
    """For each token the longest credited n-gram that covers it; `credit[n - 1]` says how often each is credited.

    An n-gram that occurs more often than it is credited is credited inside longer matches first, then from the left.

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


def _shown(cut: Cut, why: str, score: float, max_order: int) -> Shown:
    orders = range(1, max_order + 1)
    credit = [here & most for here, most in (cut.counts(n) for n in orders)]
    texts = [Lit("hypothesis", tuple(cut.hypothesis), longest_matches(cut.hypothesis, credit))]
    for number, tokens in enumerate(cut.streams, start=1):
        if tokens is not None:
            credit = [ngram_counts(cut.hypothesis, n) & ngram_counts(tokens, n) for n in orders]
            name = f"reference {number}" if len(cut.streams) > 1 else "reference"
            texts.append(Lit(name, tuple(tokens), longest_matches(tokens, credit)))
    return Shown(why, cut.number, score, tuple(texts))


def _extremes(metric: Bleu, stats: Stats, cuts: Sequence[Cut]) -> tuple[Shown, ...]:
    """The lines with the lowest and the highest scores of their own; of equals, the longer first."""
    scores = replace(metric, effective_order=True).scores(stats.rows).tolist()
    lowest = sorted(range(len(cuts)), key=lambda i: (scores[i], -len(cuts[i].hypothesis)))[:EXTREMES]
    others = [i for i in range(len(cuts)) if i not in lowest]
    highest = sorted(others, key=lambda i: (-scores[i], -len(cuts[i].hypothesis)))[:EXTREMES]
    chosen = [("lowest", i) for i in lowest] + [("highest", i) for i in highest]
    return tuple(_shown(cuts[i], why, scores[i], metric.max_order) for why, i in chosen)


# ------------------------------------------------------------------------------------------------ reasons


@dataclass(frozen=True)
class Reasons:
    """Why a score is zero or low: as an iterable, sentences in plain words."""

    metric: Bleu
    lines: Sequence[str]
    streams: Sequence[Stream]
    cuts: Sequence[Cut]
    score: BleuScore
    orders: Sequence[Order]
    mean: float
    one: bool  # line, or a corpus

    def __iter__(self) -> Iterator[str]:
        if self.score.score > 100 - 1e-9 and self.score.correct == self.score.total:
            yield "Nothing is lost: every n-gram is in a reference, and the length is right."
            return
        yield from self.empty()
        if self.score.hyp_len > 0:
            yield from self.no_match() if any(self.score.correct) else self.nothing()
            yield from self.short()
            yield from self.repeated()
            yield from self.case()
        yield from self.in_pieces()
        yield from self.worst()

    def would_be(self, **options: Any) -> float:
        metric = replace(self.metric, **options)
        return metric.score(metric.stats(self.lines, self.streams)).score

    def empty(self) -> Iterator[str]:
        empty = [cut.number for cut in self.cuts if not cut.hypothesis]
        if empty and self.one:
            yield "The hypothesis is empty: there is nothing to credit, so BLEU is zero."
        elif empty:
            named = ", ".join(f"{number:,}" for number in empty[:NAMED]) + (", …" if len(empty) > NAMED else "")
            verb = "is" if len(empty) == 1 else "are"
            yield f"{len(empty):,} of {_count(len(self.cuts), 'hypothesis')} {verb} empty (line {named})."

    def nothing(self) -> Iterator[str]:
        yield (
            f"Not a single token of the {'hypothesis' if self.one else 'hypotheses'} is in a reference, so every "
            "precision and BLEU are zero. Smoothing does not help where nothing matches."
        )

    def no_match(self) -> Iterator[str]:
        """Orders without a match, and orders without an n-gram."""
        missing = [order for order in self.orders if order.correct == 0 and order.total > 0 and order.weight > 0]
        absent = [order for order in self.orders if order.total == 0]
        if missing:
            said = f"No {missing[0].n}-gram {'or longer ' if missing[1:] else ''}is in a reference"
            if missing[0].precision > 0:
                counted = ", ".join(f"0/{order.total} as {fraction(order)}" for order in missing)
                without = " Without it BLEU would be exactly zero." if self.score.score > 0 else ""
                yield f"{said}; {self.metric.smooth} smoothing counts {counted}.{without}"
            else:
                how = "is none" if self.metric.smooth == "none" else f"({self.metric.smooth}) has the value 0"
                smoothed = self.would_be(smooth="exp", smooth_value=None)
                hint = f"; with --smooth exp it would be {smoothed:.2f}" if smoothed > 0 else ""
                yield f"{said}, and smoothing {how}: one precision of zero makes BLEU exactly zero{hint}."
        elif self.metric.smooth == "add-k" and self.metric.value and len(self.orders) > 1:
            yield f"add-k smoothing is in the score; without it BLEU would be {self.would_be(smooth='none'):.2f}."
        if absent:
            yield self.too_few_tokens(absent)

    def too_few_tokens(self, absent: Sequence[Order]) -> str:
        longest = absent[0].n - 1
        who = "The hypothesis has" if self.one else "No hypothesis has more than"
        said = f"{who} {_count(longest, 'token')}, so there is no {absent[0].n}-gram at all"
        if absent[0].precision > 0:
            return f"{said}; add-k smoothing counts each order without n-grams as {fraction(absent[0])}, the full 100."
        if absent[0].left_out:
            return (
                f"{said}; effective order leaves longer n-grams out of the mean. Counted in, they would make it zero."
            )
        if not any(order.weight > 0 for order in absent):
            return f"{said}; its weight is 0."
        shorter = "" if self.metric.weights else f", and --max-order {longest} does not ask for them"
        would_be = self.would_be(effective_order=True)
        return (
            f"{said}: its precision is zero, and so is BLEU. --effective-order leaves such orders out{shorter}; "
            f"BLEU would be {would_be:.2f}."
        )

    def short(self) -> Iterator[str]:
        c, r = self.score.hyp_len, self.score.ref_len
        if c < r:
            who = "The hypothesis is" if self.one else "All hypotheses together are"
            cost = "comes on top of a mean of zero"
            if self.mean > 0:
                cost = f"costs {self.mean - self.score.score:.2f} points; without it BLEU would be {self.mean:.2f}"
            yield (
                f"{who} {_count(r - c, 'token')} shorter than the reference length ({c:,} against {r:,.10g}): the "
                f"penalty of {self.score.bp:.4f} {cost}."
            )

    def repeated(self) -> Iterator[str]:
        """Unigrams that one line has more often than any of its references."""
        taken: Counter[str] = Counter()
        said = []
        for cut in self.cuts:
            counts, most = cut.counts(1)
            for (token,), count in counts.items():
                if 0 < most[(token,)] < count:
                    taken[token] += count - most[(token,)]
                    said.append(f'"{token}" is said {_times(count)} and credited {_times(most[(token,)])}')
        if said and self.one:
            more = f" (and {len(said) - NAMED} more)" if len(said) > NAMED else ""
            yield f"Tokens are credited only as often as one reference has them: {', '.join(said[:NAMED])}{more}."
        elif said:
            named = ", ".join(f'"{token}" ({count:,})' for token, count in taken.most_common(NAMED))
            yield (
                f"Clipping took {taken.total():,} of {_count(self.score.hyp_len, 'token')}, because a line repeats "
                f"them more often than any of its references: above all {named}."
            )

    def case(self) -> Iterator[str]:
        if not self.metric.lowercase:
            lower = replace(self.metric, lowercase=True)
            score = lower.score(lower.stats(self.lines, self.streams))
            gained = score.correct[0] - self.score.correct[0]
            if gained > 0:
                yield (
                    f"Case is all that keeps {_count(gained, 'token')} from matching: --lowercase ignores it, and BLEU "
                    f"would be {score.score:.2f}."
                )

    def in_pieces(self) -> Iterator[str]:
        """Text that was not put together again, on one side only."""
        sides = {"hypothesis": 0, "reference": 0}
        for i, line in enumerate(self.lines):
            ours = bool(PIECES.search(line))
            theirs = [bool(PIECES.search(stream[i] or "")) for stream in self.streams if stream[i] is not None]
            sides["hypothesis"] += ours and not any(theirs)
            sides["reference"] += all(theirs) and not ours
        for side, other in (("hypothesis", "reference"), ("reference", "hypothesis")):
            if sides[side]:
                where = "The" if self.one else f"In {sides[side]:,} of {_count(len(self.lines), 'line')} the"
                yield (
                    f'{where} {side} looks tokenised (" ." at the end, or signs such as @-@ and @@) and the {other} '
                    "does not: put words and marks together again before scoring."
                )

    def worst(self) -> Iterator[str]:
        """The order that pulls the mean down most."""
        counted = [order for order in self.orders if order.weight > 0]
        if self.mean > 0 and len(counted) > 1:
            worst = max(counted, key=lambda order: -order.weight * math.log(order.precision / 100))
            others = [order for order in counted if order is not worst]
            rest = geometric_mean([order.precision for order in others], [order.weight for order in others])
            if worst.precision < rest - 1e-9:
                what = "the mean of the other orders" if others[1:] else f"that of the {others[0].n}-grams"
                said = f"The {worst.n}-grams pull the mean down most: their precision is {worst.precision:.2f}"
                yield f"{said}, and {what} is {rest:.2f}."


def fraction(order: Order) -> str:
    """Matches of n-grams, as smoothing counts them: 0.5/5."""
    return f"{order.matches:.6g}/{order.ngrams:.12g}"


def _count(number: float, what: str) -> str:
    """
    >>> _count(1, "token"), _count(1200, "hypothesis")
    ('1 token', '1,200 hypotheses')
    """
    several = what[:-2] + "es" if what.endswith("is") else what + "s"
    return f"{number:,.10g} {what if number == 1 else several}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
