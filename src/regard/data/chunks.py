"""From the texts of a chunk of pairs to ids, in this process or in several.

    read_pairs ─ chunks ─ Filters.texts ─▶ TextChunk ─ ChunkEncoder ─▶ CodedChunk ─▶ files of `encode.py`

What becomes of a chunk depends on its texts, its place in the corpus and the seed alone, so that any number of
processes gives the same ids. Everything that depends on other chunks (duplicates, counts, offsets) is done by the
process that reads and writes, which takes a few microseconds a pair.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.config import DataConfig
from regard.data.copies import slotted
from regard.data.corpus import Pair
from regard.data.filters import Numbered, tokens_pass
from regard.data.transforms import joined, transformed
from regard.text.tokenizer import Tokenizer
from regard.workers import Report, WorkerPool, usable_cores

CHUNK = 10_000  # pairs in memory at a time, for each process
CHUNK_CHARACTERS = 8_000_000
FEW = 5  # chunks; fewer are encoded before other processes have started
ONE_THREAD = {"TOKENIZERS_PARALLELISM": "false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

Ints = NDArray[np.int64]
Coded = tuple[int, list[int], list[int]]  # pair number, source ids, target ids


@dataclass(frozen=True)
class TextChunk:
    """What the filters left of some neighbouring pairs."""

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
        """Sent to another process as a few long strings, which is faster than many short ones."""
        numbers = np.fromiter((number for number, _, _ in self.texts), np.int64, len(self.texts))
        src, tgt = _joined_texts([s for _, s, _ in self.texts]), _joined_texts([t for _, _, t in self.texts])
        return _received, (self.first, self.end, numbers, src, tgt)


def _joined_texts(texts: list[str]) -> tuple[str, Ints]:
    return "".join(texts), np.fromiter(map(len, texts), np.int64, len(texts))


def _received(first: int, end: int, numbers: Ints, *sides: tuple[str, Ints]) -> TextChunk:
    texts = ([text[a:b] for a, b in pairwise(accumulate(lengths.tolist(), initial=0))] for text, lengths in sides)
    return TextChunk(first, end, list(zip(numbers.tolist(), *texts, strict=True)))


class CodedSide(NamedTuple):
    ids: NDArray[Any]  # of all rows, one after another
    lengths: Ints


class CodedChunk(NamedTuple):
    """The ids of a chunk, and how many pairs the filters of ids dropped."""

    kept: Ints  # pair numbers
    src: CodedSide
    tgt: CodedSide
    too_long: int
    ratio: int
    passed: int


class Draws(NamedTuple):
    """The random generators of a chunk, by the number of its first pair."""

    seed: int
    epoch: int | None  # none: nothing changes with it

    def of_epoch(self, number: int) -> random.Random | None:
        return None if self.epoch is None else random.Random(f"{self.seed} {self.epoch} {number}")

    def of_slots(self, number: int) -> random.Random:
        return random.Random(f"{self.seed} slots {number}")


@dataclass(frozen=True)
class ChunkEncoder:
    """All that is done to the texts of a chunk after they were filtered."""

    tokenizer: Tokenizer
    config: DataConfig
    draws: Draws
    tag: list[int]  # ids before every source

    @property
    def dtype(self) -> str:
        return "uint16" if max(self.tokenizer.source_size, self.tokenizer.target_size) <= 2**16 else "uint32"

    def __call__(self, chunk: TextChunk) -> CodedChunk:
        config, texts, rng = self.config, chunk.texts, self.draws.of_epoch(chunk.first)
        if rng is not None:
            texts = transformed(texts, config, rng)
        if config.slots:
            texts = slotted(texts, config.slots, self.draws.of_slots(chunk.first))
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
        return CodedChunk(numbers, src, tgt, too_long, ratio, len(passed))

    def _side(self, rows: Sequence[list[int]]) -> CodedSide:
        lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        return CodedSide(np.fromiter(chain.from_iterable(rows), self.dtype, int(lengths.sum())), lengths)


def _joined_pairs(kept: list[Coded], config: DataConfig, rng: random.Random, tag: int) -> list[Coded]:
    """Some neighbouring pairs as one example. The first `tag` ids of the second source, its tag, are left out. The ids
    of two texts, concatenated, are those of the two texts with a space between."""
    lengths = [(len(src), len(tgt)) for _, src, tgt in kept]
    examples: list[Coded] = []
    for first, *second in joined(lengths, config.join_pairs, config.max_length, rng):
        number, src, tgt = kept[first]
        for other in second:
            src, tgt = src + kept[other][1][tag:], tgt + kept[other][2]
        examples.append((number, src, tgt))
    return examples


def pairs_in_chunks(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    """Some thousands at a time, fewer where lines are very long."""
    chunk, characters = [], 0
    for pair in pairs:
        chunk.append(pair)
        characters += len(pair[0]) + len(pair[1])
        if len(chunk) == CHUNK or characters > CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def coded_chunks(encode: ChunkEncoder, chunks: Iterator[TextChunk]) -> Generator[tuple[TextChunk, CodedChunk]]:
    """The chunks in their order, each with its ids, from as many processes as this one may use cores; from this one
    alone if there are few chunks."""
    few = list(islice(chunks, FEW))
    processes = usable_cores() if len(few) == FEW else 1
    if processes == 1:
        yield from ((chunk, encode(chunk)) for chunk in chain(few, chunks))
        return
    with WorkerPool(partial(_work, encode), processes, ONE_THREAD) as pool:
        yield from pool.results(chain(few, chunks))


def _work(encode: ChunkEncoder, number: int, report: Report) -> ChunkEncoder:
    return encode
