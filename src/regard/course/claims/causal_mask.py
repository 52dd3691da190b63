"""Without the causal mask a decoder sees the reference: its loss collapses, and it cannot translate."""

from __future__ import annotations

from regard.course.claims.claim import Claim, ClaimResult, judge, over_seeds
from regard.course.claims.experiment import BASE, ExperimentSetup, ModelSpec

UNMASKED = ModelSpec("without mask", ablation="without mask")


def test(setup: ExperimentSetup) -> ClaimResult:
    specs = (BASE, UNMASKED)
    losses = [[setup.loss(spec, seed) for seed in setup.seeds] for spec in specs]
    bleus = [[setup.bleu(spec, seed) for seed in setup.seeds] for spec in specs]
    passed = all(unmasked < masked / 2 for masked, unmasked in zip(*losses, strict=True))
    passed = passed and all(unmasked < masked / 5 for masked, unmasked in zip(*bleus, strict=True))
    rows = [
        [spec.name, str(seed), f"{losses[p][s]:.3f}", f"{bleus[p][s]:.1f}"]
        for p, spec in enumerate(specs)
        for s, seed in enumerate(setup.seeds)
    ]
    loss = " → ".join(over_seeds(values, "{:.2f}") for values in losses)
    figure = f"loss {loss}; BLEU {' → '.join(over_seeds(values) for values in bleus)}"
    return ClaimResult(
        judge(passed), figure, ["model", "seed", "nats per token, teacher forcing", "BLEU, greedy"], rows
    )


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
