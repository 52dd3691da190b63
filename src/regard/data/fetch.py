"""Downloads of files that resume after an interruption and are verified before they get their final name.

A download is written to NAME.part. An interrupted one continues from there (HTTP Range). It is complete when its length
is the one given by the server, its checksum is the known one, and, without a checksum, an archive can be read to its
end. A file that fails the check is removed. `sources.py` lists the downloads, `compressed.py` reads archives.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from regard.data.compressed import CHUNK, COMPRESSED, check_archive, open_member
from regard.errors import InputError

TRIES = 3  # maximum connections for one file
SECONDS = 60.0  # a connection without data for this long counts as broken
AGENT = "Mozilla/5.0 (compatible; regard)"  # some servers answer 406 to Python's default
MIRROR = "another folder or address that has the file can be given as mirror"

OnBytes = Callable[[int, int | None], object]  # called with the bytes so far and, if the server gives it, the total


class Transfer(Enum):
    """How a request ended."""

    WHOLE = "all bytes have come"
    ENDED = "the connection was closed, and the server had not said how many bytes there are"
    BROKEN = "bytes are missing"


def check_online(what: str) -> None:
    """Raises if the user has forbidden network access."""
    if os.environ.get("REGARD_OFFLINE", "") not in ("", "0"):
        raise InputError(f"{what} is not here, and REGARD_OFFLINE is set: unset it, or copy the files here yourself")


def download(url: str, path: Path, checksum: str | None = None, on_bytes: OnBytes = lambda done, total: None) -> None:
    """Downloads the file at `url` to `path`. Bytes that are already in PATH.part are not fetched again."""
    if not url.startswith(("http://", "https://")):
        raise InputError(f"{url} is not an address; it must begin with https:// or http://")
    check_online(url)
    part = path.with_name(f"{path.name}.part")
    damage = None
    for _ in range(TRIES):
        end = _transfer(url, part, on_bytes)
        if end is Transfer.BROKEN:
            continue
        try:
            verify(part, checksum, url)
        except InputError as problem:
            part.unlink()  # continuing after wrong bytes would give a wrong file
            damage = problem
            if end is Transfer.WHOLE:
                break
        else:
            part.replace(path)
            return
    if damage:
        raise damage
    came = part.stat().st_size if part.exists() else 0
    raise InputError(
        f"{url}: the connection broke {TRIES} times; {came:,} bytes came and are kept, type the same again to go on"
    )


def _transfer(url: str, part: Path, on_bytes: OnBytes) -> Transfer:
    """Makes one request for the bytes that `part` lacks."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": AGENT} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=SECONDS) as answer:
            if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
                have = 0  # a server without ranges sends everything again
            elif not answer.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
                part.unlink()
                return Transfer.BROKEN
            return _receive(answer, part, have, on_bytes)
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code == http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            if problem.headers.get("Content-Range") == f"bytes */{have}":
                return Transfer.WHOLE
            part.unlink()
            return Transfer.BROKEN
        what = f"{url} cannot be fetched: {problem.code} {problem.reason}"
        raise InputError(f"{what}; {MIRROR}", parameter="mirror") from None
    except urllib.error.URLError as problem:
        why = getattr(problem.reason, "strerror", None) or problem.reason
        raise InputError(f"{url} cannot be reached ({why}); is there a network? {MIRROR}", parameter="mirror") from None
    except (ConnectionError, TimeoutError, http.client.HTTPException):
        return Transfer.BROKEN


def _receive(answer: http.client.HTTPResponse, part: Path, have: int, on_bytes: OnBytes) -> Transfer:
    length = answer.headers.get("Content-Length")
    total = have + int(length) if length else None
    with _writing(part), part.open("ab" if have else "wb", buffering=0) as file:
        on_bytes(have, total)
        while True:
            try:
                chunk = answer.read(CHUNK)
            except (OSError, http.client.HTTPException):
                return Transfer.BROKEN
            if not chunk:
                break
            file.write(chunk)
            have += len(chunk)
            on_bytes(have, total)
    if total is None:
        return Transfer.WHOLE if answer.chunked else Transfer.ENDED  # chunked encoding marks its own end
    return Transfer.WHOLE if have == total else Transfer.BROKEN


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}; make room and type the same again") from None


def verify(path: Path, checksum: str | None, name: str) -> None:
    """Raises unless a file has its checksum, "sha256:…", "md5:…" or "git-sha1:…". Without one (None), an archive must
    be complete."""
    if checksum is None:
        check_archive(path, name)
        return
    kind, _, wanted = checksum.partition(":")
    found = digest(path, kind)
    if found != wanted:
        raise InputError(
            f"{name} is not the published file: its {kind} is {found}, but must be {wanted}; "
            "fetch it again, and if it stays so, the file has changed or was damaged"
        )


def digest(path: Path, kind: str = "sha256") -> str:
    """Returns the checksum of a file; "git-sha1" is the id of its git blob, over its length and content."""
    with path.open("rb") as file:
        if kind == "git-sha1":
            header = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
            return hashlib.file_digest(file, lambda: header).hexdigest()
        return hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()


def copy_from(folder: Path, name: str, path: Path) -> Path:
    """Returns a file of a local folder: itself, or decompressed to `path` if it is compressed there (NAME.gz)."""
    if (folder / name).is_file():
        return folder / name
    compressed = next((p for suffix in COMPRESSED if (p := folder / f"{name}{suffix}").is_file()), None)
    if compressed is None:
        raise InputError(f"{folder} has no {name}, nor {name} with {', '.join(COMPRESSED)}")
    with open_member(compressed) as stream, _writing(path), path.open("wb") as file:
        while chunk := stream.read(CHUNK):
            file.write(chunk)
    return path
