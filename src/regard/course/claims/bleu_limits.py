"""What BLEU does not measure, in numbers (the notes on its weaknesses): synonyms, order, and correctness.

The examples (`bleu_examples.toml`) are ours and few.
"""

from __future__ import annotations

from regard.course.claims.experiment import ClaimResult, ExperimentSetup, judge, read_data
from regard.metrics.bleu import bleu
from regard.metrics.chrf import chrf

EXAMPLES = read_data("bleu_examples.toml")
SYNONYMS, ORDERS, JUDGEMENTS = EXAMPLES["synonyms"], EXAMPLES["orders"], EXAMPLES["judgements"]


def sentence_bleu(hypothesis: str, reference: str) -> float:
    return bleu([hypothesis], [reference], effective_order=True).score


def test_synonyms(setup: ExperimentSetup) -> ClaimResult:
    rows, differences, losses = [], [], []
    for reference, word, synonym, wrong in SYNONYMS:
        scores = [sentence_bleu(reference.replace(word, other, 1), reference) for other in (synonym, wrong)]
        differences.append(scores[0] - scores[1])
        losses.append(100 - scores[0])
        rows.append([f"{word} → {synonym}", f"{scores[0]:.1f}", f"{word} → {wrong}", f"{scores[1]:.1f}"])
    mean = sum(losses) / len(losses)
    alike = sum(abs(difference) < 1e-9 for difference in differences)
    figure = (
        f"a synonym costs {mean:.1f} of 100 on the mean, and in {alike} of {len(SYNONYMS)} sentences exactly as much "
        "as a word that makes the sentence wrong"
    )
    passed = mean >= 20 and alike >= 0.75 * len(SYNONYMS)
    return ClaimResult(judge(passed), figure, ["right", "BLEU", "wrong", "BLEU"], rows)


def test_order(setup: ExperimentSetup) -> ClaimResult:
    rows, losses = [], []
    for reference, moved in ORDERS:
        score = sentence_bleu(moved, reference)
        losses.append(100 - score)
        rows.append([reference, moved, f"{score:.1f}", f"{chrf([moved], [reference]).score:.1f}"])
    figure = f"the same words in another right order cost {min(losses):.1f} to {max(losses):.1f} of 100"
    return ClaimResult(judge(min(losses) >= 10), figure, ["reference", "as right", "BLEU", "chrF"], rows)


def test_judgement(setup: ExperimentSetup) -> ClaimResult:
    rows, agreed = [], {}
    for kind, examples in JUDGEMENTS.items():
        scores = [(sentence_bleu(right, ref), sentence_bleu(wrong, ref)) for ref, right, wrong in examples]
        agreed[kind] = sum(right > wrong for right, wrong in scores)
        sides = [f"{sum(side) / len(side):.1f}" for side in zip(*scores, strict=True)]
        rows.append([kind, f"{agreed[kind]} of {len(examples)}", *sides])
    together = [example for examples in JUDGEMENTS.values() for example in examples]
    references = [reference for reference, _, _ in together]
    corpus = [bleu([example[side] for example in together], references).score for side in (1, 2)]
    share = sum(agreed.values()) / len(together)
    figure = (
        f"BLEU of a sentence prefers the right one in {sum(agreed.values())} of {len(together)} pairs; BLEU of all "
        f"right ones together is {corpus[0]:.1f}, of all wrong ones {corpus[1]:.1f}"
    )
    return ClaimResult(
        judge(share <= 0.75), figure, ["right against wrong", "agrees", "BLEU, right", "BLEU, wrong"], rows
    )
