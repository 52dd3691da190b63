"""What the WMT14 recipes would cost: the tokens of their schedules over the tokens/s that were measured.

    PYTHONPATH=src python benchmarks/wmt14_cost.py

Speeds are target tokens/s of the real update on one H200, on WMT-like lengths (benchmarks/gpu_training.py), with
batches of 65,536 tokens; those of 25,000 keep the device less busy, so take the hours as a lower bound. Evaluations,
encoding (once) and the download are not in them. The paper's column is its own days on eight P100s.
"""

from __future__ import annotations

from pathlib import Path

from regard.recipe.read import read_recipe

SPEEDS = {"base": (1_000_000, 36.5), "big": (375_000, 47.4)}  # target tokens/s, percent of the chip's stated peak
FULL = 0.98  # of a batch, where sentences share rows
PAPER = {"base": "12 h on 8 P100s", "big": "3.5 days on 8 P100s"}


def main() -> None:
    print("| recipe | updates | target tokens | H200: tokens/s | of its peak | GPU-hours | the paper |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted((Path(__file__).parents[1] / "recipes").glob("wmt14-*.toml")):
        train = read_recipe(path).train
        size = path.stem.rpartition("-")[2]
        speed, share = SPEEDS[size]
        tokens = train.steps * train.batch_tokens * train.accumulate * FULL
        print(
            f"| {path.stem} | {train.steps:,} | {tokens / 1e9:.2f} G | {speed:,} | {share} % "
            f"| {tokens / speed / 3600:.1f} | {PAPER[size]} |"
        )


if __name__ == "__main__":
    main()
