"""Reasons for a zero or low BLEU score, in sentences: what is missing, what is repeated, what an option would change.

Every number in a sentence is computed for the given texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regard.metrics.base import Stream
from regard.metrics.bleu import Bleu, BleuScore, geometric_mean
from regard.metrics.ngram_tables import OrderCounts, TokenizedLine, fraction

NAMED = 3  # examples named in one sentence
PIECES = re.compile(r" \.$|@-@|&apos;|&quot;|@@ |▁")  # signs of text that was not detokenized


@dataclass(frozen=True)
class Reasons:
    """Yields sentences that explain a BLEU score."""

    metric: Bleu
    lines: Sequence[str]
    streams: Sequence[Stream]
    tokenized: Sequence[TokenizedLine]
    score: BleuScore
    orders: Sequence[OrderCounts]
    mean: float
    one: bool  # a single line, not a corpus

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
        empty = [row.number for row in self.tokenized if not row.hypothesis]
        if empty and self.one:
            yield "The hypothesis is empty: there is nothing to credit, so BLEU is zero."
        elif empty:
            named = ", ".join(f"{number:,}" for number in empty[:NAMED]) + (", …" if len(empty) > NAMED else "")
            verb = "is" if len(empty) == 1 else "are"
            yield f"{len(empty):,} of {_count(len(self.tokenized), 'hypothesis')} {verb} empty (line {named})."

    def nothing(self) -> Iterator[str]:
        yield (
            f"Not a single token of the {'hypothesis' if self.one else 'hypotheses'} is in a reference, so every "
            "precision and BLEU are zero. Smoothing does not help where nothing matches."
        )

    def no_match(self) -> Iterator[str]:
        """Reports orders without a match, and orders without an n-gram."""
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
                hint = f"; with smooth = exp it would be {smoothed:.2f}" if smoothed > 0 else ""
                yield f"{said}, and smoothing {how}: one precision of zero makes BLEU exactly zero{hint}."
        elif self.metric.smooth == "add-k" and self.metric.value and len(self.orders) > 1:
            yield f"add-k smoothing is in the score; without it BLEU would be {self.would_be(smooth='none'):.2f}."
        if absent:
            yield self.too_few_tokens(absent)

    def too_few_tokens(self, absent: Sequence[OrderCounts]) -> str:
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
        shorter = "" if self.metric.weights else f", and max_order = {longest} does not need them"
        would_be = self.would_be(effective_order=True)
        return (
            f"{said}: its precision is zero, and so is BLEU. effective_order leaves such orders out{shorter}; "
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
        """Reports unigrams that occur more often in a line than in any of its references."""
        taken: Counter[str] = Counter()
        said = []
        for row in self.tokenized:
            counts, most = row.counts(1)
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
                    f"Only case keeps {_count(gained, 'token')} from matching: with lowercase, BLEU "
                    f"would be {score.score:.2f}."
                )

    def in_pieces(self) -> Iterator[str]:
        """Reports text that is tokenized on one side only."""
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
                    f'{where} {side} looks tokenized (" ." at the end, or signs such as @-@ and @@) and the {other} '
                    "does not: detokenize it before scoring."
                )

    def worst(self) -> Iterator[str]:
        """Reports the order that lowers the mean most."""
        counted = [order for order in self.orders if order.weight > 0]
        if self.mean > 0 and len(counted) > 1:
            worst = max(counted, key=lambda order: -order.weight * math.log(order.precision / 100))
            others = [order for order in counted if order is not worst]
            rest = geometric_mean([order.precision for order in others], [order.weight for order in others])
            if worst.precision < rest - 1e-9:
                what = "the mean of the other orders" if others[1:] else f"that of the {others[0].n}-grams"
                said = f"The {worst.n}-grams pull the mean down most: their precision is {worst.precision:.2f}"
                yield f"{said}, and {what} is {rest:.2f}."


def _count(number: float, what: str) -> str:
    """
    >>> _count(1, "token"), _count(1200, "hypothesis")
    ('1 token', '1,200 hypotheses')
    """
    several = what[:-2] + "es" if what.endswith("is") else what + "s"
    return f"{number:,.10g} {what if number == 1 else several}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")
