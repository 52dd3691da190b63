"""One score of an attention head as the sum that it is, and its way to a weight.

    score = Σⱼ aⱼ bⱼ        q·k of a Transformer; v·tanh(W₁h + W₂s), s·(Wh) or s·h of a recurrent model; d·z of ConvS2S
    α = exp(score / √d) / Σ over keys of the same

The numbers are those of `step.py`, which are checked against the model's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.errors import InputError
from regard.explain.mechanisms import Query, array
from regard.explain.step import Numbers, query_numbers
from regard.explain.terms import Array
from regard.models.attention_parts import ScorePart
from regard.models.base import Model


@dataclass(frozen=True)
class DotProduct:
    equation: str
    names: tuple[str, str]  # of the two vectors
    left: Array  # (n,)
    right: Array  # (n,)
    score: float  # their product
    scale: float  # by which it is divided; 1 where it is not
    scaled: Array  # (S,) the scores of all keys of the query, −∞ where masked
    weights: Array  # (S,) their softmax

    @property
    def products(self) -> Array:
        return self.left * self.right


def dot_product(model: Model, source: Sequence[int], target: Sequence[int], query: Query, key: int) -> DotProduct:
    """One score for a pair of ids, given without BOS and EOS. Raises InputError for a query or a key out of range."""
    numbers = query_numbers(model, source, target, query)
    weights = numbers.term("α")
    if not 0 <= key < len(weights):
        raise InputError(f"key must be from 0 to {len(weights) - 1} here, but is {key}")
    names, left, right = _vectors(model, numbers, query, key)
    terms = {term.name for term in numbers.terms}
    scale = float(np.sqrt(len(left))) if "÷√d" in terms else 1.0
    score = float(left @ right)
    return DotProduct(numbers.equation, names, left, right, score, scale, numbers.term("mask"), weights)


def _vectors(model: Model, numbers: Numbers, query: Query, key: int) -> tuple[tuple[str, str], Array, Array]:
    part = model.attention_parts()[query.kind, query.layer]
    if isinstance(part, ScorePart) and part.scores.kind == "additive":
        return ("v", "tanh(W₁h + W₂s)"), array(part.scores.v), numbers.term("tanh")[key]
    known = {term.name for term in numbers.terms}
    pairs = (("q′", "k′"), ("q", "k"), ("s", "Wh"), ("s", "h"), ("d", "z"))
    left, right = next(pair for pair in pairs if set(pair) <= known)
    return (left, right), numbers.term(left), numbers.term(right)[key]
