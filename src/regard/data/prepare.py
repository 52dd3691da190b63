"""Converts a data set's published files to train, dev and test, one sentence per line.

Files are written to OUT.part, which is renamed to OUT when everything is done: an OUT that exists is complete.
Downloads stay in OUT.part/raw until then, so that an interrupted fetch continues. Text is not normalised and nothing is
dropped, except that pairs of a table are split by connected sentences (`splits.py`).
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

from regard.data.compressed import open_member
from regard.data.corpus import Pair
from regard.data.fetch import OnBytes, copy_from, digest, download, verify
from regard.data.sources import DataSet, Download, LinesFile, PairTable, ParallelFiles
from regard.data.splits import split_connected
from regard.data.text_files import decode_lines
from regard.errors import InputError
from regard.files import check_free

SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")
ProgressOf = Callable[[str], OnBytes]  # called with the name of a file
Counts = dict[str, int]  # "train.en" → lines


def fetch_data(data: DataSet, out: Path, mirror: str | None, progress_of: ProgressOf) -> Counts:
    """Fetches a data set into the new folder `out`, from its own URLs or from a mirror, which is a folder or a URL."""
    check_free(out)
    work = out.with_name(f"{out.name}.part")
    raw = work / "raw"
    try:
        raw.mkdir(parents=True, exist_ok=True)
        files = {d.name: obtain(d, raw / d.name, mirror, progress_of(d.name)) for d in data.downloads}
        counts = write_data(data, files, work)
        check_sides(counts)
        (work / "README.txt").write_text(describe(data, files, counts), encoding="utf-8")
        shutil.rmtree(raw)
        work.rename(out)
    except OSError as problem:
        where = problem.filename or work
        raise InputError(f"{where} cannot be used: {problem.strerror}; correct that and type the same again") from None
    finally:
        with contextlib.suppress(OSError):  # they are empty if nothing was fetched
            raw.rmdir()
            work.rmdir()
    return counts


def obtain(wanted: Download, path: Path, mirror: str | None, on_bytes: OnBytes) -> Path:
    """Returns the path of the file, which is fetched unless it exists already and is verified."""
    if path.exists():
        try:
            verify(path, wanted.checksum, wanted.name)
            return path
        except InputError:
            path.unlink()
    if mirror is None or mirror.startswith(("http://", "https://")):
        url = f"{mirror.rstrip('/')}/{wanted.name}" if mirror else wanted.url
        download(url, path, wanted.checksum, on_bytes)
        return path
    found = copy_from(Path(mirror), wanted.name, path)
    try:
        verify(found, wanted.checksum, str(found))
    except InputError:
        path.unlink(missing_ok=True)
        raise
    return found


def write_data(data: DataSet, files: dict[str, Path], out: Path) -> Counts:
    if data.pairs:
        return write_pairs(data.pairs, files, out)
    if data.parallel:
        return write_parallel(data.parallel, files, out)
    counts: Counts = {}
    for name, parts in data.files.items():
        counts |= write_sides(out, [name], ((line,) for part in parts for line in lines_of(part, files)))
    return counts


def write_pairs(table: PairTable, files: dict[str, Path], out: Path) -> Counts:
    parts = split_connected(list(read_table(table.lines, files)), table.dev, table.test, table.seed)
    counts: Counts = {}
    for name, part in parts.items():
        counts |= write_sides(out, [f"{name}.{language}" for language in table.languages], part)
    return counts


def write_parallel(data: ParallelFiles, files: dict[str, Path], out: Path) -> Counts:
    """Writes all but the last pairs as training data. Only the held-out pairs are in memory."""
    held = deque[Pair]()

    def training() -> Iterator[Pair]:
        for source, target in zip_longest(*(lines_of(side, files) for side in data.sides)):
            if source is None or target is None:
                raise InputError("the two sides have different numbers of lines; is a file damaged?")
            if source.strip() and target.strip():
                held.append((source, target))
                if len(held) > data.dev + data.test:
                    yield held.popleft()

    def write(part: str, pairs: Iterable[Pair]) -> Counts:
        return write_sides(out, [f"{part}.{language}" for language in data.languages], pairs)

    counts, last = write("train", training()), list(held)
    return counts | write("dev", last[: data.dev]) | write("test", last[data.dev :])


def read_table(lines: LinesFile, files: dict[str, Path]) -> Iterator[Pair]:
    for number, line in enumerate(lines_of(lines, files), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{files[lines.download]}, line {number} has no tab; it must be source, tab, target")
        yield columns[0], columns[1]


def lines_of(lines: LinesFile, files: dict[str, Path]) -> Iterator[str]:
    archive = files[lines.download]
    with open_member(archive, lines.member) as stream:
        decoded = decode_lines(stream, lines.member or str(archive))
        yield from segments(decoded) if lines.member.endswith(".sgm") else decoded


def segments(lines: Iterable[str]) -> Iterator[str]:
    """Yields the sentences of a WMT test set, extracted as sacreBLEU does; the files are not valid SGML.

    >>> list(segments(["<doc>", '<seg id="1"> A  & B </seg>', "</doc>"]))
    ['A & B']
    """
    for line in lines:
        if found := SEGMENT.search(line):
            yield " ".join(found[1].split())


def write_sides(out: Path, names: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Counts:
    """Writes one file for each side of the rows; returns the number of lines by file."""
    count = 0
    with ExitStack() as stack:
        files = [stack.enter_context((out / name).open("w", encoding="utf-8", newline="\n")) for name in names]
        for count, row in enumerate(rows, start=1):  # noqa: B007 (the number of the last is their count)
            for file, text in zip(files, row, strict=True):
                file.write(f"{text}\n")
    return dict.fromkeys(names, count)


def check_sides(counts: Counts) -> None:
    for part in ("train", "dev", "test"):
        sides = {name: count for name, count in counts.items() if name.startswith(f"{part}.")}
        if len(set(sides.values())) > 1 or 0 in sides.values():
            found = ", ".join(f"{name} {count:,}" for name, count in sides.items())
            raise InputError(f"the sides of {part} must have as many lines, and some: {found}; is a file damaged?")


def describe(data: DataSet, files: dict[str, Path], counts: Counts) -> str:
    lines = [data.about, f"Licence: {data.licence}", f"Citation: {data.citation}", ""]
    lines += [f"{name:<12}{count:>12,} lines" for name, count in counts.items()]
    if data.pairs:
        lines += ["", f"Split by connected sentences, seed {data.pairs.seed}: no sentence of dev or test is in train."]
    lines += ["", "Made from:"]
    lines += [f"{d.url}\n  sha256 {digest(files[d.name])}" for d in data.downloads]
    return "\n".join(lines) + "\n"
