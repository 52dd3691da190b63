"""What `regard doctor` foresees of recipes, beside what their runs then take, as rows for docs/doctor.md.

    PYTHONPATH=src python benchmarks/foresight.py recipes/multi30k-en-de.toml recipes/enja-50k.toml --out runs

Each recipe is foreseen, and then run, by the real commands, one after the other; other flags go to both (--steps 500).
Time is from the start of the process to its end; memory is the peak of the device that trains. The run stays in
FOLDER/RECIPE/seed-N, where benchmarks/seeds.py finds it; what the doctor said is in FOLDER/RECIPE/doctor.json. A recipe
whose run is there is not run again. The machine should have nothing else to do: neither side knows of other work.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from seeds import regard, regard_json

HEADER = """| recipe | time, foreseen / taken | | memory | | FLOPs | | rehearsed in |
|---|---|---|---|---|---|---|---|"""


def foresee_and_run(recipe: Path, seed: int, out: Path, others: list[str]) -> dict[str, Any]:
    out.mkdir(parents=True, exist_ok=True)
    found, run = out / "foresight.json", out / f"seed-{seed}"
    if found.exists():
        kept: dict[str, Any] = json.loads(found.read_text("utf-8"))
        return kept
    flags = [str(recipe), *others, "--seed", str(seed)]
    # 1 says that something about the data is serious, which these recipes know of
    began = time.perf_counter()
    said = regard_json("doctor", *flags, allowed=(0, 1))
    rehearsed, began = time.perf_counter() - began, time.perf_counter()
    regard("train", *flags, "--out", str(run), log=out / f"seed-{seed}.log")
    taken = time.perf_counter() - began
    (out / "doctor.json").write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
    foreseen = said["prediction"]
    best, card = (json.loads((run / which / "card.json").read_text("utf-8")) for which in ("best", "last"))
    about = {
        "recipe": recipe.stem,
        "rehearsed": rehearsed,
        "foreseen": {
            "seconds": foreseen["total"]["wall"],
            "bytes": foreseen["peak_bytes"],
            "flops": foreseen["flops"],
            "parts": {name: part["wall"] for name, part in foreseen["parts"].items()},
        },
        "taken": {
            "seconds": taken,
            "bytes": best.get("test_peak_bytes", card["peak_bytes"]),  # where there is a test, its search is in it
            "flops": card["training_flops"],
            "parts": {"updates": card["training_seconds"]},
        },
    }
    found.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return about


def row(about: dict[str, Any]) -> str:
    """Foreseen / taken, and the first as a share of the second."""
    foreseen, taken = about["foreseen"], about["taken"]

    def ratio(key: str) -> str:
        return f"{foreseen[key] / taken[key]:.2f}"

    cells = [
        about["recipe"],
        f"{foreseen['seconds']:,.0f} / {taken['seconds']:,.0f} s",
        ratio("seconds"),
        f"{foreseen['bytes'] / 2**30:.2f} / {taken['bytes'] / 2**30:.2f} GiB",
        ratio("bytes"),
        f"{foreseen['flops']:.3g} / {taken['flops']:.3g}",
        ratio("flops"),
        f"{about['rehearsed']:,.0f} s",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--seed", type=int, default=1)
    given, others = parser.parse_known_args()
    print(HEADER, flush=True)
    for recipe in given.recipes:
        about = foresee_and_run(recipe, given.seed, given.out / recipe.stem, others)
        print(row(about), flush=True)


if __name__ == "__main__":
    main()
