"""Compressed files by their suffix: .gz, .xz, .bz2 and .zst.

A file may be several members (streams, frames) one after another, as `cat a.gz b.gz` makes it. All are read as one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from regard.errors import InputError

DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)  # what reading a damaged file raises; see damaged()
ZSTD_BLOCK = 2048  # bytes; a block of this size cannot expand to more than 64 MB


class ZstdFile(io.RawIOBase):
    """The plain bytes of a .zst file. zstandard's own reader takes a file that is cut off for one that ends."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._zstandard = file, _zstandard()
        self._frame: Any = None  # None between frames
        self._given = self._plain = b""  # bytes of the next frame that were read, plain bytes that were not returned

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._plain:
            block = self._given or self._file.read(ZSTD_BLOCK)
            if not block:
                if self._frame is not None:
                    raise EOFError("the last frame is cut off")
                return 0
            self._plain = self._decompressed(block)
        some = self._plain[: len(buffer)]
        buffer[: len(some)] = some
        self._plain = self._plain[len(some) :]
        return len(some)

    def _decompressed(self, block: bytes) -> bytes:
        self._frame = self._frame or self._zstandard.ZstdDecompressor().decompressobj()
        try:
            plain = self._frame.decompress(block)
        except self._zstandard.ZstdError as problem:
            raise EOFError(str(problem)) from None
        self._given = self._frame.unused_data if self._frame.eof else b""
        if self._frame.eof:
            self._frame = None
        return cast(bytes, plain)

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_zstd(file: str | PathLike[str] | IO[bytes], mode: str = "rb", **text: Any) -> IO[Any]:
    zstandard = _zstandard()
    if "r" not in mode:
        return cast(IO[Any], zstandard.open(file, mode, **text))
    raw = Path(file).open("rb") if isinstance(file, str | PathLike) else file  # noqa: SIM115 (ZstdFile closes it)
    plain = io.BufferedReader(ZstdFile(raw), 1 << 16)
    return io.TextIOWrapper(plain, **text) if "t" in mode else cast(IO[Any], plain)


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise InputError('a .zst file needs the package zstandard; install it: pip install "regard[zstd]"') from None
    return zstandard


# How to open a file of this suffix; called like `open`, also with an open file in place of its name.
COMPRESSED: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _open_zstd,
}
MEMBERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, compresslevel=6, mtime=0),
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: cast(bytes, _zstandard().ZstdCompressor().compress(data)),
}


def member(suffix: str, data: bytes) -> bytes:
    """The data as one member of a file of this suffix; as it is where the suffix means no compression. Members one
    after another are a file.

    >>> gzip.decompress(member(".gz", b"one ") + member(".gz", b"two"))
    b'one two'
    """
    return MEMBERS[suffix](data) if suffix in MEMBERS else data


def damaged(problem: Exception) -> bool:
    """Whether an exception of reading means that a compressed file is damaged: for bz2 it is an OSError without a
    number."""
    return isinstance(problem, DAMAGED) or (isinstance(problem, OSError) and problem.errno is None)


def bare_suffixes(path: Path) -> list[str]:
    """
    >>> bare_suffixes(Path("train.en.tsv.bz2"))
    ['.en', '.tsv']
    """
    return [suffix for suffix in path.suffixes if suffix not in COMPRESSED]
