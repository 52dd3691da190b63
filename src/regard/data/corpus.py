"""Sentence pairs out of files: two text files, a TSV or a JSONL, each also as .gz or .xz, read as a stream.

A line ends at "\\n" and nowhere else: U+2028, NUL and their like are text. Every fault of a file is an
InputError that says where it is and what to do. Nothing is filtered, cut into tokens or kept in memory here; see
`encode.py`.
"""

from __future__ import annotations

import difflib
import gzip
import hashlib
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import numpy as np

from regard.config import key, nearest, require
from regard.errors import InputError

Pair = tuple[str, str]
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
BINARY = "looks like a binary file; it must be UTF-8 text, one sentence a line"
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can spell one; no file in UTF-8 can hold one
MAGIC = {  # how a file begins → what it is, what to do about it
    b"\x1f\x8b": ("gzip", 'rename it to end in ".gz"'),
    b"\xfd7zXZ\0": ("xz", 'rename it to end in ".xz"'),
    b"PK\x03\x04": ("a zip archive", "unzip it"),
    b"BZh": ("bzip2", "decompress it with bunzip2"),
    b"\x28\xb5\x2f\xfd": ("zstd", "decompress it with zstd -d"),
    b"\xff\xfe": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
    b"\xfe\xff": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
}


@dataclass(frozen=True)
class DataConfig:
    """Section [data] of a recipe."""

    src: str | None = key(None, "source sentences, one a line (.gz and .xz too)")
    tgt: str | None = key(None, "their translations, line by line")
    pairs: str | None = key(None, "instead of src and tgt: one .tsv or .jsonl file (.gz and .xz too)")
    dev_src: str | None = key(None, "source sentences to watch training with")
    dev_tgt: str | None = key(None, "their translations")
    dev_pairs: str | None = key(None, "instead of dev_src and dev_tgt: one .tsv or .jsonl file")
    test_src: str | None = key(None, "source sentences to score the finished model on")
    test_tgt: str | None = key(None, "their translations")
    test_pairs: str | None = key(None, "instead of test_src and test_tgt: one .tsv or .jsonl file")
    src_key: str = key("src", "where a JSONL line holds its source; a.b reaches inside")
    tgt_key: str = key("tgt", "where a JSONL line holds its target")
    dev_size: int | None = key(None, "pairs to hold out without dev files (none: 1000 or 5%, the lesser)")
    max_length: int = key(256, "drop pairs with more tokens than this on a side")
    max_ratio: float = key(4.0, "drop pairs of which one side is this many times longer (from 11 tokens on)")
    dedupe: bool = key(False, "drop pairs that occurred before")
    cache: str | None = key(None, "folder for encoded data (none: $REGARD_CACHE or ~/.cache/regard)")

    def __post_init__(self) -> None:
        require(self.max_length >= 1, f"max_length must be at least 1 token, but is {self.max_length}")
        require(self.max_ratio >= 1, f"max_ratio must be at least 1, but is {self.max_ratio}")
        require(
            self.dev_size is None or self.dev_size >= 0,
            f"dev_size must be 0 (no dev set) or more, but is {self.dev_size}",
        )


