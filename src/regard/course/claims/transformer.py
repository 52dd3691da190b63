"""Ablations of parts of a Transformer (scaling, positions, the causal mask, heads), and the meaning of its attention.

Scaling (Vaswani et al. 2017, section 3.2.1): with entries of variance 1, q·k has variance d_k. Large scores make the
softmax nearly one-hot, where its derivative ∂a/∂z = diag(a) − aaᵀ is nearly 0.

Positions: without them a Transformer cannot distinguish "the dog sees the cat" from "the cat sees the dog". Pairs have
nouns that occur in the corpus as subjects and as objects, and verbs that occur with such nouns. Some are odd in either
order ("the rope loses the soldier"); the rules give the references. Neither sentence of a pair is in the training text.

    N queries   S keys or source tokens   D width
"""

from __future__ import annotations

import math
import random
import re

import numpy as np
import torch

from regard.bundle.bundle import Bundle
from regard.course.claims import experiment
from regard.course.claims.ablations import ABLATIONS
from regard.course.claims.experiment import BASE, ClaimResult, ExperimentSetup, ModelSpec, judge, over_seeds
from regard.course.rules.translate import translate
from regard.errors import RunError
from regard.explain.evidence import evidence

# ------------------------------------------------------------------------------------------------ scaling


SIZES = (4, 16, 64, 256, 1024)
KEYS, QUERIES = 32, 512


def saturation(size: int, seed: int) -> dict[str, float]:
    """Returns the variance of q·k and, with and without √d_k, the entropy of the weights as a share of its maximum and
    the mean norm of ∂a/∂z."""
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
    return ClaimResult(judge(passed), figure, header, rows)


def test_training(setup: ExperimentSetup) -> ClaimResult:
    raw = ModelSpec("without scaling", ablation="without scaling")
    bleus = {p.name: [setup.bleu(p, seed) for seed in setup.seeds] for p in (BASE, raw)}
    gap = [a - b for a, b in zip(bleus[BASE.name], bleus[raw.name], strict=True)]
    rows = [[name, *(f"{x:.1f}" for x in values)] for name, values in bleus.items()]
    figure = f"BLEU {over_seeds(bleus[BASE.name])} with √d_k, {over_seeds(bleus[raw.name])} without"
    return ClaimResult(judge(min(gap) >= 2), figure, ["model", *(f"seed {s}" for s in setup.seeds)], rows)


# ------------------------------------------------------------------------------------------------ positions


NO_POSITIONS = ModelSpec("without positions", ablation="without positions")
PAIRS = 60
_BEGINNING = re.compile(r"The (\w+) (\w+) the (\w+)\b")


def order_pairs(setup: ExperimentSetup) -> list[list[tuple[str, str]]]:
    """Returns pairs of sentences of the same words in two orders, with their translations. In the training text every
    noun occurs as a subject and as an object, and every verb with such nouns on both sides."""
    train = {example.src for example in setup.splits["train"].examples}
    seen = [found.groups() for line in sorted(train) if (found := _BEGINNING.match(line))]
    both_ways = {subject for subject, _, _ in seen} & {thing for _, _, thing in seen}
    verbs = {verb for _, verb, thing in seen if thing in both_ways} & {v for who, v, _ in seen if who in both_ways}
    made = [(a, verb, b) for verb in sorted(verbs) for a in sorted(both_ways) for b in sorted(both_ways) if a < b]
    random.Random(1).shuffle(made)
    pairs: list[list[tuple[str, str]]] = []
    wanted = 5 if setup.quick else PAIRS
    for a, verb, b in made:
        lines = [f"The {a} {verb} the {b}.", f"The {b} {verb} the {a}."]
        french = [translate(line) for line in lines]
        if train.isdisjoint(lines) and french[0] and french[1] and french[0] != french[1]:
            pairs.append([(line, text or "") for line, text in zip(lines, french, strict=True)])
        if len(pairs) == wanted:
            return pairs
    raise RunError(f"the corpus gave {len(pairs)} pairs that differ in order alone, but {wanted} are needed")


def test_positions(setup: ExperimentSetup) -> ClaimResult:
    pairs = setup.cache.get("order-pairs", lambda: order_pairs(setup))
    sources = [source for pair in pairs for source, _ in pair]
    wanted = [text for pair in pairs for _, text in pair]
    rows, bleus = [], {}
    both_right: dict[str, list[float]] = {}
    for spec in (BASE, NO_POSITIONS):

        def translated(bundle: Bundle) -> list[str]:
            return experiment.translations_of(bundle, sources)

        bleus[spec.name] = [setup.bleu(spec, seed) for seed in setup.seeds]
        both_right[spec.name] = []
        for seed, score in zip(setup.seeds, bleus[spec.name], strict=True):
            found = setup.measured(spec, seed, "order", translated)
            right = [a == b for a, b in zip(found, wanted, strict=True)]
            both = [x and y for x, y in zip(right[0::2], right[1::2], strict=True)]
            same = [x == y for x, y in zip(found[0::2], found[1::2], strict=True)]
            share = sum(both) / max(1, len(both))
            both_right[spec.name].append(share)
            row = [spec.name, str(seed), f"{score:.1f}", f"{sum(right) / max(1, len(right)):.0%}", f"{share:.0%}"]
            rows.append([*row, f"{sum(same) / max(1, len(same)):.0%}"])
    lower = [a - b for a, b in zip(bleus[BASE.name], bleus[NO_POSITIONS.name], strict=True)]
    passed = max(both_right[NO_POSITIONS.name]) <= 0.02 and min(lower) >= 10 and min(both_right[BASE.name]) >= 0.3
    figure = (
        f"both orders right: {over_seeds(both_right[BASE.name], '{:.0%}')} with positions, "
        f"{over_seeds(both_right[NO_POSITIONS.name], '{:.0%}')} without; BLEU {over_seeds(bleus[BASE.name])} against "
        f"{over_seeds(bleus[NO_POSITIONS.name])}, lower by {over_seeds(lower)}"
    )
    header = ["model", "seed", "BLEU", "sentences right", "both orders right", "both translated alike"]
    return ClaimResult(judge(passed), figure, header, rows)


