"""Whether attention shows which source words mattered, measured by blanking each one (`explain/evidence.py`)."""

from __future__ import annotations

import numpy as np

from regard.bundle.bundle import Bundle
from regard.course.claims.claim import Claim, ClaimResult, judge, over_seeds
from regard.course.claims.experiment import BASE, ExperimentSetup
from regard.explain.evidence import evidence

SENTENCES = 60


def test(setup: ExperimentSetup) -> ClaimResult:
    examples = setup.test()
    some = examples[:: max(1, len(examples) // SENTENCES)][: 8 if setup.quick else SENTENCES]

    def measure(bundle: Bundle) -> list[list[float]]:
        """Per sentence, for attention and for gradient × input: ρ against Δ log p, how often the top word agrees."""
        rows = []
        for example in some:
            found = evidence(bundle, example.src, example.tgt)
            assert found.attention is not None
            maps = (found.attention, found.gradients)
            rows.append([x for one in maps for x in (found.agreement(one)[1], found.same_best(one))])
        return rows

    rows, agreements = [], []  # of attention: ρ and agreement
    for seed in setup.seeds:
        means = np.nanmean(np.array(setup.measured(BASE, seed, "evidence", measure), dtype=float), axis=0)
        rows.append(["attention", str(seed), f"{means[0]:.2f}", f"{means[1]:.0%}"])
        rows.append(["gradient × input", str(seed), f"{means[2]:.2f}", f"{means[3]:.0%}"])
        agreements.append((float(means[0]), float(means[1])))
    passed = all(rho >= 0.5 and same >= 0.8 for rho, same in agreements)
    rhos, sames = zip(*agreements, strict=True)
    figure = f"ρ {over_seeds(rhos, '{:.2f}')}, the same word first for {over_seeds(sames, '{:.0%}')} of target words"
    remark = "Cross-attention of the last layer, the mean of its heads, which is what is shown without a choice by AER."
    header = ["map", "seed", "Spearman ρ against Δ log p", "same source word first"]
    return ClaimResult(judge(passed), figure, header, rows, remark)


CLAIMS = (
    Claim(
        "interpretability",
        "Attention weights show which source words the model used for each target word.",
        f"{SENTENCES} test sentences with their references forced; each source word is blanked in turn, and the loss "
        "of log p of each target word is held against its attention.",
        "Spearman's ρ of at least 0.5 on the mean of sentences, and the same source word first for at least 80% of "
        "target words, with every seed.",
        test,
    ),
)
