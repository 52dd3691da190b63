"""The n-grams of texts, each by name: how often it is said, how often a reference has it, what credit it gets.

Every count is one of the short functions at the top of `bleu.py`, so what is shown of BLEU is what is defined.
`Bleu.stats` gets the same sums faster and forgets the n-grams; this keeps them. `working.py` puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.metrics.bleu import Bleu, BleuScore, NGrams, most_in_one_reference, ngram_counts
from regard.metrics.lines import Stream
from regard.metrics.tokens import tokens_of


@dataclass(frozen=True)
class NGramRow:
    """One n-gram. Of a corpus, each number is the sum over lines: clipping is done line by line."""

    ngram: tuple[str, ...]
    count: int  # in the hypothesis
    most: int  # in the one reference that has it most often
    clipped: int  # the smaller of the two: its credit


@dataclass(frozen=True)
class NGramTable:
    kind: str  # "all": in order of appearance; "lost", "gained": by so much credit, most first
    rows: tuple[NGramRow, ...]
    more: int = 0  # n-grams of this kind that are not listed
    more_credit: int = 0  # what those lost or gained


@dataclass(frozen=True)
class OrderCounts:
    """The n-grams of one length."""

    n: int
    correct: int
    total: int
    matches: float  # `correct` and `total` as smoothing counts them
    ngrams: float
    precision: float  # after smoothing, of 100
    weight: float  # in the mean; the weights of all orders that are not left out sum to 1
    left_out: bool  # by effective order
    tables: tuple[NGramTable, ...]


@dataclass(frozen=True)
class TokenizedLine:
    """One line, in tokens."""

    number: int  # counted from 1
    hypothesis: list[str]
    streams: list[list[str] | None]  # None where a stream lacks the line

    @classmethod
    def of(cls, metric: Bleu, hypothesis: str, references: Stream, number: int) -> TokenizedLine:
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


def ngram_tables(cuts: Sequence[TokenizedLine], n: int, most: int | None) -> tuple[NGramTable, ...]:
    """All n-grams in order of appearance; with `most`, those only that lost most credit and that gained most."""
    counts, in_references, clipped = NGrams(), NGrams(), NGrams()
    for cut in cuts:
        here, best = cut.counts(n)
        counts.update(here)
        in_references.update({ngram: best[ngram] for ngram in here if ngram in best})
        clipped.update(here & best)

    def listed(kind: str, by: NGrams, limit: int | None) -> NGramTable:
        ngrams = list(by) if limit is None else [ngram for ngram, _ in by.most_common(limit)]
        rows = tuple(NGramRow(ngram, counts[ngram], in_references[ngram], clipped[ngram]) for ngram in ngrams)
        return NGramTable(kind, rows, len(by) - len(rows), by.total() - sum(by[ngram] for ngram in ngrams))

    if most is None:
        return (listed("all", counts, None),)
    return listed("lost", counts - clipped, most), listed("gained", clipped, most)


def orders_of(metric: Bleu, score: BleuScore, cuts: Sequence[TokenizedLine], most: int | None) -> Iterator[OrderCounts]:
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
        yield OrderCounts(
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


def length_of(texts: Sequence[list[str] | None]) -> int | None:
    there = [len(tokens) for tokens in texts if tokens is not None]
    return sum(there) if there else None


def fraction(order: OrderCounts) -> str:
    """Matches of n-grams, as smoothing counts them: 0.5/5."""
    return f"{order.matches:.6g}/{order.ngrams:.12g}"
