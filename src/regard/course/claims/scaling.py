"""Without √d_k the softmax saturates (the notes after Vaswani et al. 2017, section 3.2.1).

    D sizes of a head   N queries   S keys

With entries of variance 1, q·k has variance d_k. Large scores make the softmax nearly one-hot, where its derivative
∂a/∂z = diag(a) − aaᵀ is nearly 0.
"""

from __future__ import annotations

import math

import torch

from regard.course.claims.claim import Claim, ClaimResult, judge, over_seeds
from regard.course.claims.experiment import BASE, ExperimentSetup, ModelSpec

SIZES = (4, 16, 64, 256, 1024)
KEYS, QUERIES = 32, 512


def saturation(size: int, seed: int) -> dict[str, float]:
    """The variance of q·k; then, with and without √d_k, the entropy of the weights as a share of its maximum, and the
    mean norm of ∂a/∂z."""
    generator = torch.Generator().manual_seed(seed)
    q, k = (torch.randn(n, size, generator=generator, dtype=torch.float64) for n in (QUERIES, KEYS))
    scores = q @ k.T  # (N, S)
    found = {"variance": float(scores.var())}
    for name, z in (("scaled", scores / math.sqrt(size)), ("raw", scores)):
        a = z.softmax(dim=-1)
        found[f"entropy {name}"] = float(-(a * a.clamp_min(1e-300).log()).sum(-1).mean()) / math.log(KEYS)
        jacobian = torch.diag_embed(a) - a[:, :, None] * a[:, None, :]  # (N, S, S)
        found[f"gradient {name}"] = float(jacobian.flatten(1).norm(dim=1).mean())
    return found


def test_saturation(setup: ExperimentSetup) -> ClaimResult:
    found = {size: [saturation(size, seed) for seed in setup.seeds] for size in SIZES}
    rows, passed = [], True
    for size, seeds in found.items():
        mean = {key: sum(one[key] for one in seeds) / len(seeds) for key in seeds[0]}
        rows.append([str(size), f"{mean['variance']:.1f}", *(f"{mean[key]:.3f}" for key in list(mean)[1:])])
        passed = passed and all(abs(one["variance"] / size - 1) < 0.35 for one in seeds)
    large = found[1024]
    passed = passed and all(
        one["entropy raw"] < 0.1 and one["gradient raw"] < one["gradient scaled"] / 2 for one in large
    )
    passed = passed and all(one["entropy scaled"] > 0.75 for seeds in found.values() for one in seeds)
    mean = {key: sum(one[key] for one in large) / len(large) for key in large[0]}
    figure = (
        f"at d_k = 1024 the entropy is {mean['entropy raw']:.1%} of its greatest without √d_k and "
        f"{mean['entropy scaled']:.1%} with it; the softmax's derivative is {mean['gradient raw']:.3f} against "
        f"{mean['gradient scaled']:.3f}"
    )
    header = ["d_k", "variance of q·k", "entropy, ÷√d_k", "derivative, ÷√d_k", "entropy, raw", "derivative, raw"]
    remark = (
        "The derivative is the largest for weights on two keys, so at small d_k raw scores have more of it, not less."
    )
    return ClaimResult(judge(passed), figure, header, rows, remark)


def test_training(setup: ExperimentSetup) -> ClaimResult:
    raw = ModelSpec("without scaling", ablation="without scaling")
    bleus = {p.name: [setup.bleu(p, seed) for seed in setup.seeds] for p in (BASE, raw)}
    gap = [a - b for a, b in zip(bleus[BASE.name], bleus[raw.name], strict=True)]
    rows = [[name, *(f"{x:.1f}" for x in values)] for name, values in bleus.items()]
    figure = f"BLEU {over_seeds(bleus[BASE.name])} with √d_k, {over_seeds(bleus[raw.name])} without"
    return ClaimResult(judge(min(gap) >= 2), figure, ["model", *(f"seed {s}" for s in setup.seeds)], rows)


CLAIMS = (
    Claim(
        "scaling",
        "Without the division by √d_k, dot products grow with d_k and push the softmax to where its gradients vanish.",
        "q and k of independent N(0, 1) numbers, 512 queries on 32 keys, d_k from 4 to 1024.",
        "The variance of q·k is d_k (within 35%, the 32 keys are few); at 1024 the entropy of raw scores is below 10% "
        "of the greatest and the softmax's derivative below half of that with √d_k, whose entropy stays above 75%.",
        test_saturation,
    ),
    Claim(
        "scaling-learning",
        "So a Transformer learns worse without √d_k.",
        "Heads of 32 numbers, trained with and without √d_k, the same seed and updates.",
        "At least 2 BLEU less without it, with every seed.",
        test_training,
    ),
)
