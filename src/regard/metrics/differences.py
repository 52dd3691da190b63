"""Comparison of two systems: the lines and the n-grams in which they differ most (after Neubig et al., 2019,
"compare-mt: A Tool for Holistic Comparison of Language Generation Systems").

    line by line   the score of each line for both systems; how often each is better, and where by most
    n-grams        how often each system matches them in a reference; those with the largest ratio
                   (matches of one + 1) / (matches of the other + 1)

`significance.py` tests whether a difference is more than chance. `show/comparison.py` prints the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.metrics.base import Metric, References, Stats, Stream, checked_lines
from regard.metrics.bleu import MAX_ORDER, Bleu, NGrams, most_in_one_reference, ngram_counts
from regard.metrics.ngrams import Numbers, Ragged, TokenEncoder, tokens_of

DIGITS = 9  # decimal digits of a score that are compared; smaller differences are ties
FAR = 12  # maximum distance in characters within which a token is searched for
ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}  # decoded by the tokenizer 13a
Spans = tuple[tuple[int, int], ...]  # start and end of parts of a text
Pair = tuple[str, str]


@dataclass(frozen=True)
class DifferentLine:
    number: int  # counted from 1
    source: str | None
    references: tuple[str, ...]
    hypotheses: Pair
    scores: tuple[float, float]
    matched: tuple[Spans, Spans]  # the words of each hypothesis that are in a reference


@dataclass(frozen=True)
class DifferentNGram:
    words: str
    matches: tuple[int, int]  # one per system


@dataclass(frozen=True)
class Differences:
    """The differences between two systems. `lines` and `ngrams` are pairs: those in which the first system is better,
    and those in which the second is."""

    systems: Pair
    metric: str
    signature: str  # of the line scores
    higher_is_better: bool
    wins: int  # lines that the first system wins, of all lines
    ties: int
    losses: int
    lines: tuple[tuple[DifferentLine, ...], tuple[DifferentLine, ...]]
    ngrams: tuple[tuple[DifferentNGram, ...], tuple[DifferentNGram, ...]]

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as a dictionary for JSON."""
        return asdict(self)


