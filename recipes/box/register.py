"""The pairs of a corpus whose target shows a register, for training with tags such as <fr-formal> and <fr-informal>.

    python recipes/box/register.py DATA/en-fr OUT
    python recipes/box/register.py DATA/en-fr OUT --languages en fr

IN has train.SOURCE and train.TARGET, plain or compressed; the languages are those of its name unless they are given.
OUT gets train.formal.SOURCE, train.formal.TARGET, train.informal.SOURCE and train.informal.TARGET. The corpus itself is
not changed: its pairs are also trained on with the tag of the language alone. In a pair whose English side addresses
the reader, a Spanish `su` and a German `Sie` at the beginning of a sentence count as formal (`text/register.py`).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from regard.data.compressed import COMPRESSED
from regard.data.text_files import read_lines
from regard.errors import InputError
from regard.report.table import Table
from regard.text.register import RULES, addresses_reader, register_of


def find(folder: Path, name: str) -> Path:
    """The file of that name, plain or compressed."""
    found = [path for suffix in ("", *COMPRESSED) if (path := folder / f"{name}{suffix}").is_file()]
    if not found:
        raise InputError(f"{folder} has no {name}, plain or with {', '.join(COMPRESSED)}")
    return found[0]


def split(folder: Path, out: Path, source: str, target: str) -> Counter[str | None]:
    """Writes the pairs of each register, and returns the number of pairs by register."""
    out.mkdir(parents=True, exist_ok=True)
    counts: Counter[str | None] = Counter()
    sides = (read_lines(find(folder, f"train.{language}")) for language in (source, target))
    with ExitStack() as stack:
        files = {
            register: [
                stack.enter_context((out / f"train.{register}.{language}").open("w", encoding="utf-8"))
                for language in (source, target)
            ]
            for register in ("formal", "informal")
        }
        for pair in zip(*sides, strict=True):
            register = register_of(pair[1], target, source == "en" and addresses_reader(pair[0]))
            counts[register] += 1
            if register is not None:
                for file, text in zip(files[register], pair, strict=True):
                    file.write(f"{text}\n")
    return counts


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, metavar="IN")
    options.add_argument("out", type=Path, metavar="OUT")
    options.add_argument("--languages", nargs=2, metavar=("SOURCE", "TARGET"))
    given = options.parse_args()
    source, target = given.languages or given.folder.resolve().name.split("-")[-2:]
    if target not in RULES:
        raise InputError(f"there are rules for {', '.join(RULES)}, but the target language is {target}")
    begun = time.monotonic()
    counts = split(given.folder, given.out, source, target)
    rows = [[register or "other", f"{counts[register]:,}"] for register in ("formal", "informal", None)]
    print(Table(["register", "pairs"], [*rows, ["all", f"{counts.total():,}"]]).markdown())
    print(f"\n{counts.total() / max(1e-9, time.monotonic() - begun):,.0f} pairs a second")


if __name__ == "__main__":
    main()
