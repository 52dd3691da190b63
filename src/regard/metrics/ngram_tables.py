"""Tables of n-grams: the count of each in the hypothesis and in a reference, and its credit.

The counts come from the definitions at the top of `bleu.py`. `Bleu.stats` computes the same sums faster, without
keeping the n-grams. `bleu_steps.py` uses the tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.metrics.base import Stream
from regard.metrics.bleu import Bleu, BleuScore, NGrams, most_in_one_reference, ngram_counts
from regard.metrics.ngrams import tokens_of


@dataclass(frozen=True)
class NGramRow:
    """One n-gram. For a corpus each number is the sum over lines, because clipping is done line by line."""

    ngram: tuple[str, ...]
    count: int  # in the hypothesis
    most: int  # in the one reference that has it most often
    clipped: int  # the smaller of the two: the credit


@dataclass(frozen=True)
class NGramTable:
    kind: str  # "all": in order of appearance; "lost" and "gained": by the credit lost or gained, descending
    rows: tuple[NGramRow, ...]
    more: int = 0  # number of n-grams that are not listed
    more_credit: int = 0  # credit that the unlisted n-grams lost or gained


@dataclass(frozen=True)
class OrderCounts:
    """The n-grams of one length."""

    n: int
    correct: int
    total: int
    matches: float  # `correct` and `total` after smoothing
    ngrams: float
    precision: float  # after smoothing, from 0 to 100
    weight: float  # in the mean; the weights of the counted orders sum to 1
    left_out: bool  # excluded by effective order
    tables: tuple[NGramTable, ...]


@dataclass(frozen=True)
class TokenizedLine:
    """The tokens of one line and its references."""

    number: int  # counted from 1
    hypothesis: list[str]
    streams: list[list[str] | None]  # None if the stream lacks the line

    @classmethod
    def of(cls, metric: Bleu, hypothesis: str, references: Stream, number: int) -> TokenizedLine:
        def tokens(text: str) -> list[str]:
            return tokens_of(text, metric.tokenize, metric.lowercase)

        return cls(number, tokens(hypothesis), [None if text is None else tokens(text) for text in references])

    @property
    def references(self) -> list[list[str]]:
        return [tokens for tokens in self.streams if tokens is not None]

    def counts(self, n: int) -> tuple[NGrams, NGrams]:
        """The n-gram counts of the hypothesis, and the largest count of each n-gram in a single reference."""
        most = most_in_one_reference(ngram_counts(reference, n) for reference in self.references)
        return ngram_counts(self.hypothesis, n), most


def ngram_tables(tokenized: Sequence[TokenizedLine], n: int, most: int | None) -> tuple[NGramTable, ...]:
    """All n-grams in order of appearance; with `most`, those that lost and those that gained most credit."""
    counts, in_references, clipped = NGrams(), NGrams(), NGrams()
    for row in tokenized:
        here, best = row.counts(n)
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


def orders_of(
    metric: Bleu, score: BleuScore, tokenized: Sequence[TokenizedLine], most: int | None
) -> Iterator[OrderCounts]:
    weights = metric.weights or (1 / metric.max_order,) * metric.max_order
    counted = [
        not metric.effective_order or total > 0 or precision > 0
        for total, precision in zip(score.total, score.precisions, strict=True)
    ]
    weight_sum = sum(weight for weight, included in zip(weights, counted, strict=True) if included)
    for n, correct, total, precision, weight, included in zip(
        range(1, metric.max_order + 1), score.correct, score.total, score.precisions, weights, counted, strict=True
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
            weight=weight / weight_sum if included and weight_sum > 0 else 0.0,
            left_out=not included,
            tables=ngram_tables(tokenized, n, most),
        )


def length_of(texts: Sequence[list[str] | None]) -> int | None:
    lengths = [len(tokens) for tokens in texts if tokens is not None]
    return sum(lengths) if lengths else None


def fraction(order: OrderCounts) -> str:
    """Matches over n-grams after smoothing, such as 0.5/5."""
    return f"{order.matches:.6g}/{order.ngrams:.12g}"