def differences(
    metric: Metric,
    names: Pair,
    hypotheses: tuple[Sequence[str], Sequence[str]],
    stats: tuple[Stats, Stats],
    references: References,
    source: Sequence[str] | None = None,
    most: int = 10,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Differences:
    """Finds the `most` lines and n-grams that favor each of two systems most; `stats` were counted by `metric`.

    Ties between lines keep the order of the text. `tokenize` and `lowercase` apply to the words of n-grams and of
    `DifferentLine.matched`; the scores are the metric's own.
    """
    if most < 0:
        raise InputError(f"the number of differences to show must be 0 or more, but is {most}")
    (first, streams), (second, _) = (checked_lines(lines, references) for lines in hypotheses)
    counted = [(f'"{name}" as it was counted', len(some)) for name, some in zip(names, stats, strict=True)]
    for what, length in [*counted, *([] if source is None else [("the source", len(source))])]:
        if length != len(first):
            raise InputError(
                f'{what} has {length:,} lines, but "{names[0]}" has {len(first):,}; '
                "give files that belong together line by line"
            )
    one_line = per_line(metric)
    scores = tuple(one_line.scores(some.rows) for some in stats)
    lead = np.round(scores[0] - scores[1], DIGITS) * (1 if metric.higher_is_better else -1)

    def line(at: int) -> DifferentLine:
        there = tuple(stream[at] for stream in streams)
        present = tuple(reference for reference in there if reference is not None)
        pair = (first[at], second[at])
        one, other = (matched_spans(text, present, tokenize, lowercase) for text in pair)
        numbers = (float(scores[0][at]), float(scores[1][at]))
        return DifferentLine(at + 1, None if source is None else source[at], present, pair, numbers, (one, other))

    ahead, behind = (tuple(map(line, largest(gap, most))) for gap in (lead, -lead))
    return Differences(
        systems=names,
        metric=metric.name,
        signature=one_line.signature(stats[0].references),
        higher_is_better=metric.higher_is_better,
        wins=int((lead > 0).sum()),
        ties=int((lead == 0).sum()),
        losses=int((lead < 0).sum()),
        lines=(ahead, behind),
        ngrams=different_ngrams((first, second), streams, most, tokenize, lowercase),
    )


def per_line(metric: Metric) -> Metric:
    """The metric for single lines. BLEU leaves out orders longer than the line, as in sacreBLEU."""
    return replace(metric, effective_order=True) if isinstance(metric, Bleu) else metric


def largest(gaps: NDArray[np.float64], most: int) -> list[int]:
    """The indices of the largest positive gaps, at most `most`; ties keep their order.

    >>> largest(np.array([1.0, 0.0, 5.0, -2.0, 1.0]), 3)
    [2, 0, 4]
    """
    order = np.argsort(-gaps, kind="stable")[:most]
    best: list[int] = order[gaps[order] > 0].tolist()
    return best


def matched_spans(line: str, references: Sequence[str], tokenize: str = "13a", lowercase: bool = False) -> Spans:
    """The spans of the words of `line` that match a reference, from the left, at most as often as in one reference.

    Tokenizers may change characters; a token that is not found in the line is left out. For display only.

    >>> matched_spans("a cat, a cat", ["the cat."])
    ((2, 5),)
    """
    left = most_in_one_reference(ngram_counts(tokens_of(some, tokenize, lowercase), 1) for some in references)
    lowered = line.lower()
    text = lowered if lowercase and len(lowered) == len(line) else line  # lowercasing makes a few characters longer
    marks = text
    for entity, mark in ENTITIES.items():
        marks = marks.replace(entity, mark.ljust(len(entity), "\0"))  # keeps all positions
    spans: list[tuple[int, int]] = []
    end = 0
    for token in tokens_of(line, tokenize, lowercase):
        word = token.lstrip("▁") or token  # SentencePiece's mark of a word start
        begin = next((at for at in (marks.find(word, end), text.find(word, end)) if at >= 0), -1)
        if begin < 0 or len(text[end:begin].strip()) > FAR:
            continue
        end = begin + len(word)
        while marks[end : end + 1] == "\0":
            end += 1
        if left[(token,)] > 0:
            left[(token,)] -= 1
            touching = bool(spans) and spans[-1][1] == begin
            begin = spans.pop()[0] if touching else begin
            spans.append((begin, end))
    return tuple(spans)


# ------------------------------------------------------------------------------------------------ n-grams


def ngram_matches(
    hypotheses: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]], order: int = MAX_ORDER
) -> NGrams:
    """The number of matches of each n-gram in one system, summed over lines: the definition. In each line an n-gram
    counts as often as in the hypothesis, but at most as often as in the reference that has it most often. `hypotheses`
    are tokens line by line, `references` are tokens line by line for each stream.

    >>> ngram_matches([["a", "a", "b"], ["a"]], [[["a", "b"], ["a", "c"]]], order=2)
    Counter({('a',): 2, ('b',): 1, ('a', 'b'): 1})
    """
    found: NGrams = Counter()
    for hypothesis, *some in zip(hypotheses, *references, strict=True):
        for n in range(1, order + 1):
            found.update(ngram_counts(hypothesis, n) & most_in_one_reference(ngram_counts(one, n) for one in some))
    return found


