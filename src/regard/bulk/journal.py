"""The journal of a file translation: what identifies the work, which chunks are done, and checksums of their bytes.

A journal is a line that identifies the work, then a line for each chunk, then the line "end". Each begins with a
checksum of itself and of the checksum before; a chunk's line has those of the chunk's bytes. So damaged files are
noticed: damage at the end is translated again, any other is an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from regard.bundle.folder import beside
from regard.errors import InputError
from regard.text.glossary import Glossary
from regard.version import __version__

CHECKED_BYTES = 1 << 16  # bytes read at the beginning and at the end of the input
IGNORED_OPTIONS = ("progress", "batch_tokens")  # options of `translate` that do not change a translation


def input_identity(path: Path) -> list[Any]:
    """Returns the size, the modification time, and a checksum of both ends of a file."""
    about = path.stat()
    with path.open("rb") as file:
        ends = file.read(CHECKED_BYTES)
        file.seek(max(0, about.st_size - CHECKED_BYTES))
        ends += file.read(CHECKED_BYTES)
    return [about.st_size, about.st_mtime_ns, hashlib.blake2b(ends, digest_size=16).hexdigest()]


def model_identity(folders: Iterable[Path]) -> str:
    """Returns a checksum of all files of the models."""
    digest = hashlib.blake2b(digest_size=16)
    for folder in folders:
        other = beside(folder)
        for place in (folder, *([other] if other else [])):
            for path in sorted(path for path in place.rglob("*") if path.is_file()):
                digest.update(str(path.relative_to(place)).encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def work_identity(
    input: Path, model: Iterable[Path], settings: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Identifies a translation: JSON values by name as shown in messages ("input", "model", "value of beam" …)."""
    found = {
        "version of regard": __version__,
        "input file, or one that has changed": input_identity(input),
        "model": model_identity(model),
    }
    for name, value in {**settings, **options}.items():
        if name not in IGNORED_OPTIONS:
            found[f"value of {name}"] = repr(value.terms if isinstance(value, Glossary) else value)
    compared: dict[str, Any] = json.loads(json.dumps(found))
    return compared


FileName = Literal["output", "report"]
NAMES: tuple[FileName, ...] = ("output", "report")


class ChunkEntry(NamedTuple):
    """A line of the journal: a chunk, its end offsets in `output` and `report`, the checksums of its bytes there, and
    its counts."""

    number: int
    lines: int
    output: int
    report: int
    output_sum: str
    report_sum: str
    tally: dict[str, Any]


@dataclass
class Journal:
    """The contents of a journal file."""

    identity: dict[str, Any]
    entries: list[ChunkEntry] = field(default_factory=list)
    ended: bool = False
    places: list[tuple[int, str]] = field(default_factory=list)  # the end offset and the checksum of each whole line

    def ends(self, name: FileName) -> int:
        """The number of finished bytes of a file."""
        return getattr(self.entries[-1], name) if self.entries else 0


def checksum(*parts: bytes) -> str:
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()


def damaged(what: str, folder: Path) -> InputError:
    return InputError(
        f"{what}; restart, which discards the unfinished translation in {folder}, or remove this folder",
        parameter="restart",
    )


def read_journal(path: Path) -> Journal | None:
    """Reads a journal up to its last whole line; None if there is no file or no whole line. Raises InputError if it is
    damaged elsewhere than in its last line, which a crash can leave incomplete."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return None
    found: Journal | None = None
    size, chain = 0, ""
    for number, line in enumerate(lines[:-1], start=1):
        given, _, text = line.partition(b" ")
        chain = checksum(chain.encode(), text)
        if given != chain.encode() or (found and found.ended):
            if any(lines[number:]):
                old = number == 1 and line.startswith(b"{")
                what = "was written by another version of regard" if old else f"is damaged in line {number}"
                raise damaged(f"{path} {what}", path.parent)
            break
        row = json.loads(text)
        if found is None:
            found = Journal(row)
        elif row == "end":
            found.ended = True
        else:
            found.entries.append(ChunkEntry(*row))
        size += len(line) + 1
        found.places.append((size, chain))
    return found


def read_chunks(path: Path, entries: Iterable[ChunkEntry], name: FileName) -> Iterator[bytes]:
    """Yields the bytes of chunks in `output` or `report`, up to the first that is missing or damaged."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        for entry in entries:
            data = file.read(getattr(entry, name) - file.tell())
            if checksum(data) != getattr(entry, f"{name}_sum"):
                return
            yield data


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
