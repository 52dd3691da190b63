"""Files from the network, whole and checked, and what lies inside archives.

A download grows in NAME.part. One that was cut off goes on from there (HTTP Range), is checked, and only then gets its
name. Archives are never extracted: a member is read as a stream by the name that we know, so nothing an archive says
can become a path (.tar, .tar.gz, .tgz, .zip, and .gz or .xz around one file). What to fetch is in `sources.py`.
"""

from __future__ import annotations

import gzip
import hashlib
import http.client
import lzma
import re
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from regard.errors import InputError

CHUNK = 1 << 18
TRIES = 3  # of a connection that breaks
SECONDS = 60.0  # of silence before a connection counts as broken
AGENT = "Mozilla/5.0 (compatible; regard)"  # some servers answer 406 to Python's own name
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, gzip.BadGzipFile, EOFError)

Told = Callable[[int, int | None], object]  # bytes there so far, and of all, where the server says so


def silent(done: int, total: int | None) -> None:
    pass


def download(url: str, path: Path, checksum: str | None = None, told: Told = silent) -> None:
    """The file at `url` as `path`. What is already there of it, in PATH.part, is not fetched again."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url} is not an address; it must begin with https:// or http://")
    part = path.with_name(f"{path.name}.part")
    if not any(_transfer(url, part, told) for _ in range(TRIES)):
        came = part.stat().st_size if part.exists() else 0
        raise InputError(
            f"{url}: the connection broke {TRIES} times; {came:,} bytes came and are kept, type the same again to go on"
        )
    try:
        check(part, checksum, url)
    except InputError:
        part.unlink()  # to go on from wrong bytes would never end well
        raise
    part.replace(path)


def _transfer(url: str, part: Path, told: Told) -> bool:
    """One request for what `part` lacks; whether all of it has come."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": AGENT} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:
            if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                have = 0  # a server without ranges sends everything again
            elif not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                part.unlink()
                return False
            length = answer.headers.get("Content-Length")
            total = have + int(length) if length else None
            return _receive(answer, part, have, total, told)
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            if problem.headers.get("Content-Range") == f"bytes */{have}":
                return True  # nothing is lacking
            part.unlink()
            return False
        raise InputError(f"{url} cannot be fetched: {problem.code} {problem.reason}; {ELSEWHERE}") from None
    except urllib.error.URLError as problem:
        why = getattr(problem.reason, "strerror", None) or problem.reason
        raise InputError(f"{url} cannot be reached ({why}); is there a network? {ELSEWHERE}") from None
    except (ConnectionError, TimeoutError, http.client.HTTPException):
        return False


ELSEWHERE = "another place that has the file can be named: --mirror FOLDER or --mirror URL"


def _receive(answer: IO[bytes], part: Path, have: int, total: int | None, told: Told) -> bool:
    with _writing(part), part.open("ab" if have else "wb", buffering=0) as file:
        told(have, total)
        while True:
            chunk = _read(answer)
            if not chunk:
                return total is None or have == total
            file.write(chunk)
            have += len(chunk)
            told(have, total)


def _read(answer: IO[bytes]) -> bytes:
    """What came next; nothing at the end, and nothing from a connection that broke."""
    try:
        return answer.read(CHUNK)
    except (OSError, http.client.HTTPException):
        return b""


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}; make room and type the same again") from None


def check(path: Path, checksum: str | None, name: str) -> None:
    """Hold a file against "sha256:…" or "md5:…"; None: no checksum of it is known."""
    if checksum is None:
        return
    kind, _, wanted = checksum.partition(":")
    found = digest(path, kind)
    if found != wanted:
        raise InputError(
            f"{name} is not the file it should be: its {kind} is {found}, but must be {wanted}; "
            "fetch it again, and if it stays so, the file has changed or was damaged"
        )


def digest(path: Path, kind: str = "sha256") -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


def copy_from(folder: Path, name: str, path: Path) -> Path:
    """A file of a local folder: itself, or decompressed to `path` if it is there as NAME.gz or NAME.xz."""
    if (folder / name).is_file():
        return folder / name
    compressed = next((p for p in (folder / f"{name}.gz", folder / f"{name}.xz") if p.is_file()), None)
    if compressed is None:
        raise InputError(f"{folder} has no {name}, nor {name}.gz or {name}.xz")
    with opened(compressed) as stream, _writing(path), path.open("wb") as file:
        while chunk := stream.read(CHUNK):
            file.write(chunk)
    return path


@contextmanager
def opened(archive: Path, member: str = "") -> Iterator[IO[bytes]]:
    """A file, or a member of an archive, for reading; .gz and .xz are taken off. Nothing is written anywhere."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as box:
                if member not in box.namelist():
                    raise _lacking(archive, member, box.namelist())
                with box.open(member) as stream:
                    yield _plain(stream, member)
        elif re.search(r"\.(tar|tgz|tar\.gz)$", archive.name):
            with tarfile.open(archive) as tape, _tar_member(tape, archive, member) as stream:
                yield _plain(stream, member)
        else:
            with archive.open("rb") as stream:
                yield _plain(stream, archive.name)
    except DAMAGED as problem:
        raise InputError(f"{archive} is damaged ({problem}); remove it and fetch it again") from None


@contextmanager
def _tar_member(tape: tarfile.TarFile, archive: Path, member: str) -> Iterator[IO[bytes]]:
    names = []
    for item in tape:  # as they come: the table of a large archive is only known when all of it was read
        names.append(item.name)
        if item.name.removeprefix("./") == member:
            stream = tape.extractfile(item) if item.isfile() else None  # a link could lead anywhere
            if stream is None:
                raise InputError(f"{member} in {archive} is no plain file; it cannot be the one that is meant")
            with stream:
                yield stream
            return
    raise _lacking(archive, member, names)


def _plain(stream: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]
    return lzma.LZMAFile(stream) if name.endswith(".xz") else stream


def _lacking(archive: Path, member: str, names: list[str]) -> InputError:
    return InputError(f"{archive} has no {member}; it has {', '.join(names[:5])}{' …' * (len(names) > 5)}")
