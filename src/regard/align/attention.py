"""Cross-attention in words: from weights between subwords to weights between the words a person sees.

    T decoder positions   S source subwords, then EOS   W target words   V source words

    words = Rᵀ · A · C      A (T, S) attention, C (S, V) and R (T, W) which subword is part of which word

C shares a source subword's weight among its words, so the weights of a row to words and to EOS still sum to 1. R
averages the rows of a target word's subwords. EOS is not a word: its column is dropped and its weight is returned
separately, together with that of a tag before the source (`beyond_tag`).

A row has two possible meanings, and the choice can matter as much as the layer. The input of decoder position t is
token t−1 and its output is token t: *predicting* assigns the row to token t, *having-read* to token t−1.

Whether attention is a good alignment is measured in `explain/alignment.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.text.words import Span, WordsOf, subword_shares, word_spans

if TYPE_CHECKING:
    from torch import Tensor

Link = tuple[int, int]  # source word, target word, counted from 0
RowMeaning = Literal["predicting", "having-read"]
ROW_MEANINGS: tuple[RowMeaning, ...] = ("predicting", "having-read")


@dataclass(frozen=True)
class View:
    """Selects one of a model's attention maps. Layers and heads count from 0 here and from 1 in printed output."""

    layer: int
    head: int | None = None  # None: the mean of all heads
    row: RowMeaning = "predicting"

    def __str__(self) -> str:
        head = "mean of heads" if self.head is None else f"head {self.head + 1}"
        return f"layer {self.layer + 1} · {head} · {self.row.replace('-', ' ')}"


@dataclass(frozen=True)
class WordAttention:
    """The attention weights from each target word to each source word."""

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    weights: NDArray[np.float64]  # (W, V); NaN in the row of a target word that no subword belongs to
    eos_mass: NDArray[np.float64]  # (W,) weight on the end of the source instead of on a word
    hidden_name: str = "EOS"  # name of the tokens that are counted in `eos_mass`

    @cached_property
    def coverage(self) -> list[float]:
        """The weight that each source word received from all target words."""
        total: list[float] = self.weights.sum(axis=0).tolist()
        if not all(map(math.isfinite, total)):  # a target word without a subword has a row of NaN
            total = np.nan_to_num(self.weights).sum(axis=0).tolist()
        return total


def beyond_tag(weights: NDArray[np.float64], tag: str | None) -> NDArray[np.float64]:
    """Removes the tag column: weights (…, S), tag first → (…, S − 1), its mass added to EOS, the last column.

    >>> beyond_tag(np.array([[0.25, 0.5, 0.25]]), "<en>").tolist()
    [[0.5, 0.5]]
    """
    if tag is None:
        return weights
    rest = weights[..., 1:].copy()
    rest[..., -1] += weights[..., 0]
    return rest


def word_attention(
    weights: Tensor | NDArray[Any],
    source_spans: Sequence[Span],
    target_spans: Sequence[Span],
    source_text: str,
    target_text: str,
    row: RowMeaning = "predicting",
    words: WordsOf = word_spans,
) -> WordAttention:
    """Converts one map (T, S) to words. Spans are the character spans of the subwords, without EOS; T covers EOS (only
    with *predicting* may it stop before EOS), and the last column of S is EOS. Padding must be cut off.

    >>> a = word_attention(np.array([[0.2, 0.7, 0.1], [0, 0, 1]]), [(0, 2), (2, 4)], [(0, 4)], "cats", "chat")
    >>> a.source_words, a.target_words, a.weights.round(2).tolist(), a.eos_mass.tolist()
    (('cats',), ('chat',), [[0.9]], [0.1])
    """
    source_words, target_words = words(source_text), words(target_text)
    columns, rows = _first_subwords(source_spans, source_words), _first_subwords(target_spans, target_words)
    if columns and rows:
        array = _rows(_to_numpy(weights), len(source_spans), len(target_spans), row)  # (subwords of target, S)
        if math.isfinite(array.sum()):
            return WordAttention(
                tuple([source_text[start:end] for start, end in source_words]),
                tuple([target_text[start:end] for start, end in target_words]),
                *_group_means(array, columns, rows),
            )
    return _merge(
        weights, _WordShares.of(source_text, source_spans, words), _WordShares.of(target_text, target_spans, words), row
    )


def _first_subwords(subwords: Sequence[Span], words: Sequence[Span]) -> list[int] | None:
    """Returns the index of the first subword of each word, if each has one, and every subword is within one word, is a
    space that belongs to the word after it (`subword_shares`) or an empty one before the first word; else None."""
    firsts: list[int] = []
    begin = stop = before = 0  # span of the word, and end of the one before
    remaining = iter(words)
    for i, (start, end) in enumerate(subwords):
        if start >= stop:
            before, (begin, stop) = stop, next(remaining, (0, 0))
            firsts.append(i)
        in_word = begin <= start < end <= stop or i == start == end == begin < stop
        if not in_word and not (start < end <= begin <= end + start - before):
            return None
    return firsts if len(firsts) == len(words) else None


