"""The end of a file translation: what the processes have written becomes the output and the report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Literal

from regard.bulk.journal import ChunkEntry, PartialOutput, chunk_bytes, read_journal
from regard.bulk.tally import Tally
from regard.errors import InputError
from regard.files import sync_folder

POLL = 0.2  # seconds between two looks at the other processes

# Chunks of the output, in order → the file of this name.
Join = Callable[[Iterable[bytes], Path], None]


def write_all(chunks: Iterable[bytes], path: Path) -> None:
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)


def finish(part: PartialOutput, report: Path | None, join: Join = write_all) -> Tally:
    """Put output and report in their places, then remove the folder. Of several processes, the first waits for the
    others and does it for all. A kill in between leaves what can be finished again."""
    if part.share.world == 1 and not part.path("output").exists():  # killed after the renames
        part.remove()
        return part.tally
    journals = [_wait_for(part, rank) for rank in range(part.share.world)]
    tally = Tally()
    for entry in _in_order(journals):
        tally.join(Tally.from_dict(entry.tally))
    if report is not None and part.path("report").exists():
        _place(part, journals, "report", write_all, report)
    _place(part, journals, "output", join, part.out)
    part.remove()
    return tally


def _place(
    part: PartialOutput, journals: list[list[ChunkEntry]], name: Literal["output", "report"], join: Join, to: Path
) -> None:
    whole = part.path(name)
    if part.share.world > 1 or join is not write_all:
        streams = [
            chunk_bytes(part.path(name, rank), [getattr(entry, name) for entry in entries])
            for rank, entries in enumerate(journals)
        ]
        whole = part.folder / f"joined.{name}"
        join(_interleaved(streams), whole)
    with whole.open("rb+") as file:
        os.fsync(file.fileno())
    try:
        whole.replace(to)
    except OSError as problem:
        raise InputError(f"{to} cannot be written: {problem.strerror or problem}; {whole} holds it") from None
    sync_folder(to.parent)


def _interleaved(streams: list[Iterator[bytes]]) -> Iterator[bytes]:
    """Chunk k is in stream k mod n."""
    for number in count():
        found = next(streams[number % len(streams)], None)
        if found is None:
            return
        yield found


def _in_order(journals: list[list[ChunkEntry]]) -> list[ChunkEntry]:
    return sorted(entry for entries in journals for entry in entries)


def _wait_for(part: PartialOutput, rank: int) -> list[ChunkEntry]:
    """The journal of a process that has ended its work."""
    while True:
        journal = read_journal(part.path("journal", rank))
        if journal is not None and journal.ended and journal.identity == part.identity:
            return journal.entries
        time.sleep(POLL)
