"""The journal of a file translation, in a folder beside its output, so that a killed run can be resumed.

OUT.partial/ holds for each process that writes

    output    the chunks that are done, one after another
    report    their rows of the report
    journal   a line that identifies the work, then a line for each chunk in `output`, then the line "end"
    lock      locked by the process that writes

A chunk is first written and synced, then entered in the journal and synced, so the journal is correct at any moment:
after a kill, data in `output` beyond it is cut off and computed again. The final output is put in place by a rename.
A run is resumed only if input, model, settings and version are the same as before.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from regard.bulk.chunks import ChunkResult, TranslationCounts
from regard.bundle.folder import beside
from regard.errors import BundleError, InputError
from regard.files import sync_folder, take_lock
from regard.text.glossary import Glossary
from regard.version import __version__


class ProcessShare(NamedTuple):
    """The share of one of `world` processes in a file: the chunks with number % world == rank."""

    rank: int = 0
    world: int = 1

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number % self.world == self.rank


WHOLE = ProcessShare()


CHECKED_BYTES = 1 << 16  # bytes read at the beginning and at the end of the input
POLL_SECONDS = 0.2  # interval at which the other processes are polled
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


# Names of files in the folder; a folder with any other file is refused.
OURS = re.compile(r"(?:\d+-of-\d+\.)?(?:output|report|journal|lock)|joined\.(?:output|report)")


class ChunkEntry(NamedTuple):
    """A line of the journal: a chunk, its end offsets in `output` and `report`, and its counts."""

    number: int
    lines: int
    output: int
    report: int
    tally: dict[str, Any]


@dataclass
class Journal:
    """The contents of a journal file."""

    identity: dict[str, Any]
    entries: list[ChunkEntry] = field(default_factory=list)
    ended: bool = False
    size: int = 0  # bytes up to the end of the last whole line

    @property
    def ends(self) -> tuple[int, int]:
        """The number of finished bytes of `output` and of `report`."""
        return (self.entries[-1].output, self.entries[-1].report) if self.entries else (0, 0)


def partial_folder(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def read_journal(path: Path) -> Journal | None:
    """Reads a journal up to its last whole line; None if there is no file or no whole line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    found: Journal | None = None
    for line in data.splitlines(keepends=True):
        try:
            row = json.loads(line) if line.endswith(b"\n") else None
        except (ValueError, RecursionError):
            row = None
        if row is None:  # the process was killed while it wrote this line
            break
        if found is None:
            found = Journal(row if isinstance(row, dict) else {})
        elif row == "end":
            found.ended = True
        elif isinstance(row, list) and len(row) == len(ChunkEntry._fields):
            found.entries.append(ChunkEntry(*row))
        else:  # not written by this version
            break
        found.size += len(line)
    return found


