"""How many sentences of test and development sets are in the training files, on either side.

    python recipes/box/leaks.py DATA [FURTHER TRAINING FILES …]

Held out are DATA/tests/*, DATA/heldout/* and every DATA/*/dev.* and test.*; training files are every DATA/*/train.*,
DATA/mono/*.txt and those named. `same` counts the sentences that are a training line but for case, punctuation and
spaces; it must be 0, and the script ends with code 1 if it is not. `inside` counts those of 8 or more words that stand
whole in a longer line, or of which 13 words in a row stand in one; `near` in the second table the training lines that
are held out but for a few words.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.data.overlap import LONG, SPAN, HashedLines, Hashes, HeldOutText, Overlap, contains, key_words
from regard.data.text_files import read_lines
from regard.report.table import Table

CHUNK = 20_000
Counts = NDArray[np.int64]


def hashed(path: Path) -> Iterator[HashedLines]:
    stream = read_lines(path)
    while some := list(islice(stream, CHUNK)):
        yield HashedLines.of([key_words(line) for line in some])


def held_out_files(data: Path) -> list[Path]:
    parts = (path for part in ("dev", "test") for path in data.glob(f"*/{part}.*"))
    return sorted([*data.glob("tests/*"), *data.glob("heldout/*"), *parts])


def training_files(data: Path) -> list[Path]:
    return sorted(data.glob("*/train.*")) + sorted(p for p in (data / "mono").glob("*.txt") if ".report" not in p.name)


@dataclass(frozen=True)
class Seen:
    """What of the held-out sentences was seen in training lines: whole sentences, and runs of words by their length."""

    same: Hashes
    runs: dict[int, Hashes]

    @classmethod
    def joined(cls, parts: Sequence[Seen]) -> Seen:
        runs = {n: np.unique(np.concatenate([part.runs[n] for part in parts])) for n in range(SPAN, LONG + 1)}
        return cls(np.unique(np.concatenate([part.same for part in parts])), runs)

    @classmethod
    def of(cls, held: HeldOutText, lines: HashedLines) -> Seen:
        whole = lines.whole()
        runs = {
            n: np.unique(hashes[contains(held.spans[n], hashes)])
            for n, (hashes, _) in enumerate(lines.runs(LONG), start=1)
            if n >= SPAN
        }
        return cls(np.unique(whole[contains(held.whole, whole)]), runs)

    def counts(self, lines: HashedLines) -> list[int]:
        """Of a held-out set's sentences: all, same, inside."""
        whole = lines.whole()
        same = contains(self.same, whole)
        inside = np.zeros(len(whole), dtype=bool)
        for n in range(SPAN, LONG):
            inside |= (lines.lengths == n) & contains(self.runs[n], whole)
        *_, (hashes, line) = lines.runs(LONG)
        inside[line[contains(self.runs[LONG], hashes)]] = True
        return [len(whole), int(same.sum()), int((inside & ~same).sum())]


def look_at(held: HeldOutText, path: Path) -> tuple[Counts, Seen]:
    """Counts of a training file's lines (all, same, inside, near), and what was seen in them."""
    totals, seen = np.zeros(4, dtype=np.int64), []
    for lines in hashed(path):
        overlaps = held.overlaps(lines)
        kinds = (Overlap.SAME, Overlap.INSIDE, Overlap.NEAR)
        totals += [len(overlaps), *(int((overlaps == kind).sum()) for kind in kinds)]
        seen.append(Seen.of(held, lines))
    return totals, Seen.joined(seen)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    options.add_argument("further", type=Path, nargs="*")
    given = options.parse_args()
    tests, training = held_out_files(given.data), [*training_files(given.data), *given.further]
    held = HeldOutText.of(line for path in tests for line in read_lines(path))
    with ProcessPoolExecutor() as pool:
        seen = list(pool.map(partial(look_at, held), training))
    of_files = [(path, counts) for path, (counts, _) in zip(training, seen, strict=True)]
    found = Seen.joined([some for _, some in seen])
    of_sets = [(path, np.sum([found.counts(lines) for lines in hashed(path)], axis=0)) for path in tests]
    print(Table(["held-out set", "sentences", "same", "inside"], rows(given.data, of_sets)).markdown(), end="\n\n")
    print(Table(["training file", "lines", "same", "inside", "near"], rows(given.data, of_files)).markdown())
    leaked = sum(int(counts[1]) for _, counts in [*of_sets, *of_files])
    sys.exit(leaked > 0)


def rows(data: Path, counted: list[tuple[Path, Counts]]) -> list[list[str]]:
    names = [str(path.relative_to(data)) if path.is_relative_to(data) else path.name for path, _ in counted]
    body = [[name, *(f"{n:,}" for n in counts)] for name, (_, counts) in zip(names, counted, strict=True)]
    return [*body, ["all", *(f"{n:,}" for n in np.sum([counts for _, counts in counted], axis=0))]]


if __name__ == "__main__":
    main()
