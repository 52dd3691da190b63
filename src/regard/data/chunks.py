"""Encodes the texts of chunks of pairs as ids, in one process or in several.

    read_pairs ─ chunks ─ Filters.texts ─▶ TextChunk ─ ChunkEncoder ─▶ EncodedChunk ─▶ files of `encode.py`

The result of a chunk depends only on its texts, its place in the corpus and the seed, so that any number of processes
gives the same ids. Everything that depends on other chunks (duplicates, counts, offsets) is done by the process that
reads and writes, which takes a few microseconds per pair.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.data.config import DataConfig
from regard.data.copies import slotted
from regard.data.filters import Numbered, tokens_pass
from regard.data.transforms import joined, transformed
from regard.text.tokenizer import Tokenizer
from regard.workers import Report, WorkerPool, usable_cores

FEW = 5  # fewer chunks are encoded faster than other processes could start
ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

Item = TypeVar("Item")
Result = TypeVar("Result")
Texts = TypeVar("Texts", bound=tuple[str, ...])
Ints = NDArray[np.int64]
EncodedPair = tuple[int, list[int], list[int]]  # pair number, source ids, target ids


@dataclass(frozen=True)
class TextChunk:
    """The pairs among some consecutive ones that passed the filters."""

    first: int  # the number of the first pair that was read
    end: int  # the number after the last
    texts: list[Numbered]

    def __str__(self) -> str:
        """
        >>> print(TextChunk(10_000, 20_000, []))
        pairs 10,001 to 20,000
        """
        return f"pairs {self.first + 1:,} to {self.end:,}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the texts as a few long strings, which is faster than many short ones."""
        numbers = np.fromiter((number for number, _, _ in self.texts), np.int64, len(self.texts))
        src, tgt = _joined_texts([s for _, s, _ in self.texts]), _joined_texts([t for _, _, t in self.texts])
        return _received, (self.first, self.end, numbers, src, tgt)


def _joined_texts(texts: list[str]) -> tuple[str, Ints]:
    return "".join(texts), np.fromiter(map(len, texts), np.int64, len(texts))


def _received(first: int, end: int, numbers: Ints, *sides: tuple[str, Ints]) -> TextChunk:
    texts = ([text[a:b] for a, b in pairwise(accumulate(lengths.tolist(), initial=0))] for text, lengths in sides)
    return TextChunk(first, end, list(zip(numbers.tolist(), *texts, strict=True)))


class EncodedSide(NamedTuple):
    ids: NDArray[Any]  # of all rows, concatenated
    lengths: Ints


class EncodedChunk(NamedTuple):
    """The ids of a chunk, and how many pairs the filters of ids dropped."""

    kept: Ints  # pair numbers
    src: EncodedSide
    tgt: EncodedSide
    too_long: int
    ratio: int
    passed: int


class ChunkRandom(NamedTuple):
    """The random generators of a chunk, by the number of its first pair."""

    seed: int
    epoch: int | None  # None: nothing depends on the epoch

    def of_epoch(self, number: int) -> random.Random | None:
        return None if self.epoch is None else random.Random(f"{self.seed} {self.epoch} {number}")

    def of_slots(self, number: int) -> random.Random:
        return random.Random(f"{self.seed} slots {number}")


@dataclass(frozen=True)
class ChunkEncoder:
    """Encodes the filtered texts of a chunk, with transforms, slots and tag."""

    tokenizer: Tokenizer
    config: DataConfig
    random: ChunkRandom
    tag: list[int]  # ids before every source

    @property
    def dtype(self) -> str:
        return "uint16" if max(self.tokenizer.source_size, self.tokenizer.target_size) <= 2**16 else "uint32"

    def __call__(self, chunk: TextChunk) -> EncodedChunk:
        config, texts, rng = self.config, chunk.texts, self.random.of_epoch(chunk.first)
        if rng is not None:
            texts = transformed(texts, config, rng)
        if config.slots:
            texts = slotted(texts, config.slots, self.random.of_slots(chunk.first))
        sources = self.tokenizer.encode_source([src for _, src, _ in texts], rng)
        targets = self.tokenizer.encode_target([tgt for _, _, tgt in texts], rng)
        if self.tag:
            sources = [self.tag + ids for ids in sources]
        passed, too_long, ratio = tokens_pass(sources, targets, config)
        kept = [(texts[i][0], sources[i], targets[i]) for i in passed]
        if rng is not None and config.join_pairs:
            kept = _joined_pairs(kept, config, rng, len(self.tag))
        numbers = np.fromiter((number for number, _, _ in kept), np.int64, len(kept))
        src, tgt = self._side([src for _, src, _ in kept]), self._side([tgt for _, _, tgt in kept])
        return EncodedChunk(numbers, src, tgt, too_long, ratio, len(passed))

    def _side(self, rows: Sequence[list[int]]) -> EncodedSide:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return EncodedSide(np.fromiter(chain.from_iterable(rows), self.dtype, int(lengths.sum())), lengths)


def _joined_pairs(kept: list[EncodedPair], config: DataConfig, rng: random.Random, tag: int) -> list[EncodedPair]:
    """Joins some neighbouring pairs to one example. The first `tag` ids of the second source, its tag, are left out.
    The concatenated ids of two texts are those of the texts joined by a space."""
    lengths = [(len(src), len(tgt)) for _, src, tgt in kept]
    examples: list[EncodedPair] = []
    for first, *second in joined(lengths, config.join_pairs, config.max_length, rng):
        number, src, tgt = kept[first]
        for other in second:
            src, tgt = src + kept[other][1][tag:], tgt + kept[other][2]
        examples.append((number, src, tgt))
    return examples


def in_chunks(rows: Iterable[Texts], most: int, most_characters: int) -> Iterator[list[Texts]]:
    """Groups rows of texts, at most `most` at a time, fewer where texts are very long."""
    chunk, characters = list[Texts](), 0
    for row in rows:
        chunk.append(row)
        characters += sum(map(len, row))
        if len(chunk) == most or characters > most_characters:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def in_parallel(
    make_work: Callable[[int, Report], Callable[[Item], Result]], items: Iterable[Item], processes: int, few: int
) -> Generator[tuple[Item, Result]]:
    """Yields each item with its result, in order. One process, or fewer than `few` items, need no other process."""
    stream = iter(items)
    first = list(islice(stream, few))
    if processes == 1 or len(first) < few:
        work = make_work(0, lambda amount: None)
        yield from ((item, work(item)) for item in chain(first, stream))
        return
    with WorkerPool(make_work, processes, ONE_THREAD) as pool:
        yield from pool.results(chain(first, stream))


def encoded_chunks(
    encode: ChunkEncoder, chunks: Iterable[TextChunk], processes: int | None = None
) -> Generator[tuple[TextChunk, EncodedChunk]]:
    """Yields the chunks in order, each with its ids, encoded by `processes`, by default one for each usable core."""
    return in_parallel(partial(_work, encode), chunks, processes or usable_cores(), FEW)


def _work(encode: ChunkEncoder, number: int, report: Report) -> ChunkEncoder:
    return encode