class PartialOutput:
    """The unfinished output of one process, opened and locked to be continued until it is closed."""

    def __init__(self, out: Path, share: ProcessShare, identity: Mapping[str, Any], restart: bool = False) -> None:
        self.out, self.share = out, share
        self.folder = partial_folder(out)
        self.identity, self.tally = dict(identity), TranslationCounts()
        self._files: list[IO[bytes]] = []  # output, report and journal, once they are open
        while True:
            self.folder.mkdir(exist_ok=True)
            try:
                strange = [path.name for path in self.folder.iterdir() if not OURS.fullmatch(path.name)]
                if strange:
                    raise InputError(f"{self.folder} holds {strange[0]}, which is not of a translation; rename it")
                self._lock = take_lock(self.path("lock"), self._in_use)
                break
            except FileNotFoundError:  # another process has finished and removed the folder
                continue
        try:
            self._begin(restart)
        except OSError as problem:
            if getattr(self, "done", 0):
                self.close()
            else:
                self.remove()
            raise self._unwritable(problem) from None
        except BaseException:
            self._lock.close()
            raise

    def path(self, name: str, rank: int | None = None) -> Path:
        """Returns the path of a file of the folder; with several processes each has its own: 0-of-2.output."""
        if self.share.world == 1:
            return self.folder / name
        return self.folder / f"{self.share.rank if rank is None else rank}-of-{self.share.world}.{name}"

    def _unwritable(self, problem: OSError) -> BundleError:
        return BundleError(f"cannot write {self.out}: {problem.strerror or problem}")

    def _in_use(self, holder: str) -> InputError:
        return InputError(f"{holder} is writing {self.out}; wait for it, or choose another name", parameter="out")

    def _begin(self, restart: bool) -> None:
        if restart:
            self._discard()
        journal = read_journal(self.path("journal"))
        self._check(journal)
        self.resumed = journal is not None and bool(journal.entries or journal.ended)
        self.ended = journal is not None and journal.ended
        if journal is None:
            for name in ("output", "report"):
                self.path(name).unlink(missing_ok=True)
            journal = Journal(self.identity)
        if self.ended and self._is_whole(journal):
            self.done = len(journal.entries)
        else:
            self._cut_off(journal)
        for entry in journal.entries:
            self.tally.join(TranslationCounts(**entry.tally))
        self.lines = sum(entry.lines for entry in journal.entries)

    def _discard(self) -> None:
        """Removes the files of earlier processes; raises InputError if one of them is still running."""
        for path in self.folder.glob("*lock"):
            if path != self.path("lock"):
                take_lock(path, self._in_use).close()
        for path in self.folder.iterdir():
            if path != self.path("lock"):
                path.unlink()

    def _check(self, journal: Journal | None) -> None:
        """Raises InputError if the folder belongs to a different translation."""
        known = {self.path("journal", rank) for rank in range(self.share.world)}
        other = next((path for path in sorted(self.folder.glob("*journal")) if path not in known), None)
        differs = "another number of processes" if other else ""
        if journal is not None and not differs:
            then, now = journal.identity, self.identity
            names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
            differs = f"another {names[0]}" if names else ""
        if differs:
            raise InputError(
                f"{self.folder} contains an unfinished translation with {differs}; use the same settings to resume it, "
                "or restart, which discards it",
                parameter="restart",
            )

    def _is_whole(self, journal: Journal) -> bool:
        """Whether the files are as long as the journal says, or have been moved to their final place."""
        paths = zip(map(self.path, ("output", "report")), journal.ends, strict=True)
        return all(not path.exists() or path.stat().st_size >= end for path, end in paths)

    def _cut_off(self, journal: Journal) -> None:
        """Truncates the files to the state that the journal records."""
        self._files += [self.path(name).open("ab") for name in ("output", "report", "journal")]
        sizes = [file.tell() for file in self._files]
        while journal.ends[0] > sizes[0] or journal.ends[1] > sizes[1]:
            journal.entries.pop()  # data lost in a machine crash; the chunk is translated again
            journal.ended = self.ended = False
            journal.size = 0
        self.done = len(journal.entries)
        self.offsets = journal.ends
        for file, size in zip(self._files, (*self.offsets, journal.size), strict=True):
            file.truncate(size)
            file.seek(size)
        if not journal.size:
            self._write(journal.identity, *([list(entry) for entry in journal.entries]))
            sync_folder(self.folder)
            sync_folder(self.folder.parent)

    def _write(self, *rows: Any) -> None:
        journal = self._files[-1]
        for row in rows:
            journal.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        journal.flush()
        os.fsync(journal.fileno())

    def wait_for(self, rank: int) -> list[ChunkEntry]:
        """Waits until another process of the same translation has finished, and returns its entries."""
        while True:
            journal = read_journal(self.path("journal", rank))
            if journal is not None and journal.ended and journal.identity == self.identity:
                return journal.entries
            time.sleep(POLL_SECONDS)

    def add(self, number: int, result: ChunkResult, lines: int) -> None:
        """Writes a chunk such that a kill neither loses nor duplicates it."""
        try:
            for file, data in zip(self._files, (result.output, result.report), strict=False):
                file.write(data)
                file.flush()
                if data:
                    os.fsync(file.fileno())
            self.offsets = self.offsets[0] + len(result.output), self.offsets[1] + len(result.report)
            self._write([number, lines, *self.offsets, result.tally.to_dict()])
        except OSError as problem:  # a full disk; earlier chunks are kept
            raise self._unwritable(problem) from None
        self.done += 1
        self.tally.join(result.tally)

    def end(self) -> None:
        """Records that all chunks of this process are done."""
        if not self.ended:
            self._write("end")
            self.ended = True

    def close(self) -> None:
        for file in self._files:
            with contextlib.suppress(OSError):  # finished chunks were synced; flushing the rest may fail on a full disk
                file.close()
        self._lock.close()

    def remove(self) -> None:
        """Removes the folder, after the output has been put in place."""
        if os.name != "posix":  # where an open file cannot be removed
            self.close()
        with contextlib.suppress(OSError):  # the output is in place already
            for path in self.folder.iterdir():  # before the lock is released, so that no other process has started here
                path.unlink()
            self.folder.rmdir()
        self.close()

    def __enter__(self) -> PartialOutput:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
