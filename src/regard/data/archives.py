"""Members of archives as streams, and whether an archive is whole.

Archives are never extracted: a member is read as a stream by a name that we know, so no path in an archive is ever
written to (.tar, .tar.gz, .tgz, .zip, and .gz, .xz, .bz2 or .zst around one file).
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from regard.data.compressed import COMPRESSED, DAMAGED
from regard.errors import InputError

CHUNK = 1 << 18


def check_archive(path: Path, name: str) -> None:
    """Raise unless an archive can be read to its end. `name` says of what kind it is; other files are not read."""
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
def opened(archive: Path, member: str = "") -> Iterator[IO[bytes]]:
    """A file, or a member of an archive, for reading; compressed ones are decompressed. Nothing is written."""
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
            stream = tarred.extractfile(item) if item.isfile() else None  # a link could lead anywhere
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