def different_ngrams(
    hypotheses: tuple[Sequence[str], Sequence[str]],
    streams: Sequence[Stream],
    most: int,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> tuple[tuple[DifferentNGram, ...], tuple[DifferentNGram, ...]]:
    """The n-grams of 1 … 4 words that match more often in one system than in the other, sorted by the ratio of their
    matches with 1 added to each, then by the difference, by length (short first), and alphabetically."""
    encoder = TokenEncoder(tokenize, lowercase)
    references = [["" if line is None else line for line in stream] for stream in streams]
    encoded = [encoder.encode(lines) for lines in (*references, *hypotheses)]
    sizes, places, matches = _all_matches(encoded[-2:], encoded[:-2], MAX_ORDER)
    texts = _TokensAt([line for lines in references for line in lines], encoded[:-2], tokenize, lowercase)

    def best(ours: Numbers, theirs: Numbers) -> list[int]:
        more = np.flatnonzero(ours > theirs)
        ratio, gap = (ours[more] + 1) / (theirs[more] + 1), ours[more] - theirs[more]
        ordered = np.lexsort((-gap, -ratio))[:most]
        if not len(ordered):
            return []
        last = ordered[-1]  # ties are broken by the words
        good = np.flatnonzero((ratio > ratio[last]) | ((ratio == ratio[last]) & (gap >= gap[last])))
        words = {at: texts.at(int(places[more[at]]), int(sizes[more[at]])) for at in good.tolist()}
        chosen = sorted(words, key=lambda at: (-ratio[at], -gap[at], len(words[at]), words[at]))[:most]
        return [int(more[at]) for at in chosen]

    def shown(at: int) -> DifferentNGram:
        words = texts.at(int(places[at]), int(sizes[at]))
        return DifferentNGram(" ".join(words), (int(matches[0, at]), int(matches[1, at])))

    ahead, behind = best(matches[0], matches[1]), best(matches[1], matches[0])
    return tuple(map(shown, ahead)), tuple(map(shown, behind))


def _all_matches(
    systems: Sequence[Ragged], references: Sequence[Ragged], order: int
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """`ngram_matches` of many lines and several systems at once. Returns, for each n-gram that matches anywhere: its n,
    a position in the concatenated reference streams where it starts, and its matches (systems, n-grams).

    As in `ngrams.matching`, an (n+1)-gram is a pair of overlapping n-grams and matches only if both do; here the ids of
    n-grams are also the same in all lines."""
    streams = (*references, *systems)  # references first, so that the first occurrence of a match is in a reference
    lines = len(streams[0])
    tokens = np.concatenate([some.flat for some in streams]).astype(np.int64)
    line = np.concatenate([np.repeat(np.arange(lines), some.lengths) for some in streams])
    stream = np.repeat(np.arange(len(streams)), [len(some.flat) for some in streams])
    same_line = (line[1:] == line[:-1]) & (stream[1:] == stream[:-1])  # as the token before

    found: list[tuple[Numbers, Numbers, NDArray[Any]]] = []
    place, gram = np.arange(len(tokens)), tokens  # starts of the candidate n-grams, and an id for each
    for n in range(1, order + 1):
        grams, first, number = np.unique(gram, return_index=True, return_inverse=True)
        in_line, which = np.unique(number * lines + line[place], return_inverse=True)  # each n-gram of each line
        owner = stream[place]
        counts = [np.bincount(which[owner == s], minlength=len(in_line)) for s in range(len(streams))]
        limit = np.maximum.reduce(counts[: len(references)])
        clipped: NDArray[np.int64] = np.minimum(counts[len(references) :], limit)  # (systems, n-grams of lines)
        matches = np.stack([np.bincount(in_line // lines, weights=some, minlength=len(grams)) for some in clipped])
        matching = matches.max(axis=0) > 0
        found.append((np.full(matching.sum(), n), place[first[matching]], matches[:, matching]))

        in_play = (clipped.max(axis=0) > 0)[which]
        number_at = np.full(len(tokens), -1)
        number_at[place[in_play]] = number[in_play]
        place = np.flatnonzero(same_line & (number_at[1:] >= 0) & (number_at[:-1] >= 0))
        gram = number_at[place] * len(grams) + number_at[place + 1]
    sizes, places, all_matches = zip(*found, strict=True)
    return np.concatenate(sizes), np.concatenate(places), np.concatenate(all_matches, axis=1).astype(np.int64)


class _TokensAt:
    """The words at a position among all tokens of some lines; each line is tokenized on first use."""

    def __init__(self, lines: Sequence[str], encoded: Sequence[Ragged], tokenize: str, lowercase: bool) -> None:
        self._lines, self._tokenize, self._lowercase = lines, tokenize, lowercase
        self._ends = np.cumsum(np.concatenate([some.lengths for some in encoded]))
        self._cut: dict[int, list[str]] = {}

    def at(self, place: int, n: int) -> tuple[str, ...]:
        line = int(np.searchsorted(self._ends, place, side="right"))
        if line not in self._cut:
            self._cut[line] = tokens_of(self._lines[line], self._tokenize, self._lowercase)
        tokens = self._cut[line]
        begin = place - (int(self._ends[line]) - len(tokens))
        return tuple(tokens[begin : begin + n])
