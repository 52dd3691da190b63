"""Checksums of a bundle's weights and tokenizer, in the format of `sha256sum`, which can check them too.

They are removed before a bundle is written over and written last, so that an interrupted save leaves files without
checksums, never files with wrong ones. A bundle without checksums, as older versions wrote it, is read as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from regard.errors import BundleError
from regard.files import write_atomically

CHECKSUMS = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
LARGEST = 10_000  # bytes of the file


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Of those of these files that are in the folder."""
    found = [name for name in names if (folder / name).is_file()]
    text = "".join(f"{_digest(folder / name)}  {name}\n" for name in found)
    if text:
        write_atomically(folder / CHECKSUMS, lambda path: path.write_text(text, encoding="utf-8"))


def verify(path: Path) -> None:
    """Raise unless a file has the checksum that its folder holds for it, if it holds one."""
    wanted = read_checksums(path.parent).get(path.name)
    if wanted is not None and _digest(path) != wanted:
        raise BundleError(f"{path} is damaged: its checksum differs from the one in {CHECKSUMS}; copy it again")


def read_checksums(folder: Path) -> dict[str, str]:
    """Checksums by file name; none where the folder holds none."""
    path = folder / CHECKSUMS
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"more than {LARGEST:,} bytes")
        lines = [(line, LINE.fullmatch(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as problem:
        raise BundleError(f"{path} cannot be read: {problem}") from None
    for line, match in lines:
        if match is None:
            raise BundleError(f"{path} must hold lines of a SHA-256 sum, two spaces and a file name, not {line[:90]!r}")
    return {match[2]: match[1] for _, match in lines if match}


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise BundleError(f"{path} cannot be read: {problem.strerror or problem}") from None
