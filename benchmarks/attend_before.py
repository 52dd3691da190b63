"""Attention before the decoder's step (the notes, Bahdanau) beside attention after it (Luong), on the same data.

    regard corpus --out data/embedded
    PYTHONPATH=src python benchmarks/attend_before.py recipes/embedded.toml --out runs/attend --steps 600

Each form is trained by `regard train` with the recipe's data, vocabulary and budget, one after the other; other flags
go to it as they are. `notes` is the notes' own model (equations 4 to 8) at the sizes of the preset: tanh cells, one
direction, no biases, readout from the state. `before, notes' ends` is between the two: LSTM cells, and all else as in
the notes. A form whose run is there is not trained again. BLEU is that of the best weights by dev BLEU.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from seeds import mean_sd, run_seed

from regard.models.rnn_attention import PRESETS
from regard.recipe.read import read_recipe
from regard.report.table import Table

NOTES = ["--no-bidirectional", "--no-biases", "--start", "end", "--attend", "before", "--readout", "state"]


def forms(preset: str) -> dict[str, list[str]]:
    """What each form adds to the preset."""
    config = PRESETS[preset]
    one_way = ["--encoder-width", str(config.width), "--decoder-layers", str(config.encoder_layers), *NOTES]
    return {
        "after": ["--attend", "after"],
        "before": ["--attend", "before"],
        "before, notes' ends": one_way,
        "notes": [*one_way, "--cell", "tanh"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--preset", default="tiny", choices=["tiny", "small"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--forms", nargs="+", choices=list(forms("tiny")), default=list(forms("tiny")))
    parser.add_argument("--tokenize", help="score the test set with this tokeniser of sacreBLEU's")
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    given, others = parser.parse_known_args()
    read_recipe(given.recipe)
    rows = []
    out = given.out
    for name in given.forms:
        given.out = out / name.replace(", ", "-").replace("' ", "-")
        given.out.mkdir(parents=True, exist_ok=True)
        flags = ["--architecture", "rnn-attention", "--preset", given.preset, *forms(given.preset)[name], *others]
        runs = [run_seed(given, flags, seed) for seed in given.seeds]
        seconds = sum(run["seconds"] for run in runs) / len(runs)
        rows.append(
            [
                name,
                mean_sd([run["dev_bleu"] for run in runs]),
                mean_sd([run["test_bleu"] for run in runs]),
                f"{runs[0]['parameters'] / 1e6:.2f} M",
                f"{runs[0]['steps']:,}",
                f"{seconds:,.0f} s",
                f"{sum(run['target_tokens'] for run in runs) / len(runs) / seconds:,.0f}",
                f"{runs[0]['flops']:.2g}",
            ]
        )
        print(f"{name}: test BLEU {rows[-1][2]}", flush=True)
    header = ["attention", "dev BLEU", "test BLEU", "parameters", "updates", "time", "target tokens/s", "FLOPs"]
    print(Table(header, rows).markdown())


if __name__ == "__main__":
    main()
