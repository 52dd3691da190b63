"""Reads files that may be damaged: pairs in chunks, a sample of them, and checks of their characters.

Lines are read thousands at a time, since checking them together takes a tenth of the time. A line that is not UTF-8, or
is not a pair, is counted and skipped with its partner. Files that cannot be read at all (missing, binary, damaged
archives) raise an InputError.

The sample is of a stream of unknown length: blocks of consecutive pairs, evenly spread. Every block is kept until there
are too many; then every second one is dropped, and from there on only every second one is kept, and so on. Consecutive
pairs stay together, because shifts can only be detected among them.

Characters that indicate damage are control characters, zero-width characters, lost ones, text decoded twice and HTML.
A first pattern finds the few lines that can have any of them; only those are checked one by one. The joiners U+200C
and U+200D are not counted: Persian, Hindi and emoji need them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, islice
from pathlib import Path

from regard.data.corpus import Pair, PairFiles, table_kind, table_pair
from regard.data.text_files import read_raw_lines
from regard.doctor.findings import FaultCounts, FaultExample, cut_short
from regard.errors import InputError

CHUNK = 10_000  # lines
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Chunk:
    """Pairs of one shard, in order."""

    paths: tuple[Path, ...]
    numbers: list[int]  # line numbers, from 1
    sources: list[str]
    targets: list[str]

    def place(self, side: int, at: int) -> FaultExample:
        path = self.paths[min(side, len(self.paths) - 1)]
        return FaultExample(f"{path.name}:{self.numbers[at]}", cut_short((self.sources, self.targets)[side][at]))

    def __len__(self) -> int:
        return len(self.numbers)


def read_chunks(files: PairFiles, tally: FaultCounts) -> Iterator[Chunk]:
    """Yields the pairs of the files, some thousand at a time; faults are added to `tally`."""
    for shard in files.shards():
        yield from _two_files(shard, tally) if len(shard) == 2 else _table(shard[0], files, tally)


def _two_files(shard: tuple[Path, ...], tally: FaultCounts) -> Iterator[Chunk]:
    streams, counts = [read_raw_lines(path) for path in shard], [0, 0]
    while any(raw := [list(islice(stream, CHUNK)) for stream in streams]):
        sides = [decoded(lines, counts[side], shard[side], tally) for side, lines in enumerate(raw)]
        both = [(counts[0] + i + 1, s, t) for i, (s, t) in enumerate(zip(*sides, strict=False))]
        rows = [(number, s, t) for number, s, t in both if s is not None and t is not None]
        counts = [count + len(lines) for count, lines in zip(counts, raw, strict=True)]
        if rows:
            yield Chunk(shard, [n for n, _, _ in rows], [s for _, s, _ in rows], [t for _, _, t in rows])
    if counts[0] != counts[1]:
        tally.unequal.append((shard, counts))


def _table(path: Path, files: PairFiles, tally: FaultCounts) -> Iterator[Chunk]:
    kind = table_kind(path)
    stream, count = read_raw_lines(path), 0
    while raw := list(islice(stream, CHUNK)):
        rows: list[tuple[int, Pair]] = []
        for number, line in enumerate(decoded(raw, count, path, tally), start=count + 1):
            if line is None or (kind == ".jsonl" and not line.strip()):
                continue
            try:
                rows.append((number, table_pair(line, "", kind, files)))
            except InputError:
                tally.add("columns", partial(FaultExample, f"{path.name}:{number}", cut_short(line)))
        count += len(raw)
        if rows:
            yield Chunk((path,), [n for n, _ in rows], [p[0] for _, p in rows], [p[1] for _, p in rows])


def decoded(raw: list[bytes], before: int, path: Path, tally: FaultCounts) -> list[str | None]:
    """Decodes lines, None for one that is not UTF-8; `before` is the number of earlier lines of the file."""
    if before == 0 and raw and raw[0].startswith(BOM):
        raw = [raw[0].removeprefix(BOM), *raw[1:]]
        tally.add("bom", partial(FaultExample, f"{path.name}:1", ""))
    blob = b"".join(raw)
    if b"\r\n" in blob:
        ending = [i for i, line in enumerate(raw) if line.endswith(b"\r\n")]
        tally.add("line ends", partial(FaultExample, f"{path.name}:{before + ending[0] + 1}", ""), len(ending))
        raw = [line.removesuffix(b"\n").removesuffix(b"\r") + b"\n" for line in raw]
        blob = b"".join(raw)
    try:
        return list(blob.removesuffix(b"\n").decode("utf-8").split("\n")) if raw else []
    except UnicodeDecodeError:
        return [_decoded(line, f"{path.name}:{before + i + 1}", tally) for i, line in enumerate(raw)]


def _decoded(line: bytes, where: str, tally: FaultCounts) -> str | None:
    line = line.removesuffix(b"\n")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        tally.add("encoding", partial(FaultExample, where, cut_short(line.decode("utf-8", "backslashreplace"))))
        return None


BLOCK = 200  # pairs


@dataclass
class Sample:
    most: int  # pairs
    blocks: list[Chunk] = field(default_factory=list)
    seen: int = 0  # pairs of the stream so far
    _stride: int = 1
    _number: int = 0  # blocks of the stream so far

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

    def runs(self) -> Iterator[list[tuple[str, str]]]:
        """Yields runs of consecutive pairs, with adjacent blocks joined."""
        run: list[tuple[str, str]] = []
        before: Chunk | None = None
        for block in self.blocks:
            follows = before is not None and before.paths == block.paths and block.numbers[0] - before.numbers[-1] == 1
            if run and not follows:
                yield run
                run = []
            run = run + self._pairs(block)
            before = block
        if run:
            yield run

    def _pairs(self, block: Chunk) -> list[tuple[str, str]]:
        return list(zip(block.sources, block.targets, strict=True))

    def pairs(self) -> list[tuple[str, str]]:
        return [pair for block in self.blocks for pair in self._pairs(block)]

    def place(self, side: int, at: int) -> FaultExample:
        """Returns pair `at` of the sample as an example, with its file and line."""
        for block in self.blocks:
            if at < len(block):
                return block.place(side, at)
            at -= len(block)
        raise IndexError(at)


CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff"
LATER = "\u0080-\u00bf‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œžŸ€"  # bytes 80–BF of UTF-8, read as Latin-1 or Windows-1252
TAGS = r"a|b|i|u|p|br|hr|em|strong|div|span|font|table|tr|td|th|li|ul|ol|h[1-6]|img|sub|sup|html|body|script|style"
SUSPECT = re.compile(f"[{CONTROL}{INVISIBLE}\ufffdÃÂâÐÑ&<]")
FAULTS = {
    "control": re.compile(f"[{CONTROL}]"),
    "invisible": re.compile(f"[{INVISIBLE}]"),
    "replaced": re.compile("\ufffd"),
    "mojibake": re.compile(f"[ÃÂ][{LATER}]|â[\u0080€][{LATER}]|(?:[ÐÑ][{LATER}]){{2}}"),
    "html": re.compile(
        rf"&(?:amp|lt|gt|quot|apos|nbsp|#\d+|#x[0-9a-f]+);|</?(?:{TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE
    ),
}


def check_characters(texts: Sequence[str], place: Callable[[int], FaultExample], tally: FaultCounts) -> None:
    joined = "\n".join(texts)
    if joined.count("\n") != len(texts) - 1:  # a JSON text may contain line breaks
        texts = [text.replace("\n", " ") for text in texts]
        joined = "\n".join(texts)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    suspects = {bisect_right(starts, match.start()) - 1 for match in SUSPECT.finditer(joined)}
    for at in sorted(suspects):
        for name, pattern in FAULTS.items():
            if pattern.search(texts[at]):
                tally.add(name, partial(place, at))
    if not joined.isascii() and not unicodedata.is_normalized("NFC", joined):
        for at, text in enumerate(texts):
            if not text.isascii() and not unicodedata.is_normalized("NFC", text):
                tally.add("normal form", partial(place, at))
