"""Sentence pairs from files: two text files, a TSV or a JSONL, each also compressed, read as a stream.

A name may be a pattern for many files, the shards of a corpus (train.*.tsv.gz), read one after another. A line ends at
"\\n" and nowhere else: U+2028, NUL and similar characters are text. Every fault of a file is an InputError that says
where it is and what to do. Nothing is filtered, tokenized or kept in memory here; see `encode.py`. `splits.py` says
which files are for training and which for evaluation.
"""

from __future__ import annotations

import difflib
import glob
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import IO, Any

from regard.config import key, nearest, require
from regard.data.compressed import COMPRESSED, DAMAGED, bare_suffixes, damaged
from regard.errors import InputError

Pair = tuple[str, str]
BINARY = "looks like a binary file; it must be UTF-8 text, one sentence a line"
TRANSFORMS = (  # keys of DataConfig
    "recase", "lower", "title", "drop_marks", "slips", "drop_words", "renumber", "placeholders", "emoji", "list_marks",
    "join_pairs",
)  # fmt: skip
MOST_OFTEN = 1000  # times that an epoch may go through a corpus
LONE_SURROGATE = re.compile("[\ud800-\udfff]")  # JSON can spell one; no file in UTF-8 can hold one
MAGIC = {  # how a file begins → what it is, what to do about it
    b"\x1f\x8b": ("gzip", 'rename it to end in ".gz"'),
    b"\xfd7zXZ\0": ("xz", 'rename it to end in ".xz"'),
    b"PK\x03\x04": ("a zip archive", "unzip it"),
    b"BZh": ("bzip2", 'rename it to end in ".bz2"'),
    b"\x28\xb5\x2f\xfd": ("zstd", 'rename it to end in ".zst"'),
    b"\xff\xfe": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
    b"\xfe\xff": ("UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 OLD > NEW"),
}


@dataclass(frozen=True)
class CorpusConfig:
    """A table [[data.corpus]] of a recipe: one of several corpora to learn from."""

    src: str | None = key(None, "source sentences")
    tgt: str | None = key(None, "their translations")
    pairs: str | None = key(None, "instead of src and tgt: a .tsv or .jsonl file")
    weight: float = key(1.0, "how many times an epoch goes through it: 2 twice, 0.5 through one half, then the other")
    tag: str | None = key(None, "one of text.tags, put before its sources")
    rough: float = key(1.0, "the chances of [data] for changes to text (recase to join_pairs), times this; 0: none")

    def __post_init__(self) -> None:
        require(0 <= self.rough <= 1, f"data.corpus.rough must be from 0 to 1, but is {self.rough:g}")
        good = 0 < self.weight <= MOST_OFTEN
        require(good, f"data.corpus.weight must be above 0 and at most {MOST_OFTEN}, but is {self.weight:g}")


@dataclass(frozen=True)
class DataConfig:
    """Section [data] of a recipe."""

    src: str | None = key(None, 'source sentences, one a line (.gz .xz .bz2 .zst too); "part*.en" names many files')
    tgt: str | None = key(None, "their translations, line by line")
    pairs: str | None = key(
        None, "instead of src and tgt: one .tsv or .jsonl file (.gz .xz .bz2 .zst too), or a pattern"
    )
    corpus: tuple[CorpusConfig, ...] = key(
        (), "further corpora, in a recipe: [[data.corpus]] with src and tgt or pairs, weight, tag, rough (docs/data.md)"
    )
    dev_src: str | None = key(None, "source sentences to evaluate on during training")
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
    dev_tag: str | None = key(None, "one of text.tags, put before the sources of dev and test")
    recase: float = key(0.0, "chance that both sides are put in lower, upper or title case, anew each epoch")
    lower: float = key(0.0, "chance that a source is put in small letters; its target stays")
    title: float = key(0.0, "chance that a source Is Put In Title Case; its target stays")
    drop_marks: float = key(0.0, "chance that a source loses its last mark, its commas or all marks; its target stays")
    slips: float = key(0.0, "chance that a source is typed carelessly: letters wrong, twice, missing or swapped")
    drop_words: float = key(0.0, "chance that a source word is left out, anew each epoch")
    renumber: float = key(0.0, "chance that numbers of both sides become others, the same ones on both")
    placeholders: float = key(0.0, "chance that a placeholder or an address, such as {name}, is put into both sides")
    emoji: float = key(0.0, "chance that an emoji is put behind or before both sides")
    list_marks: float = key(0.0, "chance that both sides begin with the same list mark, such as - or 1.")
    join_pairs: float = key(0.0, "chance that an example is made of two to five pairs, anew each epoch")
    slots: float = key(
        0.0, "share of the pairs that get slots on both sides for numbers and names, to learn to carry them through"
    )
    cache: str | None = key(None, "folder for encoded data (none: $REGARD_CACHE or ~/.cache/regard)")

    def __post_init__(self) -> None:
        require(self.max_length >= 1, f"max_length must be at least 1 token, but is {self.max_length}")
        require(self.max_ratio >= 1, f"max_ratio must be at least 1, but is {self.max_ratio}")
        require(
            self.dev_size is None or self.dev_size >= 0,
            f"dev_size must be 0 (no dev set) or more, but is {self.dev_size}",
        )
        for name in (*TRANSFORMS, "slots"):
            value = getattr(self, name)
            require(0 <= value <= 1, f"data.{name} is a chance and must be from 0 to 1, but is {value}")

    @property
    def transforms(self) -> tuple[float, ...]:
        """What `transforms.py` does to a text; all 0: nothing."""
        return tuple(getattr(self, name) for name in TRANSFORMS)

    def roughened(self, factor: float) -> DataConfig:
        """With the chances of all changes to text times a factor."""
        return replace(self, **{name: factor * getattr(self, name) for name in TRANSFORMS})


