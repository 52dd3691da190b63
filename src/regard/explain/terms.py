"""The equations of attention for one query, written out term by term, in double precision with numpy.

    S keys   K head size   D width   A width of the additive score

    dot product   q = W_Q x + b   k_i = W_K m_i + b   v_i = W_V m_i + b   score_i = q·k_i / √K     Vaswani et al. 2017
    additive      score_i = vᵀ tanh(W₁h_i + W₂s)                                                   Bahdanau et al. 2015
    general       score_i = s·(W h_i)                                                              Luong et al. 2015
    dot, scaled   score_i = s·h_i, or that divided by √d
    then          α = softmax(scores, −∞ where masked)   c = Σ α_i v_i

This file is independent of models: `mechanisms.py` takes the numbers from one, and `step.py` compares the results.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Term:
    """One line of the calculation. `values` is a number, a vector, or has one row per key."""

    name: str
    what: str  # the equation
    values: Array
    of_keys: bool = False  # values (S,) or (S, n): one per key


@dataclass(frozen=True)
class Affine:
    """Wx + b."""

    weight: Array  # (out, in)
    bias: Array | None = None  # (out,)

    def __call__(self, x: Array) -> Array:
        """(…, in) → (…, out)"""
        # Without BLAS, whose threads wait busily: on two cores `x @ weight.T` of 20 rows takes 100 times the CPU time.
        out: Array = np.einsum("...i,oi->...o", x, self.weight)
        return out if self.bias is None else out + self.bias


@dataclass(frozen=True)
class RotaryAngles:
    """The angles of rotary positions, by which pairs of a head's numbers are rotated: (K/2,) or (S, K/2)."""

    radians: Array

    def rotate(self, x: Array) -> Array:
        """(…, K) → (…, K): (x₂ᵢ, x₂ᵢ₊₁) rotated by the i-th angle"""
        even, odd, cos, sin = x[..., 0::2], x[..., 1::2], np.cos(self.radians), np.sin(self.radians)
        turned: Array = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)
        return turned


def softmax(scores: Array) -> Array:
    """
    >>> softmax(np.array([0.0, 0.0, -np.inf])).tolist()
    [0.5, 0.5, 0.0]
    """
    raised = np.exp(scores - scores.max())
    weights: Array = raised / raised.sum()
    return weights


def dot_product_terms(
    x: Array,  # (D,) the query's hidden state
    memory: Array,  # (S, D) the keys' hidden states
    query: Affine,
    key: Affine,
    value: Affine,
    mask: NDArray[np.bool_],  # (S,) True: may be attended to
    query_turn: RotaryAngles | None = None,
    key_turn: RotaryAngles | None = None,
) -> list[Term]:
    """The terms of one head of scaled dot-product attention; the three maps are the head's own part, to K numbers."""
    q, k, v = query(x), key(memory), value(memory)
    terms = [
        Term("x", "hidden state of the query", x),
        Term("m", "hidden state of each key", memory, True),
        Term("q", "W_Q x + b_Q", q),
        Term("k", "W_K m + b_K", k, True),
    ]
    if query_turn is not None and key_turn is not None:
        q, k = query_turn.rotate(q), key_turn.rotate(k)
        terms += [
            Term("q′", "q turned by the angles of its position", q),
            Term("k′", "k turned by the angles of its position", k, True),
        ]
    products, mark = k @ q, "′" if query_turn is not None else ""
    root = math.sqrt(len(q))
    terms += [Term("q·k", f"q{mark}·k{mark}", products, True), Term("÷√d", f"q·k / √{len(q)}", products / root, True)]
    return terms + weighted_sum_terms(products / root, mask, v, "v", "W_V m + b_V")


def additive_terms(
    s: Array,  # (Q,)
    h: Array,  # (S, K)
    of_key: Affine,  # W₁
    of_query: Affine,  # W₂
    v: Array,  # (A,)
    mask: NDArray[np.bool_],
    coverage: tuple[Array, Array] | None = None,  # w (A,) and Σ α of the previous steps, (S,)
) -> list[Term]:
    keys, query = of_key(h), of_query(s)
    b = "" if of_query.bias is None else " + b"
    terms = [
        Term("s", "decoder state (the query)", s),
        Term("h", "the encoder's output for each word", h, True),
        Term("W₂s", f"W₂ s{b}", query),
        Term("W₁h", "W₁ h", keys, True),
    ]
    if coverage is not None:
        w, before = coverage
        keys = keys + before[:, None] * w
        terms.append(Term("Σα", "attention of the steps before", before, True))
    bent = np.tanh(keys + query)
    inside = f"W₁h + W₂s{b}" + ("" if coverage is None else " + w Σα")
    terms += [Term("tanh", f"tanh({inside})", bent, True), Term("vᵀtanh", f"vᵀ tanh({inside})", bent @ v, True)]
    return terms + weighted_sum_terms(bent @ v, mask, h, "h", "the same h")


def product_terms(s: Array, h: Array, mask: NDArray[np.bool_], of_key: Affine | None, scaled: bool) -> list[Term]:
    """The terms of a score by product: general if the keys are multiplied by a matrix, else dot; scaled or not."""
    terms = [Term("s", "decoder state (the query)", s), Term("h", "the encoder's output for each word", h, True)]
    keys, name = h, "h"
    if of_key is not None:
        keys, name = of_key(h), "Wh"
        terms.append(Term("Wh", "W h", keys, True))
    scores = keys @ s
    terms.append(Term(f"s·{name}", f"s·{name}", scores, True))
    if scaled:
        scores = scores / math.sqrt(len(s))
        terms.append(Term("÷√d", f"s·h / √{len(s)}", scores, True))
    return terms + weighted_sum_terms(scores, mask, h, "h", "the same h")


def weighted_sum_terms(scores: Array, mask: NDArray[np.bool_], values: Array, name: str, what: str) -> list[Term]:
    """The terms from scores to the weighted sum, which all mechanisms share."""
    masked = np.where(mask, scores, -np.inf)
    weights = softmax(masked)
    terms = [Term("mask", "−∞ where it may not attend", masked, True), Term("α", "softmax", weights, True)]
    if what != "the same h":
        terms.append(Term(name, what, values, True))
    terms.append(Term(f"α{name}", f"α {name}", weights[:, None] * values, True))
    return [*terms, Term("c", f"Σ α {name}", weights @ values)]
