"""Figures that the notes print, computed again by the package (docs/notes.md lists where they occur)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from regard.course.claims.experiment import SHOWN, ClaimResult, ExperimentSetup
from regard.layers.attention import attend
from regard.metrics.bleu import Bleu, bleu

ANSWERS = ((0.621, -0.182), (0.524, 0.235), (0.462, 0.156), (0.715, -0.324))  # printed answers of exercise 5


def compared(printed: Sequence[float], computed: Sequence[float], digits: int, what: str) -> ClaimResult:
    """Compares printed with computed figures: shown if they agree after rounding. A difference of at most one in the
    last digit is rounding, not an error; an integer is a count and is right or wrong."""
    furthest = max(abs(p - c) for p, c in zip(printed, computed, strict=True)) * 10**digits
    given, right_values = _list(printed), _list(computed)
    verdict = f"the notes are wrong: {what} = {right_values}, not {given}"
    if furthest <= 0.5 + 1e-6:
        verdict = SHOWN
    elif digits and furthest <= 1 + 1e-6:
        verdict = f"rounded: {what} = {right_values}, printed {given}"
    return ClaimResult(verdict, f"printed {given}, computed {right_values}")


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{round(value, 3):g}" for value in values)


def test_softmax(setup: ExperimentSetup) -> ClaimResult:
    q, k, v = torch.tensor([[2.0]]), torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([[2.0], [4.0], [6.0]])
    context, weights = attend(q, k, v)
    return compared([0.1, 0.3, 0.6, 5.0], [*weights[0].tolist(), context.item()], 1, "softmax(2, 4, 6), context")


def test_small_softmax(setup: ExperimentSetup) -> ClaimResult:
    weights = torch.tensor([2.0, 1.0, 0.0]).softmax(0).tolist()
    return compared([0.665, 0.244, 0.091], weights, 3, "softmax(2, 1, 0)")


def test_additive(setup: ExperimentSetup) -> ClaimResult:
    w1, w2 = torch.tensor([[0.5, -0.3], [0.2, 0.4]]), torch.tensor([[0.1, 0.2], [-0.3, 0.1]])
    vector = (w1 @ torch.tensor([1.0, 2.0]) + w2 @ torch.tensor([0.5, 1.0])).tanh().tolist()
    nearest = min(ANSWERS, key=lambda answer: max(abs(a - b) for a, b in zip(answer, vector, strict=True)))
    found = compared(nearest, vector, 3, "tanh(W₁h + W₂s)")
    return replace(found, figure=f"{found.figure}; the nearest of the four answers is printed here")


def test_bigrams(setup: ExperimentSetup) -> ClaimResult:
    stats = Bleu(tokenize="none", max_order=2).stats(["the the the the the the"], ["the cat is on the mat"])
    *_, right, _, total = stats.rows[0].tolist()
    return compared([1, 5], [right, total], 0, "right bigrams, all bigrams")


def test_trigrams(setup: ExperimentSetup) -> ClaimResult:
    score = bleu(["The cat is on mat"], ["The cat is on the mat"], tokenize="none", max_order=3)
    found = [score.correct[2], score.total[2], score.score / 100]
    return compared([1, 3, 0.51], found, 2, "right trigrams, all trigrams, BLEU")


SIMILARITIES, VALUES = (0.05, 0.8, 0.05, 0.1), (171.0, 23.0, 130.0, 1.0)  # from the slide on retrieval
FILTER = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.8, 0.1, 0.1), (0.0, 0.1, 0.8, 0.1), (0.0, 0.2, 0.1, 0.7))


def test_retrieval(setup: ExperimentSetup) -> ClaimResult:
    similar, values = torch.tensor(SIMILARITIES, dtype=torch.float64), torch.tensor(VALUES, dtype=torch.float64)
    found = compared([33.55], [(similar @ values).item()], 2, "Σ similarity · value")
    again = (similar.softmax(0) @ values).item()
    remark = (
        f"The slide prints no result; the best match alone has the value 23. Taken as scores, which the softmax of the "
        f"same slide still has to normalise, the four numbers would give {again:.2f}."
    )
    return replace(found, figure=f"the sum is {(similar @ values).item():.2f}", remark=remark)


def test_filter(setup: ExperimentSetup) -> ClaimResult:
    found = compared([1, 1, 1, 1], [sum(row) for row in FILTER], 2, "sums of rows")
    gap = math.log(0.995 / (0.005 / 3))  # 1.00 is at least 0.995, so the other three share 0.005
    remark = (
        "A softmax of finite scores gives no exact 0. A row printed as 1.00, 0.00, 0.00, 0.00 needs a first score that "
        f"is {gap:.1f} above the others, or more; or a mask."
    )
    return replace(found, remark=remark)
