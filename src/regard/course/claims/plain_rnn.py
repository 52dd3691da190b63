"""Vanishing and exploding gradients in a plain recurrent network, in absolute size and over the length of the sentence.

    D width   S words

h(t) = tanh(W x(t) + U h(t−1)): the gradient of h(S) by h(1) is a product of S − 1 factors diag(1 − h²) U. With entries
of U of variance g² / D, whose spectral radius is about g, it shrinks by about g a word while the tanh is linear.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.course.claims.claim import Claim, ClaimResult, judge, over_seeds
from regard.course.claims.experiment import ExperimentSetup
from regard.layers.recurrent import Weights, lstm_cell

WIDTH = 128
INPUT = 0.1  # size of the numbers of an input: small enough for the tanh to be nearly linear where h is small
GAINS = (0.5, 1.0, 2.0)
LENGTHS = (5, 10, 20, 40, 80)


def gradient_norm(gain: float, length: int, seed: int) -> float:
    """‖uᵀ ∂h(S) / ∂h(1)‖ for a random u of length 1: how much of a unit error at the last word arrives at the first.

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
    """The same along the cell c of an LSTM as our models begin it: forget biases of 1."""
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


def test(setup: ExperimentSetup) -> ClaimResult:
    found = {f"tanh, g = {g:g}": {s: [gradient_norm(g, s, x) for x in setup.seeds] for s in LENGTHS} for g in GAINS}
    found["LSTM"] = {s: [lstm_gradient_norm(s, x) for x in setup.seeds] for s in LENGTHS}
    rows = [[n, *(f"{sum(v) / len(v):.1e}" for v in of.values())] for n, of in found.items()]
    vanishing, _, exploding, lstm = (of[LENGTHS[-1]] for of in found.values())
    passed = max(vanishing) < 1e-6 and min(exploding) > 1e3
    sizes = [over_seeds(values, "{:.1e}") for values in (vanishing, exploding)]
    figure = f"over {LENGTHS[-1]} words a unit error has size {sizes[0]} with g = 0.5 and {sizes[1]} with g = 2"
    remark = (
        f"An LSTM as training begins has {over_seeds(lstm, '{:.1e}')}: it decays too, no slower than the tanh network "
        "with g = 1. What its gates can keep has to be learnt first."
    )
    return ClaimResult(judge(passed), figure, ["cell", *(f"{s} words" for s in LENGTHS)], rows, remark)


CLAIMS = (
    Claim(
        "exploding",
        "In a plain RNN gradients vanish or explode with the length of the sentence.",
        f"Fresh tanh networks of width {WIDTH} with recurrent matrices of spectral radius g; the size of a unit "
        "error at "
        f"the last of 5 to {LENGTHS[-1]} words when it arrives at the first. No training.",
        f"Over {LENGTHS[-1]} words below 1e-6 with g = 0.5 and above 1e3 with g = 2, with every seed.",
        test,
    ),
)
