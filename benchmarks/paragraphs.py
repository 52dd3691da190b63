"""Paragraphs on one line each: as many sentences out as in, and as good as the same sentences one by one.

    python benchmarks/paragraphs.py data/tatoeba-en-fr/test.en data/tatoeba-en-fr/test.fr

Draws paragraphs of 2 to 12 lines of a parallel text, joined by a space, and translates them; then the same lines alone.
A line may itself hold several sentences, so sentences are counted by cutting each line alone. Then one line of 100 kB.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from pathlib import Path

import regard
from regard.text.sentences import sentence_spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--model", default=None)
    parser.add_argument("--paragraphs", type=int, default=1000)
    parser.add_argument("--beam", type=int, default=None)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    translator = regard.load(args.model, engine="native")
    pairs = list(zip(lines(args.source), lines(args.reference), strict=True))
    rng = random.Random(args.seed)
    drawn = [rng.sample(pairs, rng.randint(2, 12)) for _ in range(args.paragraphs)]
    sources = [" ".join(source for source, _ in some) for some in drawn]
    references = [" ".join(target for _, target in some) for some in drawn]

    together = translator.translate(sources, beam=args.beam)
    apart = iter(translator.translate([source for some in drawn for source, _ in some], beam=args.beam))
    one_by_one = [" ".join(next(apart).text for _ in some) for some in drawn]
    wanted = [sum(len(sentence_spans(source)) for source, _ in some) for some in drawn]
    got = [len(found.sentences) for found in together]
    out = [len(sentence_spans(found.text, "fr")) for found in together]
    print(f"{len(drawn):,} paragraphs, {sum(wanted):,} sentences in")
    for what, counts in (("translated", got), ("in the output", out)):
        same = sum(a == b for a, b in zip(wanted, counts, strict=True))
        print(f"paragraphs with as many sentences {what} as in: {same:,}")
    print(f"BLEU of the paragraphs: {regard.bleu([f.text for f in together], [references]).score:.2f}")
    print(f"BLEU of the same lines translated one by one: {regard.bleu(one_by_one, [references]).score:.2f}")

    text = "The cat is on the mat. " * 4347
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    counted: list[int] = []
    found = translator.translate(text.strip(), progress=counted.append)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"one line of {len(text):,} characters: {len(found.sentences):,} sentences out, "
        f"{found.text.count('Le chat est sur le tapis.'):,} of them right, {time.monotonic() - began:.1f} s, "
        f"{(after - before) / 1024:.0f} MB more memory, progress counted {sum(counted):,}"
    )


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    main()