@dataclass(frozen=True)
class PairFiles:
    """Where pairs come from: two text files or one table, all of it or one side of a held-out split."""

    paths: tuple[Path, ...]
    src_key: str = "src"
    tgt_key: str = "tgt"
    below: int | None = None  # only pairs whose source hashes below this: the held-out ones
    from_: int | None = None  # only pairs whose source hashes to this or more: the others

    def __str__(self) -> str:
        part = " (held out)" if self.below else " (without the held-out pairs)" if self.from_ else ""
        return " + ".join(str(path) for path in self.paths) + part

    def fingerprint(self) -> str:
        """Of the contents, wherever the files lie."""
        digest = hashlib.blake2b(digest_size=16)
        for path in self.paths:
            with _opened(path, raw=True) as file:
                part = hashlib.file_digest(file, hashlib.blake2b).hexdigest()  # type: ignore[arg-type]
            digest.update(f"{part} {''.join(path.suffixes[-2:])}\n".encode())
        digest.update(repr((self.src_key, self.tgt_key, self.below, self.from_)).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class Splits:
    """What to learn from, what to watch and what to score; dev and test may be missing."""

    train: PairFiles
    dev: PairFiles | None
    test: PairFiles | None


def find_splits(config: DataConfig) -> Splits:
    """The files a recipe names, with a part of train held out when no dev files are given."""
    train, dev, test = (_named(config, prefix) for prefix in ("", "dev_", "test_"))
    if train is None:
        raise InputError("no training data: give --src FILE --tgt FILE, or --pairs FILE (.tsv or .jsonl)")
    if dev is None and config.dev_size != 0:
        train, dev = hold_out(train, config.dev_size)
    return Splits(train, dev, test)


def _named(config: DataConfig, prefix: str) -> PairFiles | None:
    src, tgt, pairs = (getattr(config, prefix + name) for name in ("src", "tgt", "pairs"))
    flags = [f"--{prefix}{name}".replace("_", "-") for name in ("src", "tgt", "pairs")]
    if pairs and (src or tgt):
        raise InputError(f"{flags[2]} and {flags[0]}/{flags[1]} were both given; give one or the other")
    if pairs:
        return PairFiles((Path(pairs),), config.src_key, config.tgt_key)
    if bool(src) != bool(tgt):
        given, lacking = (flags[0], flags[1]) if src else (flags[1], flags[0])
        raise InputError(
            f"{given} {src or tgt} was given without {lacking}; add {lacking} FILE, line by line its match"
        )
    return PairFiles((Path(src), Path(tgt))) if src else None


def hold_out(files: PairFiles, size: int | None) -> tuple[PairFiles, PairFiles]:
    """(train, dev): about `size` pairs chosen by the hash of their source, so that equal sources stay together."""
    hashes = np.fromiter((_hash(src) for src, _ in read_pairs(files)), dtype=np.uint64)
    count = max(1, min(1000, len(hashes) // 20)) if size is None else size
    if count >= len(hashes):
        raise InputError(f"dev_size is {count:,}, but {files} holds only {len(hashes):,} pairs; ask for fewer")
    ordered = np.sort(hashes)
    bound = int(ordered[count])
    if bound == ordered[0]:  # more copies of one source than asked for: all of them
        bound += 1
    if bound > ordered[-1]:
        raise InputError(
            f"{files} holds {len(hashes):,} pairs, too few different ones to hold out a dev set; "
            "give --dev-src and --dev-tgt, or --dev-size 0"
        )
    return replace(files, from_=bound), replace(files, below=bound)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def read_pairs(files: PairFiles) -> Iterator[Pair]:
    """The pairs, one after another. Training reads them more than once, so a pipe will not do."""
    for path in files.paths:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(f"{path} is a pipe or device, but is read more than once; write it to a file first")
    if len(files.paths) == 2:
        pairs = _two_files(*files.paths)
    else:
        kind = [s for s in files.paths[0].suffixes if s not in COMPRESSED][-1:]
        if kind == [".jsonl"]:
            pairs = _jsonl(files.paths[0], files.src_key, files.tgt_key)
        elif kind == [".tsv"]:
            pairs = _tsv(files.paths[0])
        else:
            raise InputError(f"{files.paths[0]} must end in .tsv or .jsonl (or either with .gz or .xz); rename it")
    if files.below is None and files.from_ is None:
        return pairs
    low, high = files.from_ or 0, files.below or 2**64
    return (pair for pair in pairs if low <= _hash(pair[0]) < high)


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


def _tsv(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            remedy = ": cut -f1,2 OLD.tsv > NEW.tsv keeps the first two" if len(columns) > 2 else ""
            raise InputError(
                f"{path}, line {number} has {len(columns) - 1} tabs; it must be source, one tab, target{remedy}"
            )
        yield columns[0], columns[1]


def _jsonl(path: Path, src_key: str, tgt_key: str) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number} is not JSON ({error}); one object a line is needed") from None
        where = f"{path}, line {number}"
        yield _field(row, src_key, "src_key", where), _field(row, tgt_key, "tgt_key", where)


def _field(row: Any, name: str, option: str, where: str) -> str:
    found = row
    for part in [name] if isinstance(row, dict) and name in row else name.split("."):
        if not isinstance(found, dict) or part not in found:
            known = (
                nearest(name, found) if isinstance(found, dict) and found else "it must be an object with both texts"
            )
            raise InputError(f'{where} has no key "{name}"; {known} (set it with --{option.replace("_", "-")})')
        found = found[part]
    if not isinstance(found, str):
        raise InputError(f'{where}: "{name}" must be text, but is {json.dumps(found)[:60]}')
    if not found.isascii() and LONE_SURROGATE.search(found):
        raise InputError(f'{where}: "{name}" holds half a surrogate pair, which is no character; mend or drop the line')
    return found


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a text file, decompressed by suffix; "\\n" or "\\r\\n" and a leading BOM are taken off."""
    empty = True
    with _opened(path) as file:
        try:
            for line in decode_lines(file, str(path), keep_bom):
                empty = False
                yield line
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise InputError(
                f"{path} is damaged or not {path.suffix[1:]} ({error}); fetch or compress it again"
            ) from None
        except OSError as error:
            raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    if empty:
        raise InputError(f"{path} is empty; it must hold one sentence a line")


def decode_lines(stream: Iterable[bytes], name: str, keep_bom: bool = False) -> Iterator[str]:
    """The lines of an open stream, which an error calls by `name`."""
    for number, raw in enumerate(stream, start=1):
        line = raw.removeprefix(b"\xef\xbb\xbf") if number == 1 and not keep_bom else raw
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            if b"\0" in line:
                raise InputError(f"{name} {BINARY}") from None
            raise InputError(
                f"{name}, line {number} is not UTF-8 (byte 0x{error.object[error.start]:02X}); "
                "convert it: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW"
            ) from None


def _opened(path: Path, raw: bool = False) -> IO[bytes]:
    """The file for reading bytes, once it is sure that it is there and, unless `raw`, that it is text."""
    if not path.exists():
        raise InputError(f"{path} does not exist; {_suggestion(path)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    compressed = path.suffix in COMPRESSED and not raw
    try:
        file = path.open("rb") if not compressed else COMPRESSED[path.suffix](path, "rb")
        head = b"" if raw or compressed else file.peek(4096)[:4096]
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})") from None
    kind, remedy = next((MAGIC[m] for m in MAGIC if head.startswith(m)), ("", ""))
    if kind or _binary(head):
        file.close()
        raise InputError(f"{path} is {kind}, not plain text; {remedy}" if kind else f"{path} {BINARY}")
    return file


def _binary(some: bytes) -> bool:
    return some.count(0) * 10 > len(some)


def _suggestion(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(p.name for p in path.parent.iterdir())
    close = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    if close:
        return f'did you mean "{path.parent / close[0]}"?'
    return f"{path.parent}/ holds {', '.join(names[:5])}{' …' * (len(names) > 5)}" if names else "its folder is empty"
