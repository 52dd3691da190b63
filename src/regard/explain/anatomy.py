"""A model as a tree of parts with the values that they have for one sentence pair.

    stack ─▶ layer ─▶ sublayer ─▶ head ─▶ its vectors, scores and weights; `dot_product.py` has a single score

A part has a value for each token of one side: the source tokens with EOS, or the positions of the decoder, each of
which reads one token and predicts the next. `recorded_parts.py` fills the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from regard.errors import InputError
from regard.explain.terms import Array

Side = Literal["source", "target"]
# At these temperatures the distribution of a step is exact: softmax(logits / τ) needs the sum over the vocabulary.
TEMPERATURES = tuple(round(0.1 * step, 1) for step in range(1, 31))


@dataclass(frozen=True)
class ModelPart:
    id: str  # such as "decoder.2.cross.4"; layers and heads count from 1
    kind: str  # "layer", "attention", "head", "norm" …
    name: str
    what: str  # the equation
    side: Side  # whose tokens its rows are
    values: Array | None = None  # (rows, n)
    keys: Side | None = None  # of scores and weights: whose tokens the columns are
    parameters: int = 0
    parts: tuple[ModelPart, ...] = ()

    def walk(self) -> Iterator[ModelPart]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class Anatomy:
    parts: tuple[ModelPart, ...]  # in the order of the computation
    logits: Array  # (T, V)
    missing: str  # what of the model is not among the parts; "" if nothing

    def find(self, name: str) -> ModelPart:
        for part in self.parts:
            if name == part.id or name.startswith(part.id + "."):
                for found in part.walk():
                    if found.id == name:
                        return found
        known = ", ".join(part.id for part in self.parts)
        raise InputError(f'there is no part "{name}" in this model; it has {known}, and parts within them')


@dataclass(frozen=True)
class StepDistribution:
    """The most probable tokens of one step, and what makes their probabilities exact at every temperature:
    p(w) = exp(logit(w) / τ − log_sums[τ])."""

    tokens: tuple[int, ...]  # best first; the token that is output is always among them
    logits: tuple[float, ...]
    log_sums: tuple[float, ...]  # log Σ exp(logit / τ) over the vocabulary, one for each of TEMPERATURES
    rank: int  # of the token that is output, from 1


def step_distributions(logits: Array, output: Sequence[int], count: int) -> list[StepDistribution]:
    """logits (T, V) and the T tokens that are output → one distribution for each step."""
    return [_distribution(row, token, count) for row, token in zip(logits, output, strict=True)]


def _distribution(row: Array, token: int, count: int) -> StepDistribution:
    best = np.argsort(-row, kind="stable")[:count].tolist()
    rank = 1 + int((row > row[token]).sum())
    if token not in best:
        best[-1] = token
    return StepDistribution(
        tuple(best), tuple(row[best].tolist()), tuple(log_sum_exp(row / heat) for heat in TEMPERATURES), rank
    )


def log_sum_exp(row: Array) -> float:
    most = row.max()
    return float(most + np.log(np.exp(row - most).sum()))
