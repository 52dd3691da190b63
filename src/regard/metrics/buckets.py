"""Scores on parts of a test set: on groups of lines, or on words of similar frequency
(after Neubig et al., 2019, "compare-mt: A Tool for Holistic Comparison of Language Generation Systems").

    lines ─ by_length, by_tags ─▶ Buckets ─ bucket_scores(metric, counts of each system) ─▶ bucket × system
    words ─ by their frequency in some text ─ word_frequency ─▶ precision and recall, bucket × system

The score of a bucket is computed from rows that are already counted (`base.Stats`). Words do not add up to lines, so
`word_frequency` counts them itself. `show/comparison.py` prints the tables.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import Metric, References, Score, Stats, checked_lines
from regard.metrics.ngrams import Numbers, Ragged, TokenEncoder

LENGTH_EDGES = (10, 20, 30, 40, 50, 60)
FREQUENCY_EDGES = (1, 2, 3, 4, 5, 10, 100, 1000)
NO_TAG = "(none)"
CHUNK = 2048  # lines counted at a time


# ------------------------------------------------------------------------------------------------ groups of lines


@dataclass(frozen=True)
class Buckets:
    """Lines grouped by a criterion. A bucket may be empty, and a line may be in several."""

    by: str  # the criterion: "source length", "tags"
    lines: int  # number of lines in the whole text
    labels: tuple[str, ...]
    members: tuple[Numbers, ...]  # the lines of each bucket, counted from 0


def by_length(lines: Sequence[str], edges: Sequence[int] | None = None, by: str = "length") -> Buckets:
    """Groups lines by their number of words between spaces; a bucket starts at each edge, the first one at 0.

    >>> buckets = by_length(["a b c", "", "a", "a b"], edges=(1, 2))
    >>> dict(zip(buckets.labels, (some.tolist() for some in buckets.members)))
    {'0': [1], '1': [2], '2+': [0, 3]}
    """
    edges = LENGTH_EDGES if edges is None else edges
    labels = interval_labels(edges)
    lengths = np.fromiter((len(line.split()) for line in lines), np.int64, len(lines))
    bucket = _buckets_of(lengths, edges)
    return Buckets(by, len(lines), labels, tuple(np.flatnonzero(bucket == b) for b in range(len(labels))))


def by_tags(tag_lines: Sequence[str], by: str = "tags") -> Buckets:
    """Groups lines by their tags, separated by spaces or commas; a line with two tags is in two buckets. Labels are in
    alphabetical order; lines without a tag come last.

    >>> by_tags(["plural, past", "past", ""]).labels
    ('past', 'plural', '(none)')
    """
    members: dict[str, list[int]] = {}
    for number, line in enumerate(tag_lines):
        for tag in dict.fromkeys(line.replace(",", " ").split() or [NO_TAG]):
            members.setdefault(tag, []).append(number)
    labels = tuple(sorted(members, key=lambda tag: (tag == NO_TAG, tag)))
    return Buckets(by, len(tag_lines), labels, tuple(np.array(members[label], dtype=np.int64) for label in labels))


def interval_labels(edges: Sequence[int]) -> tuple[str, ...]:
    """
    >>> interval_labels([1, 2, 10])
    ('0', '1', '2–9', '10+')
    """
    begin = [0, *edges]
    if len(begin) == 1 or any(one >= other for one, other in pairwise(begin)):
        given = ",".join(map(str, edges)) or "none"
        raise InputError(
            f"edges must be whole numbers from 1 on, each larger than the last, but are {given}; try 10,20,30"
        )
    return (*(str(a) if a == b - 1 else f"{a}–{b - 1}" for a, b in pairwise(begin)), f"{begin[-1]}+")


def _buckets_of(numbers: NDArray[Any], edges: Sequence[int]) -> Numbers:
    """The bucket of each number, counted from 0."""
    fitting = [min(edge, 2**62) for edge in edges]  # no count is larger
    return np.searchsorted(fitting, numbers, side="right").astype(np.int64)


# ------------------------------------------------------------------------------------------------ scores of lines


@dataclass(frozen=True)
class BucketRow:
    label: str
    lines: int
    scores: tuple[Score, ...]  # one per system


@dataclass(frozen=True)
class BucketTable:
    """A table of scores, bucket × system, without empty buckets."""

    metric: str
    by: str
    higher_is_better: bool
    systems: tuple[str, ...]
    rows: tuple[BucketRow, ...]
    whole: BucketRow  # all lines together

    def to_dict(self) -> dict[str, Any]:
        """Returns the table as a dictionary for JSON."""

        def row(one: BucketRow) -> dict[str, Any]:
            scores = {name: score.to_dict() for name, score in zip(self.systems, one.scores, strict=True)}
            return {"label": one.label, "lines": one.lines, "scores": scores}

        return {
            "metric": self.metric,
            "by": self.by,
            "higher_is_better": self.higher_is_better,
            "systems": list(self.systems),
            "buckets": [row(one) for one in self.rows],
            "whole": row(self.whole),
        }


def bucket_scores(metric: Metric, systems: Mapping[str, Stats], buckets: Buckets) -> BucketTable:
    """The score of each system on the lines of each bucket."""
    for name, stats in systems.items():
        if len(stats) != buckets.lines:
            raise InputError(
                f'"{name}" has {len(stats):,} lines, but the text that buckets are made from ({buckets.by}) has '
                f"{buckets.lines:,}; give two files that belong together line by line"
            )

    def row(label: str, members: Numbers) -> BucketRow:
        scores = tuple(metric.score(stats[members]) for stats in systems.values())
        return BucketRow(label, len(members), scores)

    rows = zip(buckets.labels, buckets.members, strict=True)
    return BucketTable(
        metric=metric.name,
        by=buckets.by,
        higher_is_better=metric.higher_is_better,
        systems=tuple(systems),
        rows=tuple(row(label, members) for label, members in rows if len(members)),
        whole=row("all", np.arange(buckets.lines)),
    )


# ------------------------------------------------------------------------------------------------ groups of words


@dataclass(frozen=True)
class WordCounts:
    """Words of one bucket in one system's translations. Precision, recall and F1 are 0–100, and 0 without words."""

    reference: int
    hypothesis: int
    matches: int  # per line, the smaller of the two counts

    @property
    def precision(self) -> float:
        return 100 * self.matches / max(1, self.hypothesis)

    @property
    def recall(self) -> float:
        return 100 * self.matches / max(1, self.reference)

    @property
    def f1(self) -> float:
        return 200 * self.matches / max(1, self.hypothesis + self.reference)

    def to_dict(self) -> dict[str, float]:
        counts = {"reference": self.reference, "hypothesis": self.hypothesis, "matches": self.matches}
        return {**counts, "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass(frozen=True)
class FrequencyTable:
    """A table of word counts, bucket × system, without empty buckets."""

    counted_in: str  # the text in which frequencies are counted
    systems: tuple[str, ...]
    rows: tuple[tuple[str, tuple[WordCounts, ...]], ...]  # label, and the counts of each system

    def to_dict(self) -> dict[str, Any]:
        """Returns the table as a dictionary for JSON."""
        return {
            "by": "word frequency",
            "counted_in": self.counted_in,
            "systems": list(self.systems),
            "buckets": [
                {"label": label, "words": {n: one.to_dict() for n, one in zip(self.systems, counts, strict=True)}}
                for label, counts in self.rows
            ],
        }


def word_counts(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    frequency: Mapping[str, int],
    edges: Sequence[int],
) -> list[WordCounts]:
    """Counts the words of each bucket for one system, from tokens line by line: the definition.

    >>> word_counts([["the", "the", "cat"]], [["the", "cat", "sat"]], {"the": 9, "cat": 1}, edges=(1, 5))
    [WordCounts(reference=1, hypothesis=0, matches=0), WordCounts(reference=1, hypothesis=1, matches=1), \
WordCounts(reference=1, hypothesis=2, matches=1)]
    """
    counts = [[0, 0, 0] for _ in range(len(edges) + 1)]
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        in_hypothesis, in_reference = Counter(hypothesis), Counter(reference)
        for word in in_hypothesis | in_reference:
            bucket = counts[bisect_right(edges, frequency.get(word, 0))]
            bucket[0] += in_reference[word]
            bucket[1] += in_hypothesis[word]
            bucket[2] += min(in_reference[word], in_hypothesis[word])
    return [WordCounts(*bucket) for bucket in counts]


def word_frequency(
    systems: Mapping[str, Sequence[str]],
    references: References,
    counting_text: Iterable[str] | None = None,
    edges: Sequence[int] | None = None,
    tokenize: str = "13a",
    lowercase: bool = False,
    counted_in: str | None = None,
) -> FrequencyTable:
    """Precision and recall of words by their frequency in `counting_text`, for example the training text; by default
    in the references. `counted_in` names that text in the table.

    Only the first reference of a line is used, so that the reference words are the same for all systems and no recall
    exceeds 100. Tokens are those of BLEU with the same `tokenize` and `lowercase`.
    """
    if not systems:
        raise InputError("there are no systems to compare; give the translations of at least one")
    edges = FREQUENCY_EDGES if edges is None else edges
    labels = interval_labels(edges)
    checked = [checked_lines(hypotheses, references) for hypotheses in systems.values()]
    first = [next(line for line in some if line is not None) for some in zip(*checked[0][1], strict=True)]
    encoder = TokenEncoder(tokenize, lowercase)
    counted_in = counted_in or ("the references" if counting_text is None else "the text given")
    frequency = _frequencies(encoder, first if counting_text is None else counting_text)
    if not len(frequency):
        raise InputError(f"there are no words in {counted_in}, so no word has a frequency; give a text that has some")

    counts = np.zeros((len(systems), len(labels), 3), dtype=np.int64)  # (systems, buckets, fields of WordCounts)
    for i in range(0, len(first), CHUNK):
        reference = encoder.encode(first[i : i + CHUNK])
        for system, (lines, _) in enumerate(checked):
            hypothesis = encoder.encode(lines[i : i + CHUNK])
            counts[system] += _chunk_counts(hypothesis, reference, frequency, edges)
    used = np.flatnonzero(counts.any(axis=(0, 2))).tolist()
    rows = ((labels[b], tuple(WordCounts(*one) for one in counts[:, b].tolist())) for b in used)
    return FrequencyTable(counted_in, tuple(systems), tuple(rows))


def _frequencies(encoder: TokenEncoder, text: Iterable[str]) -> Numbers:
    """The number of occurrences of each token id; the text may be larger than memory."""
    frequency = np.zeros(0, dtype=np.int64)
    for chunk in _chunks(text):
        more = np.bincount(encoder.encode(chunk).flat, minlength=len(frequency))
        more[: len(frequency)] += frequency
        frequency = more
    return frequency


def _chunks(text: Iterable[str]) -> Iterator[list[str]]:
    lines = iter(text)
    while chunk := list(islice(lines, CHUNK)):
        yield chunk


def _chunk_counts(hypotheses: Ragged, references: Ragged, frequency: Numbers, edges: Sequence[int]) -> Numbers:
    """`word_counts` of many lines at once: (buckets, 3)."""

    def per_bucket(tokens: NDArray[Any], times: NDArray[Any] | None = None) -> NDArray[Any]:
        seen = tokens < len(frequency)  # later ids are not in the counting text
        often = np.where(seen, frequency[np.where(seen, tokens, 0)], 0)
        return np.bincount(_buckets_of(often, edges), weights=times, minlength=len(edges) + 1)

    lines = len(hypotheses)
    (words, times), (ref_words, ref_times) = (
        np.unique(some.flat * lines + np.repeat(np.arange(lines), some.lengths), return_counts=True)
        for some in (hypotheses, references)
    )  # each distinct word of each line, and its count
    shared, here, there = np.intersect1d(words, ref_words, assume_unique=True, return_indices=True)
    matches = per_bucket(shared // lines, np.minimum(times[here], ref_times[there]))
    columns = [per_bucket(references.flat), per_bucket(hypotheses.flat), matches]
    return np.column_stack(columns).astype(np.int64)
