"""What each source of training text is worth: small models of all six directions, each trained without one group.

    python recipes/box/chain.py --data DATA --out OUT --stage texts encode
    python benchmarks/sources.py --data DATA --out OUT --updates 1200 --parallel 5

Every model is trained from the same seed on the mixture of recipes/box/general-teacher.toml less one group of sources,
for the same number of updates; `all` lacks none, `old` lacks all of them: it has Europarl, Tatoeba without Spanish and
the embedded grammar. Reported are BLEU on FLORES dev, the mean of six directions, and the mean log-probability per
target token on FLORES dev and on the held-out pairs of each group (`dev` of its folders in DATA). The difference to
`all` is what the group is worth. Models that exist in OUT/sources are not trained again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "recipes" / "box"))

from chain_plan import DIRECTIONS, pair_of  # noqa: E402
from chain_stages import remember_vocabulary  # noqa: E402
from chain_texts import head  # noqa: E402
from directions import translate  # noqa: E402
from mixture import expand  # noqa: E402

from regard.bundle.bundle import Bundle  # noqa: E402
from regard.bundle.find_model import find_model  # noqa: E402
from regard.data.splits import find_splits  # noqa: E402
from regard.metrics.bleu import bleu  # noqa: E402
from regard.recipe.read import recipe_from_tables  # noqa: E402
from regard.report.table import Table  # noqa: E402
from regard.search.forced_decoding import forced_log_probs  # noqa: E402

GROUPS = {
    "tatoeba-es": ("tatoeba-en-es",),
    "news": ("news",),
    "wiki": ("wiki",),
    "science": ("openstax", "science"),
    "laws": ("laws", "esco"),
    "games": ("games", "games2"),
    "manuals": ("manuals",),
    "courses": ("courses",),
    "labels": ("ui", "mozilla", "openedx"),
    "words": ("vocab", "names"),
    "debian": ("debian-desc", "docs-debian", "tldr"),
    "programming": ("godot", "pydocs", "php", "msdotnet"),
    "everyday": ("everyday",),
    **{name: (name,) for name in ("apps", "guides", "wikimined", "wiktionary")},
}
SMALL = {
    "model": {"width": 256, "heads": 4, "inner": 1024, "encoder_layers": 6, "decoder_layers": 2},
    "train": {"batch_tokens": 32768, "schedule": "linear", "schedule_by": "steps", "learning_rate": 8e-3},
}
LINES = 300  # of each held-out set
LONGEST = 120  # tokens


def names_of(group: str) -> tuple[str, ...]:
    if group == "old":
        return tuple(name for names in GROUPS.values() for name in names)
    return GROUPS.get(group, ())


def belongs(corpus: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Whether a corpus is of one of the sources: DATA/NAME-en-fr/train.en or OUT/texts/NAME.formal.en."""
    path = Path(corpus["src"])
    folder, file = path.parent.name, path.name.partition(".")[0]
    return folder in names or folder.partition("-en-")[0] in names or file in names


def train(group: str, data: Path, out: Path, updates: int, device: str) -> Path:
    run = out / "sources" / group
    if (run / "best").is_dir() or (run / "last").is_dir():
        return run
    text = (ROOT / "recipes" / "box" / "general-teacher.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text.replace('"DATA/', f'"{data}/').replace('"OUT/', f'"{out}/'))
    corpora = expand(tables["data"]["corpus"])
    tables["data"] |= {
        "cache": str(out / "cache"),
        "corpus": [corpus for corpus in corpora if not belongs(corpus, names_of(group))],
    }
    for section, keys in SMALL.items():
        tables[section] |= keys
    tables["train"] |= {"steps": updates, "eval_every": updates, "save_every": updates}
    recipe = recipe_from_tables(tables)
    recipe = replace(recipe, train=replace(recipe.train, minutes=None))
    remember_vocabulary(recipe, find_splits(recipe.data), out / "vocabulary")
    file = run.with_suffix(".toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(recipe.to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "regard", "train", str(file), "--out", str(run), "--device", device, "--seed", "1"]
    with (out / "sources" / f"{group}.log").open("w", encoding="utf-8") as log:
        subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT)
    return run


def held_out(data: Path) -> Iterator[tuple[str, str, Path]]:
    """Yields the name of a group, a direction and the stem of its held-out pairs."""
    for direction in DIRECTIONS:
        pair = pair_of(*direction.split("-"))
        yield "FLORES", direction, data / "tests" / "flores-dev"
        for group, names in GROUPS.items():
            for name in names:
                stem = data / (name if "-en-" in name else f"{name}-{pair}") / "dev"
                if stem.with_name("dev.en").is_file() and (pair in stem.parent.name):
                    yield group, direction, stem


def measure(run: Path, data: Path, device: str) -> dict[str, float]:
    """Returns BLEU on FLORES dev, and the mean log-probability per token of each group's held-out pairs."""
    bundle = Bundle.load(find_model(run), device)
    tokenizer, model = bundle.tokenizer, bundle.model.eval()
    sums: dict[str, list[float]] = {}
    scores = []
    for group, direction, stem in held_out(data):
        source, target = direction.split("-")
        sides = [head(stem.with_name(f"{stem.name}.{language}"), LINES) for language in (source, target)]
        tag = tokenizer.tag_ids(f"<{target}>")
        sources = [(*tag, *ids) for ids in tokenizer.encode_source(sides[0])]
        targets = [tuple(ids) for ids in tokenizer.encode_target(sides[1])]
        short = [i for i in range(len(sources)) if max(len(sources[i]), len(targets[i])) <= LONGEST]
        found = forced_log_probs(model, [sources[i] for i in short], [targets[i] for i in short], 16384)
        total = sums.setdefault(group, [0.0, 0.0])
        total[0] += sum(float(one.sum()) for one in found)
        total[1] += sum(len(one) for one in found)
        if group == "FLORES":
            scores.append(bleu(translate(bundle, sides[0], target, beam=1), [sides[1]]).score)
    return {"BLEU": sum(scores) / len(scores), **{group: total / count for group, (total, count) in sums.items()}}


def table(results: dict[str, dict[str, float]]) -> Table:
    columns = list(results["all"])
    rows = [
        [name, *(f"{one[c]:.2f}" if c == "BLEU" else f"{one[c]:.3f}" for c in columns)] for name, one in results.items()
    ]
    return Table(["without", *columns], rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True, help="a folder of chain.py")
    options.add_argument("--updates", type=int, default=1200)
    options.add_argument("--parallel", type=int, default=1, help="trainings at a time")
    options.add_argument("--device", default="cuda")
    options.add_argument("--groups", nargs="+", choices=("all", "old", *GROUPS), default=["all", "old", *GROUPS])
    given = options.parse_args()
    with ThreadPoolExecutor(given.parallel) as pool:
        jobs = {g: pool.submit(train, g, given.data, given.out, given.updates, given.device) for g in given.groups}
        results = {}
        for group, job in jobs.items():
            results[group] = measure(job.result(), given.data, given.device)
            print(group, json.dumps(results[group]), flush=True)
    (given.out / "sources" / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    if "all" in results:
        print(table(results).markdown())


if __name__ == "__main__":
    main()
