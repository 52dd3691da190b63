"""To a good translator in the fewest seconds: the rungs of the ladder in docs/benchmarks.md, each a `regard train`.

    python benchmarks/speed_run.py --data data/multi30k                  # the final rung, by itself: the time counts
    python benchmarks/speed_run.py --data data/multi30k --rungs all --parallel 8    # quality alone counts

The folder holds train, val and test_2016_flickr as NAME.lc.norm.tok.en and .de, as `regard fetch multi30k` leaves them.
Seconds are from the start of the process to the scored test, text preparation and all: nothing is cached before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

COMMON = {
    "max-length": 62, "preset": "small", "vocab-size": 6000, "dropout": 0.3, "batch-tokens": 8192, "optimizer": "muon",
    "learning-rate": 4e-3, "schedule": "constant", "average": "ema", "ema-decay": 0.99, "warmup": 50, "steps": 900,
    "eval-every": 100_000, "save-every": 100_000, "compile": "false",
}  # fmt: skip
COSINE = {"schedule": "cosine", "average": "none"}
RUNGS: dict[str, dict[str, object]] = {
    "final": {},
    "adamw": {**COSINE, "optimizer": "adamw", "learning-rate": 2e-3, "steps": 800},
    "muon": {**COSINE, "steps": 800},
    "muon, moving mean": {"steps": 600},
    "longer": {"steps": 1000},
    "rate 6e-3": {"learning-rate": 6e-3, "steps": 800},
    "batches of 16,384": {"batch-tokens": 16384, "learning-rate": 6e-3, "steps": 600},
    "10,000 pieces": {"vocab-size": 10_000, "steps": 800},
    "width 384": {"width": 384, "heads": 6, "inner": 1536, "steps": 800},
    "4 encoder layers": {"encoder-layers": 4},
    "dropout 0.35": {"dropout": 0.35, "ema-decay": 0.985, "steps": 1100},
    "a row for each sentence": {"share_rows": "off"},
    "compiled": {"compile": "true"},
}


@dataclass(frozen=True)
class Running:
    name: str
    process: subprocess.Popen[bytes]
    began: float
    log: Path


def command(settings: dict[str, object], data: Path, out: Path, cache: Path) -> list[str]:
    words = [sys.executable, "-m", "regard", "train", "--out", str(out), "--cache", str(cache)]
    for part, flag in (("train", ""), ("val", "dev-"), ("test_2016_flickr", "test-")):
        for side, language in (("src", "en"), ("tgt", "de")):
            words += [f"--{flag}{side}", str(data / f"{part}.lc.norm.tok.{language}")]
    for name, value in settings.items():
        words += ["--set", f"{name.replace('-', '_')}={value}"]
    return words


def start(name: str, data: Path, folder: Path) -> Running:
    place = folder / name.replace(" ", "-")
    log = place.with_suffix(".log")
    words = command({**COMMON, **RUNGS[name]}, data, place, folder / f"cache-{place.name}")
    with log.open("wb") as out:
        return Running(
            name, subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT), time.monotonic(), log
        )  # fmt: skip


def report(done: Running) -> None:
    seconds = time.monotonic() - done.began
    run = done.log.with_suffix("")
    if done.process.returncode:
        print(f"| {done.name} | failed: {done.log.read_text(encoding='utf-8').splitlines()[-1]} | | | |", flush=True)
        return
    card = json.loads((run / "best" / "card.json").read_text(encoding="utf-8"))
    rate = card["target_tokens"] / card["training_seconds"]
    dev, test = card["dev_bleu"]["score"], card["test_bleu"]["score"]
    print(f"| {done.name} | {seconds:.1f} | {rate:,.0f} | {dev:.2f} | {test:.2f} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--rungs", nargs="*", default=["final"], help=f"all, or some of: {', '.join(RUNGS)}")
    options.add_argument("--parallel", type=int, default=1, help="runs at a time (more than 1: times mean nothing)")
    given = options.parse_args()
    waiting = list(RUNGS) if given.rungs == ["all"] else given.rungs
    unknown = [name for name in waiting if name not in RUNGS]
    if unknown:
        options.error(f'unknown rung "{unknown[0]}"; there are: {", ".join(RUNGS)}')
    print("| rung | seconds | target tokens/s | dev BLEU | test BLEU |\n|---|---|---|---|---|", flush=True)
    running: list[Running] = []
    with tempfile.TemporaryDirectory() as name:
        while waiting or running:
            while waiting and len(running) < given.parallel:
                running.append(start(waiting.pop(0), given.data, Path(name)))
            for done in [r for r in running if r.process.poll() is not None]:
                running.remove(done)
                report(done)
            time.sleep(0.05)


if __name__ == "__main__":
    main()
