"""Without the causal mask a decoder reads the answer: its loss collapses, and it has learnt nothing of use."""

from __future__ import annotations

from regard.claims.claim import Claim, Finding, judge
from regard.claims.learning import BASE, Pupil, School

SEEING = Pupil("without mask", variant="without mask")


def test(school: School) -> Finding:
    rows, passed, parts = [], True, []
    for seed in school.seeds[:1]:
        losses = [school.loss(pupil, seed) for pupil in (BASE, SEEING)]
        bleus = [school.bleu(pupil, seed) for pupil in (BASE, SEEING)]
        passed = passed and losses[1] < losses[0] / 2 and bleus[1] < bleus[0] / 5
        rows += [
            [p.name, str(seed), f"{loss:.3f}", f"{score:.1f}"]
            for p, loss, score in zip((BASE, SEEING), losses, bleus, strict=True)
        ]
        parts.append(f"loss {losses[0]:.2f} → {losses[1]:.2f}, BLEU {bleus[0]:.1f} → {bleus[1]:.1f}")
    header = ["model", "seed", "nats per token, teacher forcing", "BLEU, greedy"]
    return Finding(judge(passed), "; ".join(parts), header, rows)


CLAIMS = (
    Claim(
        "mask",
        "Without the causal mask the loss in training collapses, and decoding fails.",
        "A Transformer whose decoder sees all target positions in training; in translation there is no future to see.",
        "Loss on the test under teacher forcing below half, and BLEU below a fifth, of the masked model's.",
        test,
    ),
)
