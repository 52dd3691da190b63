"""Without the causal mask a decoder reads the answer: its loss collapses, and it has learnt nothing of use."""

from __future__ import annotations

from regard.course.claims.claim import Claim, Finding, judge, over_seeds
from regard.course.claims.learning import BASE, Pupil, School

SEEING = Pupil("without mask", variant="without mask")


def test(school: School) -> Finding:
    pupils = (BASE, SEEING)
    losses = [[school.loss(pupil, seed) for seed in school.seeds] for pupil in pupils]
    bleus = [[school.bleu(pupil, seed) for seed in school.seeds] for pupil in pupils]
    passed = all(seeing < masked / 2 for masked, seeing in zip(*losses, strict=True))
    passed = passed and all(seeing < masked / 5 for masked, seeing in zip(*bleus, strict=True))
    rows = [
        [pupil.name, str(seed), f"{losses[p][s]:.3f}", f"{bleus[p][s]:.1f}"]
        for p, pupil in enumerate(pupils)
        for s, seed in enumerate(school.seeds)
    ]
    loss = " → ".join(over_seeds(values, "{:.2f}") for values in losses)
    figure = f"loss {loss}; BLEU {' → '.join(over_seeds(values) for values in bleus)}"
    return Finding(judge(passed), figure, ["model", "seed", "nats per token, teacher forcing", "BLEU, greedy"], rows)


CLAIMS = (
    Claim(
        "mask",
        "Without the causal mask the loss in training collapses, and decoding fails.",
        "A Transformer whose decoder sees all target positions in training; in translation there is no future to see.",
        "Loss on the test under teacher forcing below half, and BLEU below a fifth, of the masked model's, with every "
        "seed.",
        test,
    ),
)
