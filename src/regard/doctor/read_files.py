"""Pairs from files that may be damaged: lines that training would refuse are counted and skipped.

Lines come thousands at a time, since checking them together takes a tenth of the time. A line that is not UTF-8, or is
not a pair, is counted and skipped with its partner. Files that cannot be read at all (missing, binary, damaged
archives) raise an InputError.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regard.data.compressed import bare_suffixes
from regard.data.corpus import Pair, PairFiles, jsonl_pair, tsv_pair
from regard.data.text_files import read_raw_lines
from regard.doctor.findings import FaultCounts, FaultExample, cut_short
from regard.errors import InputError

CHUNK = 10_000  # lines
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Chunk:
    """Pairs of one shard, in order."""

    paths: tuple[Path, ...]
    numbers: list[int]  # of their lines, from 1
    sources: list[str]
    targets: list[str]

    def place(self, side: int, at: int) -> FaultExample:
        path = self.paths[min(side, len(self.paths) - 1)]
        return FaultExample(f"{path.name}:{self.numbers[at]}", cut_short((self.sources, self.targets)[side][at]))

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass
class UnequalFiles:
    """Lines of a shard's files that differ in number."""

    shard: tuple[Path, ...]
    lines: tuple[int, int]


def read_chunks(files: PairFiles, tally: FaultCounts, unequal: list[UnequalFiles]) -> Iterator[Chunk]:
    for shard in files.shards():
        if len(shard) == 2:
            yield from _two_files(shard, tally, unequal)
        else:
            yield from _table(shard[0], files, tally)


def _two_files(shard: tuple[Path, ...], tally: FaultCounts, unequal: list[UnequalFiles]) -> Iterator[Chunk]:
    streams, counts = [read_raw_lines(path) for path in shard], [0, 0]
    while any(raw := [list(islice(stream, CHUNK)) for stream in streams]):
        sides = [decoded(lines, counts[side], shard[side], tally) for side, lines in enumerate(raw)]
        both = [(counts[0] + i + 1, s, t) for i, (s, t) in enumerate(zip(*sides, strict=False))]
        rows = [(number, s, t) for number, s, t in both if s is not None and t is not None]
        counts = [count + len(lines) for count, lines in zip(counts, raw, strict=True)]
        if rows:
            yield Chunk(shard, [n for n, _, _ in rows], [s for _, s, _ in rows], [t for _, _, t in rows])
    if counts[0] != counts[1]:
        unequal.append(UnequalFiles(shard, (counts[0], counts[1])))


def _table(path: Path, files: PairFiles, tally: FaultCounts) -> Iterator[Chunk]:
    kind = bare_suffixes(path)[-1:]
    if kind not in ([".tsv"], [".jsonl"]):
        raise InputError(f"{path} must end in .tsv or .jsonl (or either with .gz, .xz, .bz2 or .zst); rename it")
    stream, count = read_raw_lines(path), 0
    while raw := list(islice(stream, CHUNK)):
        rows: list[tuple[int, Pair]] = []
        for number, line in enumerate(decoded(raw, count, path, tally), start=count + 1):
            if line is None or (kind == [".jsonl"] and not line.strip()):
                continue
            where = f"{path}, line {number}"
            try:
                pair = (
                    tsv_pair(line, where) if kind == [".tsv"] else jsonl_pair(line, where, files.src_key, files.tgt_key)
                )
                rows.append((number, pair))
            except InputError:
                tally.met("columns", lambda n=number, text=line: FaultExample(f"{path.name}:{n}", cut_short(text)))  # type: ignore[misc]
        count += len(raw)
        if rows:
            yield Chunk((path,), [n for n, _ in rows], [p[0] for _, p in rows], [p[1] for _, p in rows])


def decoded(raw: list[bytes], before: int, path: Path, tally: FaultCounts) -> list[str | None]:
    """The lines as text, None where one is not UTF-8; `before` lines of the file came earlier."""
    if not raw:
        return []
    if before == 0 and raw[0].startswith(BOM):
        raw = [raw[0].removeprefix(BOM), *raw[1:]]
        tally.met("bom", lambda: FaultExample(f"{path.name}:1", ""))
    blob = b"".join(raw)
    if b"\r\n" in blob:
        ending = [i for i, line in enumerate(raw) if line.endswith(b"\r\n")]
        tally.met("line ends", lambda: FaultExample(f"{path.name}:{before + ending[0] + 1}", ""), len(ending))
        raw = [line.removesuffix(b"\n").removesuffix(b"\r") + b"\n" for line in raw]
        blob = b"".join(raw)
    try:
        return list(blob.removesuffix(b"\n").decode("utf-8").split("\n"))
    except UnicodeDecodeError:
        return [_decoded(line, f"{path.name}:{before + i + 1}", tally) for i, line in enumerate(raw)]


def _decoded(line: bytes, where: str, tally: FaultCounts) -> str | None:
    line = line.removesuffix(b"\n")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        tally.met("encoding", lambda: FaultExample(where, cut_short(line.decode("utf-8", "backslashreplace"))))
        return None
