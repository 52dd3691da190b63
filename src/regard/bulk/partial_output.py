"""The unfinished output of a file translation, in a folder beside the output, so that a killed run can be resumed.

OUT.partial/ holds for each process that writes

    output    the chunks that are done, one after another
    report    their rows of the report
    journal   the work and the chunks that are done (regard.bulk.journal)
    lock      locked by the process that writes

A chunk is first written and synced, then entered in the journal and synced, so the journal is correct at any moment:
after a kill, data in `output` beyond it is cut off and computed again. The final output is put in place by a rename.
A run is resumed only if input, model, settings and version are the same as before. The number of lines in a chunk may
depend on the number of workers; that of the first run is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from regard.bulk.chunks import ChunkResult, TranslationCounts
from regard.bulk.journal import (
    NAMES,
    ChunkEntry,
    FileName,
    Journal,
    checksum,
    damaged,
    read_chunks,
    read_journal,
    size_of,
)
from regard.errors import BundleError, InputError
from regard.files import sync_folder, take_lock


class ProcessShare(NamedTuple):
    """The share of one of `world` processes in a file: the chunks with number % world == rank."""

    rank: int = 0
    world: int = 1

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number % self.world == self.rank


WHOLE = ProcessShare()
CHUNK_LINES = "lines of a chunk"  # the name of an entry of the identity

POLL_SECONDS = 0.2  # interval at which the other processes are polled

# Names of files in the folder; a folder with any other file is refused.
OURS = re.compile(r"(?:\d+-of-\d+\.)?(?:output|report|journal|lock)|joined\.(?:output|report)")


def partial_folder(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


class PartialOutput:
    """The unfinished output of one process, opened and locked to be continued until it is closed."""

    def __init__(
        self,
        out: Path,
        share: ProcessShare,
        identity: Mapping[str, Any],
        restart: bool = False,
        report: Path | None = None,
    ) -> None:
        self.share = share
        self.out, self.report = out, report  # the final paths
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

    def place(self, name: FileName, rank: int | None = None) -> Path:
        """Returns the path of `output` or `report`: in the folder, or the final one if it has been moved there."""
        path, final = self.path(name, rank), self.out if name == "output" else self.report
        return final if final is not None and self.ended and not path.exists() else path

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
        journal = journal or Journal(self.identity)
        self.chunk_lines: int | None = journal.identity.get(CHUNK_LINES)
        self.ended, self.done = journal.ended, len(journal.entries)
        moved = any(self.place(name) != self.path(name) for name in NAMES)
        if not moved:
            self._cut_off(journal)
        for entry in journal.entries:
            self.tally.join(TranslationCounts(**entry.tally))
        self.done, self.lines = len(journal.entries), sum(entry.lines for entry in journal.entries)

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
            names = [name for name in {**then, **now} if then.get(name) != now.get(name) and name != CHUNK_LINES]
            differs = f"another {names[0]}" if names else ""
        if differs:
            raise InputError(
                f"{self.folder} contains an unfinished translation with {differs}; use the same settings to resume it, "
                "or restart, which discards it",
                parameter="restart",
            )

    def _cut_off(self, journal: Journal) -> None:
        """Truncates the files to what is in the journal and undamaged. Raises InputError if a chunk before the last is
        damaged; chunks may be missing at the end after a crash of the machine."""
        for name in NAMES:
            path = self.path(name)
            good = sum(1 for _ in read_chunks(path, journal.entries, name))
            later = journal.entries[good + 1 :]
            if later and size_of(path) > getattr(journal.entries[good], name):
                raise damaged(f"{path} is damaged in chunk {good + 1:,} of {len(journal.entries):,}", self.folder)
            if good < len(journal.entries):  # the chunk is translated again
                del journal.entries[good:], journal.places[good + 1 :]
                journal.ended = self.ended = False
        self._files += [self.path(name).open("ab") for name in (*NAMES, "journal")]
        self.offsets = [journal.ends(name) for name in NAMES]
        size, self._chain = journal.places[-1] if journal.places else (0, "")
        for file, end in zip(self._files, (*self.offsets, size), strict=True):
            file.truncate(end)
            file.seek(end)
        if not journal.places:
            self._write(self.identity)
            sync_folder(self.folder)
            sync_folder(self.folder.parent)

    def _write(self, row: Any) -> None:
        journal = self._files[-1]
        text = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
        self._chain = checksum(self._chain.encode(), text)
        journal.write(self._chain.encode() + b" " + text + b"\n")
        journal.flush()
        os.fsync(journal.fileno())

    def wait_for(self, rank: int) -> list[ChunkEntry]:
        """Waits until a process of the same translation has finished, and returns its entries. Raises InputError if
        its files do not have exactly these chunks."""
        while True:
            journal = read_journal(self.path("journal", rank))
            if journal is not None and journal.ended and journal.identity == self.identity:
                break
            if rank == self.share.rank:
                raise damaged(f"{self.path('journal')} is damaged", self.folder)
            time.sleep(POLL_SECONDS)
        for name in NAMES:
            path = self.place(name, rank)
            read = sum(1 for _ in read_chunks(path, journal.entries, name))
            if read < len(journal.entries) or size_of(path) != journal.ends(name):
                raise damaged(f"{path} is damaged", self.folder)
        return journal.entries

    def add(self, number: int, result: ChunkResult, lines: int) -> None:
        """Writes a chunk such that a kill neither loses nor duplicates it."""
        try:
            for index, data in enumerate((result.output, result.report)):
                file = self._files[index]
                file.write(data)
                file.flush()
                if data:
                    os.fsync(file.fileno())
                self.offsets[index] += len(data)
            sums = checksum(result.output), checksum(result.report)
            self._write([number, lines, *self.offsets, *sums, result.tally.to_dict()])
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
            # Before the lock is released, so that no other process has started here; no journal without its files.
            for path in sorted(self.folder.iterdir(), key=lambda path: not path.name.endswith("journal")):
                path.unlink()
            self.folder.rmdir()
        self.close()

    def __enter__(self) -> PartialOutput:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
