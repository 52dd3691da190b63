"""A sample of a stream of unknown length: blocks of neighbouring pairs, evenly spread.

Every block is kept until there are too many; then every second one is dropped, and from there on only every second one
is taken, and so on. Neighbours stay together, because a shift can only be seen among neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from regard.doctor.findings import FaultExample
from regard.doctor.read_files import Chunk

BLOCK = 200  # pairs


@dataclass
class Sample:
    most: int  # pairs
    blocks: list[Chunk] = field(default_factory=list)
    seen: int = 0  # pairs of the stream
    _stride: int = 1
    _number: int = 0  # of blocks that went by

    def add(self, chunk: Chunk) -> None:
        self.seen += len(chunk)
        for start in range(0, len(chunk), BLOCK):
            if self._number % self._stride == 0:
                end = start + BLOCK
                parts = (chunk.numbers[start:end], chunk.sources[start:end], chunk.targets[start:end])
                self.blocks.append(Chunk(chunk.paths, *parts))
            self._number += 1
            while len(self) > max(self.most, BLOCK) and len(self.blocks) > 1:
                self.blocks = self.blocks[::2]
                self._stride *= 2

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def whole(self) -> bool:
        """Whether the sample is the whole stream."""
        return len(self) == self.seen

    def runs(self) -> Iterator[list[tuple[str, str]]]:
        """Neighbouring pairs, blocks that follow each other joined."""
        run: list[tuple[str, str]] = []
        before: Chunk | None = None
        for block in self.blocks:
            follows = before is not None and before.paths == block.paths and block.numbers[0] - before.numbers[-1] == 1
            if run and not follows:
                yield run
                run = []
            run = [*run, *self._pairs(block)] if not follows else run + self._pairs(block)
            before = block
        if run:
            yield run

    def _pairs(self, block: Chunk) -> list[tuple[str, str]]:
        return list(zip(block.sources, block.targets, strict=True))

    def pairs(self) -> list[tuple[str, str]]:
        return [pair for block in self.blocks for pair in self._pairs(block)]

    def place(self, side: int, at: int) -> FaultExample:
        """Pair `at` of the sample, with its file and line."""
        for block in self.blocks:
            if at < len(block):
                return block.place(side, at)
            at -= len(block)
        raise IndexError(at)
