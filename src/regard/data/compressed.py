"""Compressed files by their suffix (.gz .xz .bz2 .zst), and members of archives as streams.

A file may be several concatenated members (streams, frames), as from `cat a.gz b.gz`. All are read as one.

Archives are never extracted: a member is read as a stream by a known name, so no path in an archive is ever written to
(.tar, .tar.gz, .tgz, .zip, and .gz, .xz, .bz2 or .zst around one file).
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from regard.errors import InputError

DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)  # what reading a damaged file raises; see damaged()
ZSTD_BLOCK = 2048  # bytes; a block of this size cannot expand to more than 64 MB


class ZstdFile(io.RawIOBase):
    """The decompressed bytes of a .zst file. zstandard's own reader does not detect a truncated file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._zstandard = file, _zstandard()
        self._frame: Any = None  # None between frames
        self._given = self._plain = b""  # bytes already read of the next frame, decompressed bytes not yet returned

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


# The function that opens a file of each suffix; called like `open`, also with an open file in place of its name.
COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open, ".zst": _open_zstd}
MEMBERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": partial(gzip.compress, compresslevel=6, mtime=0),
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: cast(bytes, _zstandard().ZstdCompressor().compress(data)),
}


def member(suffix: str, data: bytes) -> bytes:
    """Compresses data as one member of a file of this suffix; unchanged if the suffix means no compression. Members can
    be concatenated to a file.

    >>> gzip.decompress(member(".gz", b"one ") + member(".gz", b"two"))
    b'one two'
    """
    return MEMBERS[suffix](data) if suffix in MEMBERS else data


def damaged(problem: Exception) -> bool:
    """Whether an exception while reading means that a compressed file is damaged: for bz2 it is an OSError without
    errno."""
    return isinstance(problem, DAMAGED) or (isinstance(problem, OSError) and problem.errno is None)


def bare_suffixes(path: Path) -> list[str]:
    """
    >>> bare_suffixes(Path("train.en.tsv.bz2"))
    ['.en', '.tsv']
    """
    return [suffix for suffix in path.suffixes if suffix not in COMPRESSED]


CHUNK = 1 << 18


def check_archive(path: Path, name: str) -> None:
    """Raises unless an archive can be read to its end. Its kind is given by `name`; other files are not read."""
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                if damaged := archive.testzip():
                    raise zipfile.BadZipFile(f"bad checksum of {damaged}")
        elif name.endswith(".tar"):
            _check_tar(path)
        elif name.endswith((".tgz", *COMPRESSED)):
            with path.open("rb") as file, _plain(file, name.replace(".tgz", ".gz")) as stream:
                while stream.read(CHUNK):
                    pass
    except (*DAMAGED, tarfile.TarError, zipfile.BadZipFile) as problem:
        raise InputError(f"{name} is cut off or damaged ({problem}); fetch it again") from None


def _check_tar(path: Path) -> None:
    with tarfile.open(path) as archive:
        for _ in archive:
            pass
    with path.open("rb") as file:
        file.seek(-min(1024, path.stat().st_size), 2)
        if any(file.read()):
            raise tarfile.ReadError("no end-of-archive block")


@contextmanager
def open_member(archive: Path, member: str = "") -> Iterator[IO[bytes]]:
    """Opens a file, or a member of an archive, for reading, decompressed. Nothing is written."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                if member not in zipped.namelist():
                    raise _lacking(archive, member, zipped.namelist())
                with zipped.open(member) as stream:
                    yield _plain(stream, member)
        elif re.search(r"\.(tar|tgz|tar\.gz)$", archive.name):
            with tarfile.open(archive) as tarred, _tar_member(tarred, archive, member) as stream:
                yield _plain(stream, member)
        else:
            with archive.open("rb") as stream:
                yield _plain(stream, archive.name)
    except (*DAMAGED, tarfile.TarError, zipfile.BadZipFile) as problem:
        raise InputError(f"{archive} is damaged ({problem}); remove it and fetch it again") from None


@contextmanager
def _tar_member(tarred: tarfile.TarFile, archive: Path, member: str) -> Iterator[IO[bytes]]:
    names = []
    for item in tarred:  # in order: a tar has no table of contents
        names.append(item.name)
        if item.name.removeprefix("./") == member:
            stream = tarred.extractfile(item) if item.isfile() else None  # a link could point anywhere
            if stream is None:
                raise InputError(f"{member} in {archive} is not a plain file")
            with stream:
                yield stream
            return
    raise _lacking(archive, member, names)


def _plain(stream: IO[bytes], name: str) -> IO[bytes]:
    suffix = Path(name).suffix
    return cast(IO[bytes], COMPRESSED[suffix](stream)) if suffix in COMPRESSED else stream


def _lacking(archive: Path, member: str, names: list[str]) -> InputError:
    return InputError(f"{archive} has no {member}; it has {', '.join(names[:5])}{' …' * (len(names) > 5)}")
