"""From the start of a process to its answer: what `regard translate` of a sentence takes, and what bounds it.

python benchmarks/start_up.py [--runs 7] [--write]

Each row is a process of its own, run several times on one thread: CPU seconds (user and system) and seconds on the
clock, of each the least, because other work on a machine only ever adds. The bound is what a process needs to import
CTranslate2 and do nothing. `--write` puts the table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SENTENCE = "The cat is on the mat."
TITLE = "Start-up time"
LATER = """
import sys, time
import regard
translator = regard.load("en-fr", device="cpu", engine=sys.argv[1])
texts = [f"The {one} is on the {other}." for one in ("cat", "dog", "book", "boy") for other in ("mat", "table", "car")]
translator.translate("A black cat sleeps.")
times = []
for text in texts * 3:
    began = time.perf_counter()
    translator.translate(text)
    times.append(time.perf_counter() - began)
print(sorted(times)[len(times) // 2])
"""


class Cost(NamedTuple):
    cpu: float  # seconds, user and system
    wall: float
    memory: float  # MB, at most


def cost(words: Sequence[str], environment: Mapping[str, str]) -> Cost:
    """Of one process, which must succeed."""
    began = time.perf_counter()
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        assert process.stderr is not None
        assert process.returncode == 0, process.stderr.read().decode()
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    return Cost(used.ru_utime + used.ru_stime, wall, kilobytes / 1024)


def least(words: Sequence[str], environment: Mapping[str, str], runs: int) -> Cost:
    return Cost(*map(min, zip(*(cost(words, environment) for _ in range(runs)), strict=True)))


def measure(runs: int) -> list[str]:
    """The rows of the table, printed as they come."""
    rows: list[str] = []

    def say(what: str, found: Cost) -> None:
        rows.append(f"| {what} | {found.cpu:.2f} s | {found.wall:.2f} s | {found.memory:.0f} MB |")
        print(rows[-1], flush=True)

    with tempfile.TemporaryDirectory() as cache:
        # An installed package has its byte code; a checkout may only write it if it is allowed to.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"REGARD_CACHE": cache, "OMP_NUM_THREADS": "1"}
        python, regard = [sys.executable, "-c"], [sys.executable, "-m", "regard"]
        translate = [*regard, "translate"]
        least([*regard, "--help"], environment, 2)  # byte code, and files into memory
        say("Python alone", least([*python, "pass"], environment, runs))
        say("**the bound**: import CTranslate2", least([*python, BOUND], environment, runs))
        say("the same and NumPy", least([*python, f"{BOUND}, numpy"], environment, runs))
        say("import torch", least([*python, "import torch"], environment, max(2, runs // 3)))
        say("`regard --help`", least([*regard, "--help"], environment, runs))
        say(
            "`regard translate` of a sentence, the first time: both caches are made",
            cost([*translate, SENTENCE], environment),
        )
        say("**`regard translate` of a sentence**", least([*translate, SENTENCE], environment, runs))
        say("the same with a flag, `--json`", least([*translate, "--json", SENTENCE], environment, runs))
        native = [*translate, "--engine", "native", SENTENCE]
        say("`regard translate --engine native`", least(native, environment, max(2, runs // 3)))
        for engine in ("ctranslate2", "native"):
            answers = [subprocess.check_output([*python, LATER, engine], env=environment) for _ in range(3)]
            took = 1000 * statistics.median(map(float, answers))
            rows.append(f"| a further sentence in the same process, {engine} | | {took:.0f} ms | |")
            print(rows[-1], flush=True)
    return rows


BOUND = "import ctranslate2"
HEADER = "| what | CPU | clock | memory |\n|---|---|---|---|\n"


def section(runs: int) -> str:
    """The section of docs/benchmarks.md."""
    print(HEADER, end="", flush=True)
    rows, load = "\n".join(measure(runs)), os.getloadavg()[0]
    about = (
        f"Printed by `python benchmarks/start_up.py`: the minimum of {runs} runs, on one thread. The bundled model\n"
        "translates in 8 bits with CTranslate2 unless the row says otherwise, with all output checks. On a busy\n"
        f"machine CPU time is the relevant figure; this one has {os.cpu_count()} cores and had a load of {load:.0f}.\n"
    )
    return f"## {TITLE}\n\n{about}\n{HEADER}{rows}\n"


def write(page: Path, text: str) -> None:
    """Put the section in the place of the one of the same title, or at the end of the page."""
    before = page.read_text(encoding="utf-8")
    title = re.escape(text.partition("\n")[0])
    old = re.search(rf"^{title}\n.*?(?=^## |\Z)", before, re.MULTILINE | re.DOTALL)
    first, rest = (before[: old.start()], before[old.end() :]) if old else (before, "")
    page.write_text("\n\n".join(filter(None, (first.rstrip(), text.rstrip(), rest.rstrip()))) + "\n", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = options.parse_args()
    text = section(given.runs)
    if given.write:
        write(Path("docs/benchmarks.md"), text)


if __name__ == "__main__":
    main()
