"""Search strategies on the same lines: BLEU, chrF, their mean length and the seconds they take.

    python benchmarks/strategies.py data/tatoeba-test.en.xz data/tatoeba-test.fr.xz --lines 300

Every line is translated as it is (no sentence cutting, no slots, no guard), natively on the CPU in float32. The samples
of minimum Bayes risk are the same as those of plain sampling, of which the first one is scored.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path
from typing import Any

import regard
from regard.data.text_files import read_lines
from regard.translation.options import AS_LINES

WARM = regard.Sampling(seed=1)
CUT = regard.Sampling(min_p=0.05, seed=1)
STRATEGIES: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "beam 5": {"beam": 5},
    "beam 5, exact stopping": {"beam": 5, "exact": True},
    "beam 5, coverage 0.2": {"beam": 5, "coverage_penalty": 0.2},
    "beam 5, repetition 1.1": {"beam": 5, "repetition_penalty": 1.1},
    "diverse beam, 6 in 3 groups": {"beam": 6, "groups": 3},
    "one sample": {"sampling": WARM},
    "one sample, min-p 0.05": {"sampling": CUT},
    "MBR of 32, chrF": {"sampling": WARM, "mbr": regard.Mbr(32)},
    "MBR of 32, BLEU": {"sampling": WARM, "mbr": regard.Mbr(32, "bleu")},
    "MBR of 32, chrF, min-p 0.05": {"sampling": CUT, "mbr": regard.Mbr(32)},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--model", default=None)
    parser.add_argument("--lines", type=int, default=300)
    args = parser.parse_args()
    translator = regard.load(args.model, device="cpu", engine="native")
    sources, references = (list(islice(read_lines(path), args.lines)) for path in (args.source, args.reference))
    print(f"{len(sources):,} lines\n| strategy | BLEU | chrF | words | seconds |\n|---|---|---|---|---|")
    for name, options in STRATEGIES.items():
        start = time.perf_counter()
        texts = [t.text for t in translator.translate(sources, **options, **AS_LINES)]
        seconds = time.perf_counter() - start
        bleu, chrf = regard.bleu(texts, references).score, regard.chrf(texts, references).score
        words = sum(len(text.split()) for text in texts) / len(texts)
        print(f"| {name} | {bleu:.1f} | {chrf:.1f} | {words:.1f} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