@torch.inference_mode()
def order_difference(seed: int, ablation: str, tokens: int = 12, orders: int = 20) -> float:
    """Returns the largest difference, in double precision, between the encoder's states of a sentence with permuted
    words and the permuted states of the original sentence. The model is untrained; states are of the order of 1."""
    model = experiment.untrained_model("transformer", 500, seed).eval().double()
    words = torch.randint(3, 500, (1, tokens))
    mask = torch.ones_like(words, dtype=torch.bool)
    with ABLATIONS[ablation]():
        states = model.encode(words, mask).states[0]  # (S, D)
        found = []
        for _ in range(orders):
            order = torch.randperm(tokens)
            found.append(float((model.encode(words[:, order], mask).states[0] - states[order]).abs().max()))
    return max(found)


def test_equivariance(setup: ExperimentSetup) -> ClaimResult:
    found = {name: [order_difference(seed, name) for seed in setup.seeds] for name in ("without positions", "none")}
    without, usual = found.values()
    with_sinusoids = over_seeds(usual, "{:.2f}")
    figure = f"largest difference of a state {max(without):.0e} without positions, {with_sinusoids} with sinusoids"
    rows = [["without positions", *(f"{x:.1e}" for x in without)], ["sinusoids", *(f"{x:.2f}" for x in usual)]]
    passed = max(without) < 1e-12 and min(usual) > 0.1
    return ClaimResult(judge(passed), figure, ["encoder", *(f"seed {seed}" for seed in setup.seeds)], rows)


# ------------------------------------------------------------------------------------------------ the causal mask


UNMASKED = ModelSpec("without mask", ablation="without mask")


def test_mask(setup: ExperimentSetup) -> ClaimResult:
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


# ------------------------------------------------------------------------------------------------ heads


ONE_HEAD = ModelSpec("one head", heads=1)


def test_heads(setup: ExperimentSetup) -> ClaimResult:
    bleus = {p.name: [setup.bleu(p, seed) for seed in setup.seeds] for p in (BASE, ONE_HEAD)}
    four, one = bleus[BASE.name], bleus[ONE_HEAD.name]
    spread = max(max(values) - min(values) for values in (four, one))
    gains = [a - b for a, b in zip(four, one, strict=True)]
    passed = min(gains) > 0 and sum(gains) / len(gains) >= max(1.0, spread)
    rows = [["4 heads of 32", *(f"{x:.1f}" for x in four)], ["1 head of 128", *(f"{x:.1f}" for x in one)]]
    figure = f"BLEU {over_seeds(gains, '{:+.1f}')} with four heads; seeds of one model differ by up to {spread:.1f}"
    return ClaimResult(judge(passed), figure, ["model", *(f"seed {s}" for s in setup.seeds)], rows)


# ------------------------------------------------------------------------------------------------ interpretability


SENTENCES = 60


def test_interpretability(setup: ExperimentSetup) -> ClaimResult:
    examples = setup.test()
    some = examples[:: max(1, len(examples) // SENTENCES)][: 8 if setup.quick else SENTENCES]

    def measure(bundle: Bundle) -> list[list[float]]:
        """Returns per sentence, for attention and gradient × input: ρ against Δ log p, agreement of the top word."""
        rows = []
        for example in some:
            found = evidence(bundle, example.src, example.tgt)
            assert found.attention is not None
            maps = (found.attention, found.gradients)
            rows.append([x for one in maps for x in (found.agreement(one)[1], found.same_best(one))])
        return rows

    rows, agreements = [], []  # rows of the table; of attention, ρ and agreement
    for seed in setup.seeds:
        means = np.nanmean(np.array(setup.measured(BASE, seed, "evidence", measure), dtype=float), axis=0)
        rows.append(["attention", str(seed), f"{means[0]:.2f}", f"{means[1]:.0%}"])
        rows.append(["gradient × input", str(seed), f"{means[2]:.2f}", f"{means[3]:.0%}"])
        agreements.append((float(means[0]), float(means[1])))
    passed = all(rho >= 0.5 and same >= 0.8 for rho, same in agreements)
    rhos, sames = zip(*agreements, strict=True)
    figure = f"ρ {over_seeds(rhos, '{:.2f}')}, the same word first for {over_seeds(sames, '{:.0%}')} of target words"
    header = ["map", "seed", "Spearman ρ against Δ log p", "same source word first"]
    return ClaimResult(judge(passed), figure, header, rows)
