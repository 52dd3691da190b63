"""Data at scale: memory and time to the first update of `regard train`, from a hundred thousand pairs to five million.

    python benchmarks/data_scale.py [--millions 0.1 1 5]

Synthetic pairs are written to a temporary folder in shards, and the real command trains a tiny model for one update:
first with an empty cache (a vocabulary is learnt, pairs are encoded), then with what is in the cache, once with a row
for each sentence and once with sentences that share rows. Times are of the whole process, from its start to its end
with the checkpoint written, so the first update came earlier; beside them stands the processor's time, which other work
on the machine does not stretch. Memory is the most that the process had resident, pages of mapped files included.
Everything is removed at the end.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path

SHARD = 250_000  # pairs of a file
MODEL = "--width 32 --heads 2 --inner 64 --encoder-layers 1 --decoder-layers 1 --vocab-size 8000"
PACE = "--steps 1 --warmup 1 --log-every 1 --batch-tokens 4096 --dev-size 0 --device cpu"


def write_pairs(folder: Path, count: int) -> None:
    """Sentences of three to nineteen words, the n-th word of the lexicon 1/n times as often; no two are alike."""
    rng = random.Random(1)
    words = ["".join(rng.choices("aeioubcdlmnprst", k=rng.randint(2, 9))) for _ in range(20_000)]
    often = list(accumulate(1 / n for n in range(1, len(words) + 1)))
    phrases = [" ".join(rng.choices(words, cum_weights=often, k=rng.randint(2, 6))) for _ in range(50_000)]
    for start in range(0, count, SHARD):
        with (folder / f"train.{start // SHARD:04d}.tsv").open("w", encoding="utf-8") as file:
            for number in range(start, min(start + SHARD, count)):
                source = rng.choices(phrases, k=rng.randint(1, 3))
                file.write(f"{number} {' '.join(source)}\t{number} {' '.join(reversed(source))}\n")


def measure(folder: Path, out: str, share_rows: str) -> tuple[float, float, float]:
    """(seconds, seconds of the processor, MB at most) of one run."""
    words = f"--pairs {folder}/train.*.tsv --cache {folder / 'cache'} --out {folder / out} --share-rows {share_rows}"
    began = time.perf_counter()
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "regard", "train", *words.split(), *MODEL.split(), *PACE.split()],
            stdout=log,
            stderr=log,
        )
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit((folder / "log").read_text())
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1, 5])
    parser.add_argument("--folder", type=Path, help="where the temporary folder goes")
    args = parser.parse_args()
    print("| pairs | on disk | first run | again, a row each | again, shared rows |\n|---|---|---|---|---|", flush=True)
    for millions in args.millions:
        with tempfile.TemporaryDirectory(dir=args.folder) as name:
            folder = Path(name)
            write_pairs(folder, round(1e6 * millions))
            runs = [measure(folder, *run) for run in (("first", "off"), ("second", "off"), ("third", "on"))]
            text = sum(f.stat().st_size for f in folder.glob("*.tsv")) / 1e6
            coded = sum(f.stat().st_size for f in (folder / "cache").rglob("*") if f.is_file()) / 1e6
            cells = " | ".join(f"{took:.1f} s ({worked:.1f}), {memory:,.0f} MB" for took, worked, memory in runs)
            print(f"| {millions:g} M | {text:,.0f} + {coded:,.0f} MB | {cells} |", flush=True)


if __name__ == "__main__":
    main()
