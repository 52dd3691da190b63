"""Limits of recurrent networks: the bottleneck of one vector per sentence, and gradients that vanish or explode.

h(t) = tanh(W x(t) + U h(t−1)): the gradient of h(S) by h(1) is a product of S − 1 factors diag(1 − h²) U. With entries
of U of variance g² / D, whose spectral radius is about g, it shrinks by about g per word while the tanh is linear.

    B sentences   S source tokens   D width
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.course.claims import experiment
from regard.course.claims.experiment import ClaimResult, ExperimentSetup, ModelSpec, judge, over_seeds, translations_of
from regard.course.grammar import Example
from regard.explain.hooks import run_on_source_embeddings
from regard.layers.recurrent import Weights, lstm_cell
from regard.metrics.bleu import bleu
from regard.search.forced_decoding import token_log_probs

# -------------------------------------------------------------------------------- one vector per sentence


# Three times the usual updates: after 600 the RNN had 14 BLEU on short sentences (docs/claims.md).
RNN, ATTENTION = ModelSpec("rnn", "rnn", updates=3), ModelSpec("rnn-attention", "rnn-attention", updates=3)
SHORT, LONG = 8, 15  # words: at most SHORT, more than LONG
LENGTHS = (5, 10, 20, 40)


def by_length(setup: ExperimentSetup) -> dict[str, list[Example]]:
    """Returns at most 150 held-out sentences of each length."""
    held_out = [e for name in ("test", "dev", "compositional") for e in setup.splits[name].examples]
    groups: dict[str, list[Example]] = {f"up to {SHORT} words": [], "between": [], f"over {LONG} words": []}
    short, between, long = groups.values()
    for example in held_out:
        words = len(example.src.split())
        (short if words <= SHORT else between if words <= LONG else long).append(example)
    return {name: some[:: max(1, len(some) // 150)][:150] for name, some in groups.items()}


def test_lengths(setup: ExperimentSetup) -> ClaimResult:
    groups = by_length(setup)
    sources = [example.src for some in groups.values() for example in some]
    rows, gaps = [], []
    for seed in setup.seeds:
        of_spec = []
        for spec in (RNN, ATTENTION):
            found = iter(setup.measured(spec, seed, "lengths", lambda bundle: translations_of(bundle, sources)))
            scores = [bleu([next(found) for _ in some], [e.tgt for e in some]).score for some in groups.values()]
            rows.append([spec.name, str(seed), *(f"{x:.1f}" for x in scores)])
            of_spec.append(scores)
        gaps.append((of_spec[1][0] - of_spec[0][0], of_spec[1][2] - of_spec[0][2]))
    passed = all(long >= 5 and long - short >= 5 for short, long in gaps)
    short_gain, long_gain = (over_seeds(gains, "{:+.1f}") for gains in zip(*gaps, strict=True))
    figure = f"attention is worth {short_gain} BLEU in short sentences, {long_gain} in long ones"
    header = ["model", "seed", *(f"{name} ({len(some)})" for name, some in groups.items())]
    return ClaimResult(judge(passed), figure, header, rows)


def first_word_gradient(architecture: str, length: int, seed: int) -> float:
    """Returns, for an untrained model, the share of the gradient of log p(first target word) that reaches the first of
    S source words, divided by an equal share, 1 / S. The sentences are random tokens."""
    model = experiment.untrained_model(architecture, 500, seed).eval()
    rows = torch.randint(3, 500, (16, length)).tolist()
    batch = flat_batch(rows, [row[:1] for row in rows]).pad()
    log_probs, (read,) = run_on_source_embeddings(model, lambda: token_log_probs(model, batch))
    (gradient,) = torch.autograd.grad(log_probs[:, 0].sum(), [read])  # (B, S + 1, D)
    sizes = gradient[:, :length].norm(dim=-1)  # (B, S)
    return float((sizes[:, 0] / sizes.sum(dim=1)).mean()) * length


def test_gradient(setup: ExperimentSetup) -> ClaimResult:
    names = ("rnn", "rnn-attention", "transformer")
    found = {n: {s: [first_word_gradient(n, s, seed) for seed in setup.seeds] for s in LENGTHS} for n in names}
    rows = [[n, *(f"{sum(v) / len(v):.4f}" for v in of.values())] for n, of in found.items()]
    at = {n: of[LENGTHS[-1]] for n, of in found.items()}
    passed = max(at["rnn"]) < 0.01 and min(at["rnn-attention"]) > 0.3
    share = {n: over_seeds(values, "{:.2g}") for n, values in at.items()}
    figure = (
        f"with {LENGTHS[-1]} words the first one gets {share['rnn']} of an even share of the gradient in the RNN, "
        f"{share['rnn-attention']} with attention, {share['transformer']} in the Transformer"
    )
    return ClaimResult(judge(passed), figure, ["model", *(f"{s} words" for s in LENGTHS)], rows)


# -------------------------------------------------------------------------------- gradients of a recurrent network


WIDTH = 128
INPUT = 0.1  # size of the numbers of an input: small enough for the tanh to be nearly linear where h is small
GAINS = (0.5, 1.0, 2.0)
SPANS = (5, 10, 20, 40, 80)


def gradient_norm(gain: float, length: int, seed: int) -> float:
    """Returns ‖uᵀ ∂h(S) / ∂h(1)‖ for a random u of length 1: the share of a unit error that reaches the first word.

    >>> gradient_norm(0.5, 5, seed=1) > gradient_norm(0.5, 10, seed=1)
    True
    """
    generator = torch.Generator().manual_seed(seed)
    matrix = _normal(generator, WIDTH, WIDTH) * gain / math.sqrt(WIDTH)
    first = (_normal(generator, WIDTH) * INPUT).requires_grad_()
    error = torch.nn.functional.normalize(_normal(generator, WIDTH), dim=0)
    h = first
    for _ in range(length - 1):
        h = torch.tanh(_normal(generator, WIDTH) * INPUT + matrix @ h)
    (gradient,) = torch.autograd.grad(h @ error, first)
    return float(gradient.norm())


def lstm_gradient_norm(length: int, seed: int) -> float:
    """Like `gradient_norm`, along the cell c of an LSTM with the initial weights of our models (forget biases of 1)."""
    generator = torch.Generator().manual_seed(seed)
    size = 1 / math.sqrt(WIDTH)
    of_input, of_state = (_normal(generator, 4 * WIDTH, WIDTH) * size for _ in range(2))
    bias = torch.zeros(4 * WIDTH, dtype=torch.float64)
    bias[WIDTH : 2 * WIDTH] = 1.0  # i f g o
    weights = Weights(of_input, of_state, bias, torch.zeros_like(bias))
    first = (_normal(generator, WIDTH) * INPUT).requires_grad_()
    error = torch.nn.functional.normalize(_normal(generator, WIDTH), dim=0)
    h, c = torch.tanh(first)[None], first[None]
    for _ in range(length - 1):
        h, c = lstm_cell(_normal(generator, 1, WIDTH) * INPUT, h, c, weights)
    (gradient,) = torch.autograd.grad(h[0] @ error, first)
    return float(gradient.norm())


def _normal(generator: torch.Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_exploding(setup: ExperimentSetup) -> ClaimResult:
    found = {f"tanh, g = {g:g}": {s: [gradient_norm(g, s, x) for x in setup.seeds] for s in SPANS} for g in GAINS}
    found["LSTM"] = {s: [lstm_gradient_norm(s, x) for x in setup.seeds] for s in SPANS}
    rows = [[n, *(f"{sum(v) / len(v):.1e}" for v in of.values())] for n, of in found.items()]
    vanishing, _, exploding, lstm = (of[SPANS[-1]] for of in found.values())
    passed = max(vanishing) < 1e-6 and min(exploding) > 1e3
    sizes = [over_seeds(values, "{:.1e}") for values in (vanishing, exploding)]
    figure = f"over {SPANS[-1]} words a unit error has size {sizes[0]} with g = 0.5 and {sizes[1]} with g = 2"
    remark = (
        f"An LSTM as training begins has {over_seeds(lstm, '{:.1e}')}: it decays too, no slower than the tanh network "
        "with g = 1. What its gates can keep has to be learnt first."
    )
    return ClaimResult(judge(passed), figure, ["cell", *(f"{s} words" for s in SPANS)], rows, remark)
