"""A recipe with several seeds: `regard train` for each, then mean ± sd of BLEU as a row for recipes/README.md.

    PYTHONPATH=src python benchmarks/seeds.py recipes/multi30k-en-de.toml --tokenize none --out runs/multi30k-en-de

Other flags go to `regard train` (--steps 500). Each seed has its run in FOLDER/seed-N and what it said in
FOLDER/seed-N.log; FOLDER/seeds.json has all figures. A seed whose run is there is not trained again. BLEU is that of
the best weights by dev BLEU: dev by greedy search, test by the recipe's beam. With --tokenize the test set is
translated once more and scored by `regard bleu` with that tokeniser, as for text that is tokens already ("none").
The sd is that of a sample (n - 1). Seconds are of the updates alone; runs that share a device slow each other down, so
time and tokens/s are worth something with --parallel 1 only, or for the seeds that ran alone: --timed 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from regard.recipe.read import read_recipe

HEADER = """| recipe | dev BLEU | test BLEU | signature | hardware | time | target tokens/s | FLOPs |
|---|---|---|---|---|---|---|---|"""


def regard(*words: str, log: Path) -> None:
    """The real command; all it says goes to a file, and a failure shows the end of it."""
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ regard {' '.join(words)}\n")
        file.flush()
        done = subprocess.run([sys.executable, "-m", "regard", *words], stdout=file, stderr=file, check=False)
    if done.returncode:
        raise SystemExit(f"regard {words[0]} failed ({done.returncode}); {log} ends:\n{log.read_text()[-1500:]}")


def regard_json(*words: str, allowed: tuple[int, ...] = (0,)) -> dict[str, Any]:
    """The real command with --json: what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "regard", *words, "--json"], capture_output=True, text=True, check=False
    )
    if done.returncode not in allowed:
        raise SystemExit(f"regard {words[0]} failed ({done.returncode}): {done.stderr[-1500:]}")
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def run_seed(given: argparse.Namespace, others: list[str], seed: int) -> dict[str, Any]:
    run, log = given.out / f"seed-{seed}", given.out / f"seed-{seed}.log"
    began = time.perf_counter()
    if not run.exists():
        regard("train", str(given.recipe), *others, "--seed", str(seed), "--out", str(run), log=log)
    wall = time.perf_counter() - began
    best, last = (json.loads((run / which / "card.json").read_text("utf-8")) for which in ("best", "last"))
    if "test_bleu" not in best:
        raise SystemExit(f"{run} has no test score: it has not ended; see {log}, then: regard resume {run}")
    test = best["test_bleu"]
    if given.tokenize:
        test = score_again(given.tokenize, run, log)
    return {
        "seed": seed,
        "dev_bleu": best["dev_bleu"]["score"],
        "test_bleu": test["score"],
        "signature": test["signature"],
        "best_step": best["dev_bleu"]["step"],
        "steps": last["step"],
        "seconds": last["training_seconds"],
        "wall_seconds": wall,
        "target_tokens": last["target_tokens"],
        "flops": last["training_flops"],
        "parameters": last["parameters"],
        "peak_bytes": last["peak_bytes"],
        "device": last["device"],
        "torch": last["torch"],
        "regard": last["regard"],
    }


def score_again(tokenize: str, run: Path, log: Path) -> dict[str, Any]:
    """The test set by the run's best weights, kept beside the run, and its BLEU with another tokeniser."""
    data = read_recipe(run / "recipe.toml").data
    out = run.with_name(f"{run.name}.test")
    if not out.exists():
        regard("translate", "--model", str(run), "--input", str(data.test_src), "--out", str(out), log=log)
    words = ["bleu", str(out), "--ref", str(data.test_tgt), "--tokenize", tokenize]
    return regard_json(*words)


def hardware(device: str) -> str:
    if device.startswith("cuda"):
        return torch.cuda.get_device_name()
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    threads = os.environ.get("OMP_NUM_THREADS") or os.cpu_count()
    return f"{(names or [platform.machine()])[0]}, {threads} threads"


def mean_sd(values: list[float]) -> str:
    """
    >>> mean_sd([40.0, 41.0, 42.0]), mean_sd([40.0])
    ('41.00 ± 1.00', '40.00')
    """
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


def row(name: str, runs: list[dict[str, Any]], timed: list[int]) -> str:
    alone = [run for run in runs if run["seed"] in timed]

    def mean(key: str) -> float:
        return statistics.mean(run[key] for run in alone)

    seconds = mean("seconds")
    cells = [
        name,
        mean_sd([run["dev_bleu"] for run in runs]),
        mean_sd([run["test_bleu"] for run in runs]),
        f"`{runs[0]['signature']}`".replace("|", "\\|"),  # as a cell of a table
        runs[0]["hardware"],
        f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 60:,.0f} min",
        f"{mean('target_tokens') / seconds:,.0f}",
        f"{mean('flops'):.2g}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--parallel", type=int, default=1, help="runs at a time")
    parser.add_argument("--tokenize", help="score the test set with this tokeniser of sacreBLEU's")
    parser.add_argument("--timed", type=int, nargs="+", help="seeds whose time counts, having run alone; default: all")
    given, others = parser.parse_known_args()
    timed = given.timed or given.seeds
    if not set(timed) <= set(given.seeds):
        parser.error(f"--timed must name some of the seeds {given.seeds}, but is {timed}")
    read_recipe(given.recipe)  # a mistake in it is said once, not by every seed
    given.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(given.parallel) as pool:
        runs = list(pool.map(lambda seed: run_seed(given, others, seed), given.seeds))
    for run in runs:
        run["hardware"] = hardware(run["device"])
    about = {"recipe": str(given.recipe), "flags": others, "parallel": given.parallel, "timed": timed, "runs": runs}
    (given.out / "seeds.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    print(f"{HEADER}\n{row(given.recipe.stem, runs, timed)}")


if __name__ == "__main__":
    main()
