"""Several heads against one head of the same total width, with the same number of parameters."""

from __future__ import annotations

from regard.course.claims.claim import Claim, ClaimResult, judge, over_seeds
from regard.course.claims.experiment import BASE, ExperimentSetup, ModelSpec

ONE = ModelSpec("one head", heads=1)


def test(setup: ExperimentSetup) -> ClaimResult:
    bleus = {p.name: [setup.bleu(p, seed) for seed in setup.seeds] for p in (BASE, ONE)}
    four, one = bleus[BASE.name], bleus[ONE.name]
    spread = max(max(values) - min(values) for values in (four, one))
    gains = [a - b for a, b in zip(four, one, strict=True)]
    passed = min(gains) > 0 and sum(gains) / len(gains) >= max(1.0, spread)
    rows = [["4 heads of 32", *(f"{x:.1f}" for x in four)], ["1 head of 128", *(f"{x:.1f}" for x in one)]]
    figure = f"BLEU {over_seeds(gains, '{:+.1f}')} with four heads; seeds of one model differ by up to {spread:.1f}"
    return ClaimResult(judge(passed), figure, ["model", *(f"seed {s}" for s in setup.seeds)], rows)


CLAIMS = (
    Claim(
        "heads",
        "Several heads are better than one, because each can look for something else.",
        "A Transformer of width 128 with 4 heads and with 1, equal in parameters, updates and seeds.",
        "More BLEU with every seed, on the mean by at least 1 and by more than seeds differ.",
        test,
    ),
)
