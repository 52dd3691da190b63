"""Sentence pairs from files: two text files, a TSV or a JSONL, each also compressed, read as a stream.

A name may be a pattern for many files, the shards of a corpus (train.*.tsv.gz), read one after another. Nothing is
filtered, tokenized or kept in memory here; see `encode.py`. `text_files.py` reads a file, and `splits.py` finds the
files for training and for evaluation.
"""

from __future__ import annotations

import glob
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from regard.config import nearest
from regard.data.compressed import bare_suffixes
from regard.data.text_files import open_text, read_lines
from regard.errors import InputError

Pair = tuple[str, str]
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can spell one; no file in UTF-8 can hold one


@dataclass(frozen=True)
class PairFiles:
    """The files of a corpus: two text files or one table, whole or one part of a held-out split. A path may be a
    pattern; its files are then the shards, in the order of their names."""

    paths: tuple[Path, ...]
    src_key: str = "src"
    tgt_key: str = "tgt"
    below: int | None = None  # only pairs whose source hashes below this: the held-out ones
    from_: int | None = None  # only pairs whose source hashes to this or more: the others

    def __str__(self) -> str:
        part = " (held out)" if self.below else " (without the held-out pairs)" if self.from_ else ""
        return " + ".join(str(path) for path in self.paths) + part

    def shards(self) -> list[tuple[Path, ...]]:
        """Returns the files of every shard: (table,) or (sources, targets)."""
        sides = [_matching(path) for path in self.paths]
        if len({len(side) for side in sides}) > 1:
            counts = " but ".join(f"{path} names {len(s):,}" for path, s in zip(self.paths, sides, strict=True))
            raise InputError(f"{counts} files; every file of sources needs one of targets")
        return list(zip(*sides, strict=True))

    def fingerprint(self) -> str:
        """Returns a hash of the contents, independent of the paths."""
        digest = hashlib.blake2b(digest_size=16)
        for path in (path for shard in self.shards() for path in shard):
            open_text(path, raw=True).close()
            about = path.stat()
            part = _digest(path.absolute(), about.st_size, about.st_mtime_ns)
            digest.update(f"{part} {''.join(path.suffixes[-2:])}\n".encode())
        digest.update(repr((self.src_key, self.tgt_key, self.below, self.from_)).encode())
        return digest.hexdigest()


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    """Hashes a file's contents; a process reads it again only if its size or modification time has changed."""
    with open_text(path, raw=True) as file:
        return hashlib.file_digest(file, hashlib.blake2b).hexdigest()  # type: ignore[arg-type]


def _matching(path: Path) -> list[Path]:
    """Returns the files that match a pattern, or the path itself."""
    if path.exists() or not re.search(r"[*?\[]", str(path)):
        return [path]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 (a pattern may be absolute)
    if not found:
        raise InputError(f"no file matches {path}; try the pattern with ls")
    return found


def source_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def read_pairs(files: PairFiles) -> Iterator[Pair]:
    """Yields the pairs. Training reads them more than once, so a pipe is refused."""
    shards = files.shards()
    for path in chain.from_iterable(shards):
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is a pipe or device, but is read more than once; write it to a file first")
    pairs = chain.from_iterable(_shard(shard, files) for shard in shards)
    if files.below is None and files.from_ is None:
        return pairs
    low, high = files.from_ or 0, files.below or 2**64
    return (pair for pair in pairs if low <= source_hash(pair[0]) < high)


def _shard(paths: tuple[Path, ...], files: PairFiles) -> Iterator[Pair]:
    if len(paths) == 2:
        yield from _two_files(*paths)
        return
    kind = table_kind(paths[0])
    for number, line in enumerate(read_lines(paths[0]), start=1):
        if kind == ".tsv" or line.strip():
            yield table_pair(line, f"{paths[0]}, line {number}", kind, files)


def _two_files(src: Path, tgt: Path) -> Iterator[Pair]:
    counts = [0, 0]
    for a, b in zip_longest(read_lines(src), read_lines(tgt)):
        counts[0] += a is not None
        counts[1] += b is not None
        if a is not None and b is not None:
            yield a, b
    if counts[0] != counts[1]:
        raise InputError(
            f"{src} has {counts[0]:,} lines but {tgt} has {counts[1]:,}; "
            "line n of one must translate line n of the other"
        )


def table_kind(path: Path) -> str:
    """Returns .tsv or .jsonl; raises for a file of another suffix."""
    kind = "".join(bare_suffixes(path)[-1:])
    if kind not in (".tsv", ".jsonl"):
        raise InputError(f"{path} must end in .tsv or .jsonl (or either with .gz, .xz, .bz2 or .zst); rename it")
    return kind


def table_pair(line: str, where: str, kind: str, files: PairFiles) -> Pair:
    """Parses a line of a table; `where` names the line in errors."""
    return tsv_pair(line, where) if kind == ".tsv" else jsonl_pair(line, where, files.src_key, files.tgt_key)


def tsv_pair(line: str, where: str) -> Pair:
    columns = line.split("\t")
    if len(columns) != 2:
        remedy = ": cut -f1,2 OLD.tsv > NEW.tsv keeps the first two" if len(columns) > 2 else ""
        raise InputError(f"{where} has {len(columns) - 1} tabs; it must be source, one tab, target{remedy}")
    return columns[0], columns[1]


def jsonl_pair(line: str, where: str, src_key: str, tgt_key: str) -> Pair:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON ({error}); one object a line is needed") from None
    return _field(row, src_key, "src_key", where), _field(row, tgt_key, "tgt_key", where)


def _field(row: Any, name: str, option: str, where: str) -> str:
    found = row
    for part in [name] if isinstance(row, dict) and name in row else name.split("."):
        if not isinstance(found, dict) or part not in found:
            has_keys = isinstance(found, dict) and found
            known = nearest(name, found) if has_keys else "it must be an object with both texts"
            raise InputError(f'{where} has no key "{name}"; {known} (data.{option})')
        found = found[part]
    if not isinstance(found, str):
        raise InputError(f'{where}: "{name}" must be text, but is {json.dumps(found)[:60]}')
    if not found.isascii() and LONE_SURROGATE.search(found):
        what = f'"{name}" holds half a surrogate pair, which is no character'
        raise InputError(f"{where}: {what}; correct or drop the line")
    return found
