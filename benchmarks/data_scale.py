"""Data at scale: memory and time to the first update of `regard train`, from a hundred thousand pairs to five million.

    python benchmarks/data_scale.py [--millions 0.1 1 5]
    python benchmarks/data_scale.py --encode train.en train.fr [--first 200000] [--cores 1 2]

Synthetic pairs are written to a temporary folder in shards, and the real command trains a tiny model for one update:
first with an empty cache (a vocabulary is learnt, pairs are encoded), then with what is in the cache, once with a row
for each sentence and once with sentences that share rows. Times are of the whole process, from its start to its end
with the checkpoint written, so the first update came earlier; beside them stands the processor's time, which other work
on the machine does not stretch. Memory is the most that the process had resident, pages of mapped files included.
Everything is removed at the end.

With --encode nothing is trained: a vocabulary of 24,000 pieces is learnt from the first pairs of two files, and they
are encoded, on one core and on more. The processor's microseconds a pair are those of the process that reads, filters
and writes, and those of the processes that encode. The first bound the rate, however many cores there are; the others
are shared by the cores. It fails if the files differ between numbers of cores.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import accumulate, islice
from pathlib import Path

from regard.data.config import DataConfig
from regard.data.corpus import PairFiles, read_pairs
from regard.data.encode import encode_corpus
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.workers import in_new_process, usable_cores

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


def first_pairs(paths: list[Path], count: int, folder: Path) -> PairFiles:
    """The first pairs that are filled on both sides, in two new files."""
    sides = folder / "a", folder / "b"
    filled = (pair for pair in read_pairs(PairFiles(tuple(paths))) if pair[0].strip() and pair[1].strip())
    with sides[0].open("w", encoding="utf-8") as src, sides[1].open("w", encoding="utf-8") as tgt:
        for pair in islice(filled, count):
            src.write(f"{pair[0]}\n")
            tgt.write(f"{pair[1]}\n")
    return PairFiles(sides)


def learn(files: PairFiles, path: Path) -> tuple[float, float]:
    """(seconds, seconds of the processor) of learning a vocabulary; it is saved."""
    began = time.perf_counter()
    Tokenizer.train(lambda: read_pairs(files), TextConfig(vocab_size=24_000)).save(path)
    return time.perf_counter() - began, time.process_time()


def encode(files: PairFiles, tokenizer: Path, folder: Path, cores: int) -> tuple[int, float, float, float, str]:
    """(pairs, seconds, the processor's seconds here and in other processes, digest of the files)."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    learnt, config = Tokenizer.load(tokenizer), DataConfig(cache=str(folder / f"cache{cores}"))
    began, worked = time.perf_counter(), time.process_time()
    corpus = encode_corpus(files, learnt, config)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    digest = hashlib.sha256()
    for path in sorted((folder / f"cache{cores}").rglob("*")):
        digest.update(path.read_bytes() if path.is_file() else b"")
    return corpus.report.read, took, worked, others.ru_utime + others.ru_stime, digest.hexdigest()[:12]


def show_encoding(paths: list[Path], count: int, cores: list[int], place: Path | None) -> None:
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        files, tokenizer = first_pairs(paths, count, folder), folder / "tokenizer.json"
        print("vocabulary: {:.1f} s, of the processor {:.1f} s".format(*in_new_process(learn, files, tokenizer)))
        print("| cores | pairs | seconds | pairs/s | ratio | µs/pair, reading | µs/pair, encoding | files |")
        print("|---|---|---|---|---|---|---|---|", flush=True)
        first, digests = 0.0, set()
        for number in cores:
            pairs, took, here, there, digest = in_new_process(encode, files, tokenizer, folder, number)
            first = first or took
            each = [f"{1e6 * seconds / pairs:.1f}" for seconds in (here, there)]
            each = each if there else ["–", f"{each[0]} with reading"]
            cells = f"{pairs:,} | {took:.1f} | {pairs / took:,.0f} | {first / took:.2f} | {' | '.join(each)} | {digest}"
            print(f"| {number} | {cells} |", flush=True)
            digests.add(digest)
    if len(digests) > 1:
        raise SystemExit("the files differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", type=float, nargs="+", default=[0.1, 1, 5])
    parser.add_argument("--folder", type=Path, help="where the temporary folder goes")
    parser.add_argument("--encode", type=Path, nargs=2, metavar=("SRC", "TGT"), help="measure encoding of these files")
    parser.add_argument("--first", type=int, default=200_000, help="with --encode: pairs")
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, usable_cores()}), help="with --encode")
    args = parser.parse_args()
    if args.encode:
        show_encoding(args.encode, args.first, args.cores, args.folder)
        return
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
