"""Sentence pairs as word numbers in temporary files: the training data of the aligners.

EM reads a corpus many times. It is numbered once and written to a file in the system's temporary folder (`TMPDIR`), so
that RAM holds the vocabulary and some twenty bytes per pair, however long the sentences are. Aligners work on groups:
arrays of pairs whose sources have the same number of words, so that only the targets are padded.

Axes: B sentence pairs of one group, I source words (I + 1 with NULL), T target words. Words are compared without case.
This file learns nothing; `ibm.py` and `hmm.py` do.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from regard.errors import InputError
from regard.text.words import split_words

Link = tuple[int, int]  # (source word, target word), counted from 0
Text = str | Sequence[str]  # a line, or words already split
Numbers = NDArray[np.int64]

NULL = ""  # the empty word, source word number 0; no text contains it
CELLS = 1 << 20  # maximum B × T × (I + 1) of one group
CHUNK = 10_000  # pairs that are read or aligned at a time


def words_of(text: Text) -> list[str]:
    """
    >>> words_of("L'homme dort.")
    ["l'", 'homme', 'dort', '.']
    """
    return [word.casefold() for word in (split_words(text) if isinstance(text, str) else text)]


def align_in_chunks(
    pairs: Iterable[tuple[Text, Text]], align: Callable[[list[tuple[Text, Text]]], list[list[Link]]]
) -> Iterator[list[Link]]:
    """Yields the links of each pair, in order, with at most CHUNK pairs in memory."""
    stream = iter(pairs)
    while chunk := list(islice(stream, CHUNK)):
        yield from align(chunk)


class DiskArray:
    """An array in a temporary file, written by appending and read in parts."""

    def __init__(self, dtype: DTypeLike) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (unnamed, closed with this object)
        weakref.finalize(self, self._file.close)

    def append(self, values: NDArray[Any] | array[int]) -> None:
        """Appends values; raises InputError if the disk is full."""
        left = memoryview(np.asarray(values, dtype=self.dtype).tobytes())
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as problem:
            raise InputError(
                f"cannot write temporary files in {tempfile.gettempdir()}: {problem.strerror or problem}; "
                "set TMPDIR to a folder with more space"
            ) from None

    def read(self, start: int, count: int) -> NDArray[Any]:
        """Reads `count` values from index `start`."""
        self._file.seek(start * self.dtype.itemsize)
        return np.fromfile(self._file, self.dtype, count)

    def mapped(self) -> NDArray[Any]:
        """Returns the whole array, memory-mapped."""
        return np.memmap(self._file, self.dtype, mode="r")


# ------------------------------------------------------------------------------------------------ groups


@dataclass(frozen=True)
class Group:
    """Sentence pairs whose sources have the same number of words. Shorter targets are padded."""

    pairs: Numbers  # (B,) the indices of these sentence pairs
    source: Numbers  # (B, I + 1), NULL first
    target: Numbers  # (B, T)
    mask: NDArray[np.bool_]  # (B, T), True at a word


class Sentences(NamedTuple):
    """Sentences as word numbers, concatenated."""

    numbers: NDArray[Any]
    lengths: Numbers

    @classmethod
    def of(cls, lines: Sequence[Sequence[int]]) -> Sentences:
        """Concatenates lists of numbers."""
        flat = np.array([number for line in lines for number in line], dtype=np.int64)
        return cls(flat, np.array([len(line) for line in lines], dtype=np.int64))

    def starts(self) -> Numbers:
        """Returns the index in `numbers` where each sentence begins."""
        return np.cumsum(self.lengths) - self.lengths


def grouped(source: Sentences, target: Sentences, cells: int | None = None) -> Iterator[Group]:
    """Groups all pairs that have words on both sides; a group has at most `cells` cells or is a single pair."""
    source_starts, target_starts = source.starts(), target.starts()
    for pairs in _members(source.lengths, target.lengths, cells or CELLS):
        words = source_starts[pairs][:, None] + np.arange(source.lengths[pairs[0]])  # (B, I)
        lengths = target.lengths[pairs]
        inside = np.arange(lengths.max())
        mask = inside < lengths[:, None]  # (B, T)
        made = np.zeros(mask.shape, dtype=np.int64)
        made[mask] = target.numbers[(target_starts[pairs][:, None] + inside)[mask]]
        yield Group(pairs, np.pad(source.numbers[words].astype(np.int64), ((0, 0), (1, 0))), made, mask)


def _members(source_lengths: Numbers, target_lengths: Numbers, cells: int) -> Iterator[Numbers]:
    """Yields the pairs of each group, sorted by source length, then target length, then position."""
    order = np.lexsort((target_lengths, source_lengths))  # a stable sort
    order = order[(source_lengths[order] > 0) & (target_lengths[order] > 0)]
    start = 0
    while start < len(order):
        width = int(source_lengths[order[start]])
        area = (width + 1) * int(target_lengths[order[start]])
        window = order[start : start + max(1, cells // area)]
        sizes = (width + 1) * target_lengths[window] * np.arange(1, len(window) + 1)  # cells of a group that ends there
        fits = (sizes <= cells) & (source_lengths[window] == width)
        end = start + max(1, int(fits.argmin()) if not fits.all() else len(window))
        yield order[start:end]
        start = end


# ------------------------------------------------------------------------------------------------ corpora


@dataclass(frozen=True)
class NumberedPairs:
    """Sentence pairs with words on both sides. Iterating yields them as words, any number of times."""

    source_words: tuple[str, ...]  # in the order in which they first occur
    target_words: tuple[str, ...]
    source: Sentences
    target: Sentences

    @classmethod
    def of(cls, pairs: Iterable[tuple[Text, Text]]) -> NumberedPairs:
        """Numbers the pairs, which are read once."""
        sides = (_Side(), _Side())
        for source, target in pairs:
            words = words_of(source), words_of(target)
            if words[0] and words[1]:
                sides[0].add(words[0])
                sides[1].add(words[1])
        if not sides[0].lengths:
            raise InputError("an aligner learns from sentence pairs with words on both sides, but was given none")
        return cls(tuple(sides[0].vocabulary), tuple(sides[1].vocabulary), sides[0].done(), sides[1].done())

    def swapped(self) -> NumberedPairs:
        """Returns these pairs with source and target exchanged."""
        return NumberedPairs(self.target_words, self.source_words, self.target, self.source)

    def __len__(self) -> int:
        return len(self.source.lengths)

    def __iter__(self) -> Iterator[tuple[list[str], list[str]]]:
        sides = ((self.source_words, self.source), (self.target_words, self.target))
        return zip(*(_lines(words, sentences) for words, sentences in sides), strict=True)

    def groups(self) -> Iterator[Group]:
        """Yields the pairs in groups, where source word n has the number n + 1, because NULL is 0."""
        for group in grouped(self.source, self.target):
            group.source[:, 1:] += 1
            yield group


class _Side:
    """One side of a corpus while it is numbered."""

    def __init__(self) -> None:
        self.vocabulary: dict[str, int] = {}
        self.lengths = array("i")
        self._numbers, self._latest = DiskArray(np.int32), array("i")

    def add(self, words: list[str]) -> None:
        vocabulary = self.vocabulary
        self._latest.extend([vocabulary.setdefault(word, len(vocabulary)) for word in words])
        self.lengths.append(len(words))
        if len(self._latest) >= CELLS:
            self._write()

    def _write(self) -> None:
        self._numbers.append(self._latest)
        self._latest = array("i")

    def done(self) -> Sentences:
        self._write()
        return Sentences(self._numbers.mapped(), np.array(self.lengths, dtype=np.int64))


def _lines(words: tuple[str, ...], sentences: Sentences) -> Iterator[list[str]]:
    start = 0
    for first in range(0, len(sentences.lengths), CHUNK):
        lengths = sentences.lengths[first : first + CHUNK].tolist()
        numbers = sentences.numbers[start : start + sum(lengths)].tolist()
        start += len(numbers)
        at = 0
        for length in lengths:
            yield [words[n] for n in numbers[at : at + length]]
            at += length
