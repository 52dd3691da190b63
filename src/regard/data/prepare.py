"""From a data set's published files to train, dev and test, one sentence a line.

Work is done in OUT.part, which becomes OUT by one rename when everything is there: an OUT that exists is complete. What
was fetched stays in OUT.part/raw until then, so that an interrupted fetch goes on. Text is taken as it is, nothing is
normalised or dropped, but for pairs of a table, which are split by connected sentences (`connected.py`).
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from regard.data.connected import split_connected
from regard.data.corpus import Pair, decode_lines
from regard.data.fetch import Told, check, copy_from, digest, download, opened
from regard.data.sources import DataSet, Download, Pairs, Place
from regard.errors import InputError
from regard.files import check_free

SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")
Telling = Callable[[str], Told]  # the name of a file → who is told how far it is
Counts = dict[str, int]  # "train.en" → lines


def fetch_data(data: DataSet, out: Path, source: str | None, telling: Telling) -> Counts:
    """Fetch a data set into the new folder `out`, from its own addresses or from another folder or address."""
    check_free(out)
    work = out.with_name(f"{out.name}.part")
    raw = work / "raw"
    try:
        raw.mkdir(parents=True, exist_ok=True)
        there = {d.name: obtain(d, raw / d.name, source, telling(d.name)) for d in data.downloads}
        counts = write_pairs(data.pairs, there, work) if data.pairs else write_files(data, there, work)
        check_sides(data, counts)
        (work / "README.txt").write_text(describe(data, there, counts), encoding="utf-8")
        shutil.rmtree(raw)
        work.rename(out)
    except OSError as problem:
        where = problem.filename or work
        raise InputError(f"{where} cannot be used: {problem.strerror}; mend that and type the same again") from None
    finally:
        with contextlib.suppress(OSError):  # where nothing came, nothing stays
            raw.rmdir()
            work.rmdir()
    return counts


def obtain(wanted: Download, path: Path, source: str | None, told: Told) -> Path:
    """Where the file lies, once it is there and right."""
    if path.exists():
        return path
    if source is None or source.startswith(("http://", "https://")):
        url = f"{source.rstrip('/')}/{wanted.name}" if source else wanted.url
        download(url, path, wanted.checksum, told)
        return path
    found = copy_from(Path(source), wanted.name, path)
    try:
        check(found, wanted.checksum, str(found))
    except InputError:
        path.unlink(missing_ok=True)
        raise
    return found


def write_files(data: DataSet, there: dict[str, Path], out: Path) -> Counts:
    return {
        name: write_lines(out / name, chain.from_iterable(lines_of(place, there) for place in places))
        for name, places in data.files.items()
    }


def write_pairs(pairs: Pairs, there: dict[str, Path], out: Path) -> Counts:
    parts = split_connected(list(read_table(pairs.place, there)), pairs.dev, pairs.test, pairs.seed)
    counts = {}
    for name, part in (("train", parts.train), ("dev", parts.dev), ("test", parts.test)):
        for side, language in enumerate(pairs.languages):
            counts[f"{name}.{language}"] = write_lines(out / f"{name}.{language}", (pair[side] for pair in part))
    return counts


def read_table(place: Place, there: dict[str, Path]) -> Iterator[Pair]:
    for number, line in enumerate(lines_of(place, there), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{there[place.download]}, line {number} has no tab; it must be source, tab, target")
        yield columns[0], columns[1]


def lines_of(place: Place, there: dict[str, Path]) -> Iterator[str]:
    archive = there[place.download]
    with opened(archive, place.member) as stream:
        lines = decode_lines(stream, place.member or str(archive))
        yield from segments(lines) if place.member.endswith(".sgm") else lines


def segments(lines: Iterable[str]) -> Iterator[str]:
    """The sentences of a WMT test set, as sacreBLEU takes them out of what is not quite SGML.

    >>> list(segments(["<doc>", '<seg id="1"> A  & B </seg>', "</doc>"]))
    ['A & B']
    """
    for line in lines:
        if found := SEGMENT.search(line):
            yield " ".join(found[1].split())


def write_lines(path: Path, lines: Iterable[str]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(f"{line}\n")
            count += 1
    return count


def check_sides(data: DataSet, counts: Counts) -> None:
    for part in ("train", "dev", "test"):
        sides = {name: count for name, count in counts.items() if name.startswith(f"{part}.")}
        if len(set(sides.values())) > 1 or 0 in sides.values():
            told = ", ".join(f"{name} {count:,}" for name, count in sides.items())
            raise InputError(f"the sides of {part} must have as many lines, and some: {told}; is a file damaged?")


def describe(data: DataSet, there: dict[str, Path], counts: Counts) -> str:
    lines = [data.about, f"Licence: {data.licence}", f"Citation: {data.citation}", ""]
    lines += [f"{name:<12}{count:>12,} lines" for name, count in counts.items()]
    if data.pairs:
        lines += ["", f"Split by connected sentences, seed {data.pairs.seed}: no sentence of dev or test is in train."]
    lines += ["", "Made from:"]
    lines += [f"{d.url}\n  sha256 {digest(there[d.name])}" for d in data.downloads]
    return "\n".join(lines) + "\n"
