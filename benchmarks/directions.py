"""BLEU of models that translate in six directions, on dev sets and by plain search: what a step of training gave.

    python benchmarks/directions.py --data DATA --model OUT/teacher-1 OUT/student --beam 4

The text is searched as it is, without slots, checks or repairs, so that a set takes seconds on a GPU.
`benchmarks/box.py` scores what users get. DATA is laid out as in recipes/box/chain.py.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "recipes" / "box"))

from chain_plan import DIRECTIONS, pair_of  # noqa: E402
from chain_texts import head  # noqa: E402

from regard.bundle.bundle import Bundle  # noqa: E402
from regard.bundle.find_model import find_model  # noqa: E402
from regard.metrics.bleu import bleu  # noqa: E402
from regard.models.transformer_recorded import for_search  # noqa: E402
from regard.report.table import Table  # noqa: E402
from regard.search.engine import SearchRequest  # noqa: E402
from regard.search.options import SearchOptions  # noqa: E402
from regard.search.search import search  # noqa: E402

SETS = {"FLORES dev": "tests/flores-dev", "newstest2013": "tests/newstest2013", "Tatoeba": "tatoeba-{pair}/dev",
        "Europarl": "{pair}/dev"}  # fmt: skip
LENGTH_PENALTY = 0.6


def translate(bundle: Bundle, lines: Sequence[str], target: str, beam: int) -> list[str]:
    tokenizer = bundle.tokenizer
    tag = tokenizer.source.ids[f"<{target}>"]  # in place of the one that a packed model has
    requests = [SearchRequest((tag, *ids)) for ids in tokenizer.source.encode(lines)]
    found = search(for_search(bundle.model), requests, SearchOptions(beam, LENGTH_PENALTY))
    return [tokenizer.decode(hypotheses[0].ids) for hypotheses in found]


def score(bundle: Bundle, data: Path, beam: int, lines: int) -> dict[str, dict[str, float]]:
    """Returns BLEU by set and direction, of the sets that exist."""
    scores: dict[str, dict[str, float]] = {}
    for name, stem in SETS.items():
        for direction in DIRECTIONS:
            source, target = direction.split("-")
            path = data / stem.format(pair=pair_of(source, target))
            files = [path.with_name(f"{path.name}.{language}") for language in (source, target)]
            if all(file.is_file() for file in files):
                sources, references = (head(file, lines) for file in files)
                found = bleu(translate(bundle, sources, target, beam), [references])
                scores.setdefault(name, {})[direction] = found.score
    return scores


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--model", type=Path, nargs="+", required=True)
    options.add_argument("--beam", type=int, default=4)
    options.add_argument("--lines", type=int, default=1000, help="of each set, the first ones")
    options.add_argument("--device", default="cuda")
    given = options.parse_args()
    rows = []
    for model in given.model:
        bundle = Bundle.load(find_model(model), given.device)
        bundle.model.eval()
        scores = score(bundle, given.data, given.beam, given.lines)
        print(json.dumps({"model": str(model), "beam": given.beam, "lines": given.lines, "BLEU": scores}), flush=True)
        for name, found in scores.items():
            rows.append([str(model), name, *(f"{found[d]:.1f}" if d in found else "" for d in DIRECTIONS)])
    print(Table(["model", "set", *DIRECTIONS], rows).markdown())


if __name__ == "__main__":
    main()
