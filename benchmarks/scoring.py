"""Scoring against sacreBLEU: each rival in a process of its own, on one core, from the same text files.

    python benchmarks/scoring.py RIVAL FOLDER     one rival, whose seconds and peak memory are printed as JSON

`prepare` writes the files: references, and hypotheses made from them by leaving out and swapping words, or real
systems' outputs where they are given.
"""

from __future__ import annotations

import json
import lzma
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RESAMPLES = 1000


def spoilt(line: str, rng: random.Random) -> str:
    """A line that a mediocre system might have written: words left out, swapped, repeated."""
    words = line.split(" ")
    for i in range(len(words) - 1):
        if rng.random() < 0.15:
            words[i], words[i + 1] = words[i + 1], words[i]
    return " ".join(w for w in words for _ in range(rng.choices((0, 1, 2), (8, 90, 2))[0])) or line


def prepare(folder: Path, references: list[str], lines: int, systems: int, system_lines: int) -> None:
    rng = random.Random(1)
    references = (references * (lines // len(references) + 1))[:lines]
    _write(folder / "ref", references)
    _write(folder / "hyp", [spoilt(line, rng) for line in references])
    _write(folder / "system-ref", references[:system_lines])
    for n in range(systems):
        _write(folder / f"system-{n:02d}", [spoilt(line, rng) for line in references[:system_lines]])


def prepare_systems(folder: Path, outputs: list[Path], reference: Path) -> None:
    _write(folder / "system-ref", read(reference))
    for n, path in enumerate(outputs):
        _write(folder / f"system-{n:02d}", read(path))


def run(rival: str, folder: Path) -> dict[str, Any]:
    """The rival's own report, from a process that has done nothing else."""
    done = subprocess.run([sys.executable, __file__, rival, str(folder)], capture_output=True, check=True, text=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def read(path: Path) -> list[str]:
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8").split("\n")[:-1]


def _write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _systems(folder: Path) -> list[list[str]]:
    return [read(path) for path in sorted(folder.glob("system-[0-9]*"))]


# ------------------------------------------------------------------------------------------------ the rivals


def corpus_regard(folder: Path) -> dict[str, Any]:
    from regard.metrics.bleu import bleu

    return {"answer": bleu(read(folder / "hyp"), read(folder / "ref")).score}


def corpus_sacrebleu(folder: Path) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU

    return {"answer": BLEU().corpus_score(read(folder / "hyp"), [read(folder / "ref")]).score}


def chrf_regard(folder: Path) -> dict[str, Any]:
    from regard.metrics.chrf import chrf

    return {"answer": chrf(read(folder / "hyp")[:10_000], read(folder / "ref")[:10_000]).score}


def chrf_sacrebleu(folder: Path) -> dict[str, Any]:
    from sacrebleu.metrics.chrf import CHRF

    return {"answer": CHRF().corpus_score(read(folder / "hyp")[:10_000], [read(folder / "ref")[:10_000]]).score}


def paired_regard(folder: Path) -> dict[str, Any]:
    from regard.metrics.bleu import Bleu
    from regard.metrics.significance import paired

    metric, reference = Bleu(), read(folder / "system-ref")
    stats = [metric.stats(lines, reference) for lines in _systems(folder)]
    began = time.perf_counter()
    found = paired(metric, stats, "bootstrap", RESAMPLES)
    return {"answer": [c.p_value for c in found[1:]], "resampling": time.perf_counter() - began}


def paired_sacrebleu(folder: Path) -> dict[str, Any]:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    counting = 0.0

    class Timed(BLEU):
        """Counting, which is not resampling, is timed apart."""

        def _extract_corpus_statistics(self, *given: Any) -> Any:
            nonlocal counting
            began = time.perf_counter()
            found = super()._extract_corpus_statistics(*given)
            counting += time.perf_counter() - began
            return found

    systems = [(str(n), lines) for n, lines in enumerate(_systems(folder))]
    test = PairedTest(systems, {"BLEU": Timed(references=[read(folder / "system-ref")])}, None, "bs", RESAMPLES)
    counting = 0.0
    began = time.perf_counter()
    _, found = test()
    resampling = time.perf_counter() - began - counting
    return {"answer": [result.p_value for result in found["BLEU"][1:]], "resampling": resampling}


def peak_mb() -> float:
    """Of this process alone: getrusage would count what its parent held before it began."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    rival, folder = sys.argv[1], Path(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    import numpy  # noqa: F401
    import sacrebleu  # noqa: F401  both need it; starting is not what is measured

    work = globals()[rival]
    began = time.perf_counter()
    report = work(folder)
    seconds = time.perf_counter() - began
    print(json.dumps({**report, "seconds": seconds, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
