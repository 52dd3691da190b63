"""The models without a neural network on the embedded corpus: alignment error rates, and BLEU of their translations.

python benchmarks/baselines.py [PAIRS]     trained on so many pairs (10,000); AER on those, BLEU on the test splits
"""

from __future__ import annotations

import sys
from typing import get_args

from regard.align import hmm, ibm
from regard.course.grammar import generate
from regard.course.rules.translate import translate_all
from regard.course.word_based import WordBased
from regard.explain.alignment import aer, diagonal, transpose
from regard.metrics.bleu import bleu
from regard.text.words import split_words


def main() -> None:
    splits = generate(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
    examples = splits["train"].examples
    pairs = [(e.src, e.tgt) for e in examples]
    gold = [set(e.alignment) for e in examples]
    turned = [(tgt, src) for src, tgt in pairs]
    both = hmm.train_both(pairs)
    found = {
        "diagonal": [diagonal(len(split_words(s)), len(split_words(t))) for s, t in pairs],
        "IBM model 1": ibm.train(pairs).align_all(pairs),
        "IBM model 1, backward": [transpose(some) for some in ibm.train(turned).align_all(turned)],
        "HMM": both.forward.align_all(pairs),
        "HMM, backward": [transpose(some) for some in both.backward.align_all(turned)],
    }
    for join in get_args(hmm.Join):
        found[f"HMM, {join}"] = both.align_all(pairs, join=join)
    for name, links in found.items():
        print(f"AER  {100 * aer([set(some) for some in links], gold):5.1f}  {name}")
    words = WordBased.train(pairs)
    for split in ("test", "compositional"):
        sources, references = [e.src for e in splits[split].examples], [e.tgt for e in splits[split].examples]
        print(f"BLEU {bleu(words.translate(sources), references).score:5.1f}  word-based, {split}")
        said = [line or "" for line in translate_all(sources)]
        print(f"BLEU {bleu(said, references).score:5.1f}  the grammar itself, {split}")


if __name__ == "__main__":
    main()
