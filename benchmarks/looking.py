"""Two measurements of docs/explain.md that no command makes, with the model that the page describes.

python benchmarks/looking.py gaze                               where the decoder's head 3:1 looks before il or elle
python benchmarks/looking.py agreement test.en test.fr --every 16   attention and gradients against blanking, 60 pairs
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

from regard.align.attention import View
from regard.bundle.bundle import Bundle
from regard.course.lab import sentences_of
from regard.course.minimal_pairs import all_pairs
from regard.data.text_files import read_lines
from regard.explain.evidence import evidence
from regard.explain.trace import trace_sentence

HEAD = View(2, 0)
PAIRS = 60


def gaze(bundle: Bundle) -> None:
    """Of every sentence of the pronoun lab: the word that gets most weight when the pronoun is about to be said."""
    where: Counter[str] = Counter()
    weights = []
    _, measured = all_pairs("pronoun")
    for case in sentences_of(measured):
        (ids,) = bundle.tokenizer.encode_target([case.target])
        row = trace_sentence(bundle, case.source, ids).in_words(HEAD, "decoder").weights[case.asked]
        meant, other = (
            min(j for i, j in case.links if i in noun and j < case.asked) for noun in (case.means, case.others)
        )
        places = {
            meant - 1: "the word before the noun meant",
            other - 1: "the word before the other noun",
            meant: "the noun meant",
            other: "the other noun",
        }
        where[places.get(int(row.argmax()), "elsewhere")] += 1
        weights.append([row[place] for place in places])
    print(f"{sum(where.values())} sentences; most weight on: {dict(where)}")
    means = zip(places.values(), np.mean(weights, axis=0), strict=True)
    print("mean weight:", {name: round(float(weight), 3) for name, weight in means})


def agreement(bundle: Bundle, sources: list[str], targets: list[str]) -> None:
    views = {"attention, the card's view": View(0, 1, "having-read"), "attention, layer 2, mean of heads": View(1)}
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for blank in ("mean", "removed"):
        for source, target in zip(sources, targets, strict=True):
            seen = evidence(bundle, source, target, blank)
            maps = trace_sentence(bundle, source, bundle.tokenizer.encode_target([target])[0])
            of = {name: maps.in_words(view).weights for name, view in views.items()} | {
                "gradient × input": seen.gradients
            }
            for name, values in of.items():
                found.setdefault((name, blank), []).append((seen.agreement(values)[1], seen.same_best(values)))
    print("| map | blanked by | Spearman ρ | first word the same |\n|---|---|---|---|")
    for (name, blank), rows in found.items():
        rho, same = np.nanmean(np.array(rows), axis=0)
        print(f"| {name} | {blank} | {rho:.2f} | {same:.0%} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("gaze", "agreement"))
    parser.add_argument("files", type=Path, nargs="*", help="sources and references")
    parser.add_argument("--every", type=int, default=1, help="of so many lines one is taken")
    parser.add_argument("--model", type=Path, default=Path("en-fr-classic"), help="heads and views are of the default")
    given = parser.parse_args()
    bundle = Bundle.load(given.model, "cpu")
    if given.what == "gaze":
        gaze(bundle)
        return
    if len(given.files) != 2:
        parser.error("agreement needs two files: sources and references")
    agreement(bundle, *(list(read_lines(file))[:: given.every][:PAIRS] for file in given.files))


if __name__ == "__main__":
    main()
