"""How far the two judges of `regard clean` can be trusted: the score of looseness, and the fast check of languages.

    python benchmarks/clean.py --src train.en --tgt train.fr --languages en,fr

Scores: of pairs as they are, of the same sources with targets of other pairs of the same length, and of pairs whose
target lost its second half. Languages: how many lines are shown to the identifier, what the others would have got from
it, and the time of a line with and without the short way. Both learn as `regard clean` learns, from other lines.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import numpy as np

from regard.align.looseness import learn_association
from regard.data import clean_rules
from regard.data.clean import LEARN_FROM
from regard.data.clean_rules import SAMPLE, LineLanguage
from regard.data.corpus import PairFiles, read_pairs
from regard.data.overlap import key_words
from regard.report.table import Table
from regard.text.language_identification import foreign_language

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def score_table(pairs: list[tuple[str, str]], tested: int, rng: random.Random) -> Table:
    rng.shuffle(pairs)
    words = [(key_words(source), key_words(target)) for source, target in pairs[: LEARN_FROM + tested]]
    scorer = learn_association(words[tested:])
    test = sorted(words[:tested], key=lambda pair: len(pair[1]))
    sources, targets = [source for source, _ in test], [target for _, target in test]
    kinds = {
        "as they are": targets,
        "targets of other pairs": targets[1:] + targets[:1],
        "half of the target": [target[: max(1, len(target) // 2)] for target in targets],
    }
    rows = []
    for kind, some in kinds.items():
        scores = scorer.scores(sources, some)
        values = np.nanquantile(scores, QUANTILES)
        rows.append([kind, *(f"{value:.2f}" for value in values), f"{np.isnan(scores).mean():.1%}"])
    return Table(["pairs", *(f"{q:.0%}" for q in QUANTILES), "not judged"], rows)


def language_table(pairs: list[tuple[str, str]], languages: list[str], tested: int) -> Table:
    learnt = LineLanguage.learn(languages, list(zip(*pairs[:SAMPLE], strict=True)))
    rows = []
    for side, language in enumerate(languages):
        lines = [pair[side] for pair in pairs[SAMPLE :: max(1, (len(pairs) - SAMPLE) // tested)]]
        begun = time.process_time()
        exact = [foreign_language(line, language) is not None for line in lines]
        slow = time.process_time() - begun
        shown = 0

        def counted(text: str, code: str) -> tuple[str, float] | None:
            nonlocal shown
            shown += 1
            return foreign_language(text, code)

        clean_rules.foreign_language = counted
        begun = time.process_time()
        quick = [learnt.is_wrong(side, line, key_words(line)) for line in lines]
        fast = time.process_time() - begun
        clean_rules.foreign_language = foreign_language
        missed = sum(a and not b for a, b in zip(exact, quick, strict=True))
        times = [f"{1e6 * seconds / len(lines):.0f} µs" for seconds in (slow, fast)]
        rows.append(
            [language, f"{len(lines):,}", f"{sum(exact):,}", f"{missed:,}", f"{shown / len(lines):.1%}", *times]
        )
    return Table(["", "lines", "wrong", "of them accepted", "shown to the identifier", "identifier", "here"], rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--src", type=Path, required=True)
    options.add_argument("--tgt", type=Path, required=True)
    options.add_argument("--languages", required=True)
    options.add_argument("--tested", type=int, default=20_000, help="pairs that are measured")
    given = options.parse_args()
    filled = [pair for pair in read_pairs(PairFiles((given.src, given.tgt))) if pair[0].strip() and pair[1].strip()]
    print(language_table(filled, given.languages.split(","), given.tested).markdown(), end="\n\n")
    print(score_table(filled, given.tested, random.Random(1)).markdown())


if __name__ == "__main__":
    main()