def _group_means(
    rows: NDArray[np.float64], columns: Sequence[int], firsts: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Like `_merge`, from rows (subwords of target, S) and the first subword of each word of the source and of the
    target (`_first_subwords`): weights (W, V), and weight on EOS (W,)."""
    to_words = np.add.reduceat(rows, [*columns, rows.shape[1] - 1], axis=1)  # (subwords of target, V + 1)
    counts = np.array([*firsts[1:], len(rows)]) - firsts
    means = np.add.reduceat(to_words, firsts, axis=0) / counts[:, None]  # (W, V + 1)
    return means[:, :-1], means[:, -1]


def views_of(
    cross: Sequence[NDArray[np.float64]],
    source_spans: Sequence[Span],
    target_spans: Sequence[Span],
    source_text: str,
    target_text: str,
    words: WordsOf = word_spans,
) -> dict[View, WordAttention]:
    """Returns all views of a sentence: each layer × (mean of heads, each head) × both meanings of a row.

    `cross` holds one array (H, T, S) per layer, without padding; T must cover the target's EOS.
    """
    source, target = _WordShares.of(source_text, source_spans, words), _WordShares.of(target_text, target_spans, words)
    views = {}
    for layer, heads in enumerate(cross):
        for head in (None, *range(len(heads))):
            weights = heads.mean(axis=0) if head is None else heads[head]  # (T, S)
            for row in ROW_MEANINGS:
                views[View(layer, head, row)] = _merge(weights, source, target, row)
    return views


def hard_links(attention: WordAttention) -> set[Link]:
    """Links each target word to the source word of the largest weight; no link if the row is empty, zero or NaN."""
    return {(source, target) for target, source in best_sources(attention)}


def best_sources(attention: WordAttention) -> list[tuple[int, int]]:
    """Returns the links of `hard_links` as pairs (target word, source word), in the order of the target."""
    weights = attention.weights
    if not weights.size:
        return []
    largest, best = weights.max(axis=1).tolist(), weights.argmax(axis=1).tolist()
    return [(target, best[target]) for target, weight in enumerate(largest) if 0 < weight < math.inf]


@dataclass(frozen=True)
class _WordShares:
    words: tuple[str, ...]
    shares: NDArray[np.float64]  # (subwords, words)

    @classmethod
    def of(cls, text: str, subwords: Sequence[Span], words: WordsOf) -> _WordShares:
        spans = words(text)
        return cls(tuple(text[start:end] for start, end in spans), subword_shares(subwords, spans))


def _merge(weights: Tensor | NDArray[Any], source: _WordShares, target: _WordShares, row: RowMeaning) -> WordAttention:
    attention = _rows(_to_numpy(weights), len(source.shares), len(target.shares), row)  # (subwords of target, S)
    with np.errstate(invalid="ignore"):  # rows with NaN stay NaN; the renderer refuses them
        to_words = attention[:, :-1] @ source.shares  # (subwords of target, V)
    off_words = attention[:, -1] if source.words else attention.sum(axis=1)  # a source may have no words at all
    rows = np.column_stack([to_words, off_words])
    merged = _means(rows, target.shares) if np.isfinite(rows).all() else _means_of_each(rows, target.shares)
    return WordAttention(source.words, target.words, merged[:, :-1], merged[:, -1])


def _means(rows: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weighted mean of rows (subwords, …) for each word by shares (subwords, words); NaN for a word without any."""
    totals = shares.sum(axis=0)[:, None]
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = shares.T @ rows / np.where(totals > 0, totals, np.nan)
    return means


def _means_of_each(rows: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """`_means` word by word, so that a row that is not finite affects only its own word."""
    parts = [share > 0 for share in shares.T]
    means = [_means(rows[part], share[part, None])[0] for part, share in zip(parts, shares.T, strict=True)]
    return np.array(means).reshape(len(parts), rows.shape[1])


def _rows(weights: NDArray[np.float64], source: int, target: int, row: RowMeaning) -> NDArray[np.float64]:
    """Returns the attention row of each target subword, by the given row meaning."""
    if row not in ROW_MEANINGS:
        raise InputError(f'row must be {" or ".join(ROW_MEANINGS)}, but is "{row}"')
    first = 0 if row == "predicting" else 1
    enough = weights.ndim == 2 and target + first <= weights.shape[0] <= target + 1
    if not enough or weights.shape[1] != source + 1:
        raise InputError(
            f"an attention map from {target} target subwords ({row}) to {source} source subwords must be"
            f" {target + 1} × {source + 1}, EOS included, but is {' × '.join(map(str, weights.shape))}"
        )
    return weights[first : first + target]


def _to_numpy(weights: Any) -> NDArray[np.float64]:
    """Converts a tensor on any device in any precision to an array, without importing torch."""
    if hasattr(weights, "detach"):
        weights = weights.detach().cpu().double().numpy()
    return np.asarray(weights, dtype=np.float64)