@dataclass(frozen=True)
class PairFiles:
    """Where pairs come from: two text files or one table, all of it or one side of a held-out split. A path may be a
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
        """Files that belong together: (table,) or (sources, targets) of every shard."""
        sides = [_matching(path) for path in self.paths]
        if len({len(side) for side in sides}) > 1:
            counts = " but ".join(f"{path} names {len(s):,}" for path, s in zip(self.paths, sides, strict=True))
            raise InputError(f"{counts} files; every file of sources needs one of targets")
        return list(zip(*sides, strict=True))

    def fingerprint(self) -> str:
        """Of the contents, whatever the paths."""
        digest = hashlib.blake2b(digest_size=16)
        for path in (path for shard in self.shards() for path in shard):
            _opened(path, raw=True).close()
            about = path.stat()
            part = _digest(path.absolute(), about.st_size, about.st_mtime_ns)
            digest.update(f"{part} {''.join(path.suffixes[-2:])}\n".encode())
        digest.update(repr((self.src_key, self.tgt_key, self.below, self.from_)).encode())
        return digest.hexdigest()


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    """Of a file's contents; a process reads it again only if its size or modification time has changed."""
    with _opened(path, raw=True) as file:
        return hashlib.file_digest(file, hashlib.blake2b).hexdigest()  # type: ignore[arg-type]


def _matching(path: Path) -> list[Path]:
    """The files that a pattern names, or the path itself."""
    if path.exists() or not re.search(r"[*?\[]", str(path)):
        return [path]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 (a pattern may be absolute)
    if not found:
        raise InputError(f"no file matches {path}; try the pattern with ls")
    return found


def source_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def read_pairs(files: PairFiles) -> Iterator[Pair]:
    """The pairs, one after another. Training reads them more than once, so a pipe is refused."""
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
        return _two_files(*paths)
    kind = bare_suffixes(paths[0])[-1:]
    if kind == [".jsonl"]:
        return _jsonl(paths[0], files.src_key, files.tgt_key)
    if kind == [".tsv"]:
        return _tsv(paths[0])
    raise InputError(f"{paths[0]} must end in .tsv or .jsonl (or either with .gz, .xz, .bz2 or .zst); rename it")


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
        yield tsv_pair(line, f"{path}, line {number}")


def tsv_pair(line: str, where: str) -> Pair:
    columns = line.split("\t")
    if len(columns) != 2:
        remedy = ": cut -f1,2 OLD.tsv > NEW.tsv keeps the first two" if len(columns) > 2 else ""
        raise InputError(f"{where} has {len(columns) - 1} tabs; it must be source, one tab, target{remedy}")
    return columns[0], columns[1]


def _jsonl(path: Path, src_key: str, tgt_key: str) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield jsonl_pair(line, f"{path}, line {number}", src_key, tgt_key)


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
            known = (
                nearest(name, found) if isinstance(found, dict) and found else "it must be an object with both texts"
            )
            raise InputError(f'{where} has no key "{name}"; {known} (data.{option})')
        found = found[part]
    if not isinstance(found, str):
        raise InputError(f'{where}: "{name}" must be text, but is {json.dumps(found)[:60]}')
    if not found.isascii() and LONE_SURROGATE.search(found):
        raise InputError(
            f'{where}: "{name}" holds half a surrogate pair, which is no character; correct or drop the line'
        )
    return found


def read_lines(path: Path, keep_bom: bool = False) -> Iterator[str]:
    """The lines of a text file, decompressed by suffix; "\\n" or "\\r\\n" and a leading BOM are taken off."""
    return decode_lines(read_raw_lines(path), str(path), keep_bom)


def read_raw_lines(path: Path) -> Iterator[bytes]:
    """The lines as bytes, with their line ends."""
    empty = True
    with _opened(path, raw=path.suffix in COMPRESSED) as stored:
        try:
            for line in COMPRESSED[path.suffix](stored) if path.suffix in COMPRESSED else stored:
                empty = False
                yield line
        except (OSError, *DAMAGED) as error:
            raise unreadable(path, error) from None
    if empty:
        raise InputError(f"{path} is empty; it must hold one sentence a line")


def unreadable(path: Path, error: Exception) -> InputError:
    if damaged(error):
        return InputError(f"{path} is damaged or not {path.suffix[1:]} ({error}); fetch or compress it again")
    return InputError(f"{path} cannot be read ({getattr(error, 'strerror', None) or error})")


def decode_lines(stream: Iterable[bytes], name: str, keep_bom: bool = False, first: int = 1) -> Iterator[str]:
    """The lines of an open stream; `name` is what errors call it, and `first` the number of the first line."""
    for number, raw in enumerate(stream, start=first):
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
    """The file, opened for reading bytes, after checking that it exists and, unless `raw`, that it is text."""
    if not path.exists():
        raise InputError(f"{path} does not exist; {_suggestion(path)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        file = path.open("rb")
        head = b"" if raw else file.peek(4096)[:4096]
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
