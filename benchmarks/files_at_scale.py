"""A large file under kill -9: the output of many restarts is that of one run, and memory stays flat; then workers.

    python benchmarks/files_at_scale.py LINES.txt --lines 200000 --kills 5 --workers 2

Takes the first column of a file (also compressed), as many lines as asked for, and translates them by
`regard translate --input … --out …`, greedily:

1. in one run, sampling the resident memory of the process, and beside it in another that gets `kill -9` at random
   moments and is started again after each; then both outputs and reports are compared byte by byte;
2. the first `--speed-lines` of them with one worker and with `--workers`, one thread each, the better of two runs.

Prints the figures of docs/files.md. Options after `--` go to `regard translate`.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count, islice
from pathlib import Path
from typing import NamedTuple

from regard.data.text_files import read_lines


class Sampled(NamedTuple):
    seconds: float
    memory: list[tuple[float, float]]  # seconds since the start, MB
    code: int


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--kill-after", type=float, nargs=2, default=(10, 60), metavar="S", help="seconds, from and to")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--speed-lines", type=int, default=20_000, help="0: no comparison of workers")
    parser.add_argument("--suffix", default="", help="of the output: .gz, .zst …")
    parser.add_argument("--seed", type=int, default=1)
    given = list(sys.argv[1:] if words is None else words)
    at = given.index("--") if "--" in given else len(given)
    args = parser.parse_args(given[:at], argparse.Namespace(options=given[at + 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        source = home / "source.en"
        write_source(args.data, source, args.lines)
        print(f"{args.lines:,} lines of {args.data.name}", flush=True)
        if not compare(home, source, args):
            sys.exit(1)
        if args.speed_lines:
            compare_speed(home, args)


def write_source(data: Path, source: Path, lines: int) -> None:
    """Write so many lines; a shorter file is gone through again."""
    again = chain.from_iterable(read_lines(data) for _ in count())
    with source.open("w", encoding="utf-8") as file:
        for line in islice(again, lines):
            file.write(line.partition("\t")[0] + "\n")


def command(source: Path, out: Path, report: Path | None, options: list[str]) -> list[str]:
    words = [sys.executable, "-m", "regard", "translate", "--input", str(source), "--out", str(out), "--beam", "1"]
    return [*words, *(["--report", str(report)] if report else []), *options]


def compare(home: Path, source: Path, args: argparse.Namespace) -> bool:
    """One run, and beside it one that is killed and started again and again."""
    whole, out = home / f"whole{args.suffix}", home / f"out{args.suffix}"
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(run, command(source, whole, home / "whole.jsonl", args.options))
        rng = random.Random(args.seed)
        words, kills = command(source, out, home / "out.jsonl", args.options), list[str]()
        while True:
            limit = rng.uniform(*args.kill_after) if len(kills) < args.kills else None
            done = run(words, limit)
            if done.code == 0:
                break
            assert done.code == -9, done
            assert not out.exists()
            kills.append(f"{done.seconds:.0f}")
        once = running.result()
    assert once.code == 0, once
    print(f"one run: {once.seconds:,.0f} s, {args.lines / once.seconds:,.0f} lines/s; {memory_line(once.memory)}")
    moments = ", ".join(kills)
    print(f"another, beside it, killed {len(kills)} times, after {moments} s; its last part: {done.seconds:,.0f} s")
    same = out.read_bytes() == whole.read_bytes()
    same_report = (home / "out.jsonl").read_bytes() == (home / "whole.jsonl").read_bytes()
    left = [path.name for path in home.iterdir() if path.name.endswith((".partial", ".tmp"))]
    print(f"output identical: {same}; report identical: {same_report}; {out.stat().st_size:,} bytes; left over: {left}")
    return same and same_report and not left


def run(words: list[str], limit: float | None = None) -> Sampled:
    """Run a command, and kill it after so many seconds."""
    began, memory = time.monotonic(), list[tuple[float, float]]()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    ended = threading.Event()

    def sample() -> None:
        while not ended.wait(0.2):
            memory.append((time.monotonic() - began, resident(process.pid)))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        process.kill()
        code = process.wait()
    ended.set()
    sampler.join()
    return Sampled(time.monotonic() - began, memory, code)


def resident(pid: int) -> float:
    """MB of memory of a process, by /proc."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory_line(memory: list[tuple[float, float]]) -> str:
    """The largest resident memory in each fifth of the run."""
    total = memory[-1][0]
    fifths = [max((mb for at, mb in memory if i <= 5 * at / total < i + 1), default=0.0) for i in range(5)]
    return f"resident memory in each fifth of the run, at most: {', '.join(f'{mb:.0f}' for mb in fifths)} MB"


def compare_speed(home: Path, args: argparse.Namespace) -> None:
    source = home / "speed.en"
    write_source(home / "source.en", source, args.speed_lines)
    os.environ["OMP_NUM_THREADS"] = "1"
    rates = {}
    for workers in (1, args.workers):
        words = command(source, home / f"speed.{workers}", None, [*args.options, "--workers", str(workers)])
        seconds = [run(words).seconds for _ in range(2)]
        rates[workers] = args.speed_lines / min(seconds)
        name = f"{workers} worker{'s' * (workers > 1)}, one thread each"
        print(f"{name}: {min(seconds):.1f} s, {rates[workers]:,.0f} lines/s")
    same = (home / "speed.1").read_bytes() == (home / f"speed.{args.workers}").read_bytes()
    print(f"{rates[args.workers] / rates[1]:.2f} times as fast with {args.workers} workers; output identical: {same}")


if __name__ == "__main__":
    main()
