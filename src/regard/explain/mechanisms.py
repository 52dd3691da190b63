"""One query of each attention mechanism, written out with a model's own hidden states and matrices.

    S source   T target   D width   K head size   H heads

A model declares the modules of its attention (`Model.attention_parts`). Each function here runs the model over one
sentence pair, records the calls of those modules, writes out the equation term by term (`terms.py`), and names the
terms to compare with the model's own values. `step.py` compares them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.batch import Batch
from regard.errors import InputError
from regard.explain.hooks import recorded
from regard.explain.terms import (
    Affine,
    Array,
    RotaryAngles,
    Term,
    additive_terms,
    dot_product_terms,
    product_terms,
    weighted_sum_terms,
)
from regard.layers.attention import MultiHeadAttention
from regard.layers.positions import frequencies
from regard.layers.scores import Scores
from regard.models.attention_parts import AttentionKind, ConvolutionPart, MultiHeadPart, ScorePart
from regard.models.base import Model
from regard.models.convs2s import ConvS2SMemory


@dataclass(frozen=True)
class Query:
    """An attention head and the position of its query. All count from 0, and are printed from 1."""

    kind: AttentionKind = "cross"
    layer: int = 0
    head: int = 0
    position: int = 0

    def __str__(self) -> str:
        return f"{self.kind} attention · layer {self.layer + 1} · head {self.head + 1} · position {self.position + 1}"


Checks = dict[str, tuple[Array, Tensor]]  # the computed value, and the model's value
AttentionTerms = tuple[str, list[Term], Checks]  # the equation in one line, its terms, what to compare


def attention_terms(model: Model, batch: Batch, query: Query) -> AttentionTerms:
    """Writes out one query of a batch of one sentence pair, by the mechanism that the model declares for it."""
    match model.attention_parts().get((query.kind, query.layer)):
        case MultiHeadPart() as part:
            return multi_head_terms(model, part, batch, query)
        case ScorePart() as part:
            return recurrent_terms(model, part, batch, query)
        case ConvolutionPart() as part:
            return convolution_terms(model, part, batch, query)
    raise InputError(f"a model of the class {type(model).__name__} does not say what its attention is made of")


# ── scaled dot product with heads ───────────────────────────────────────────────────────────────────────────────────


def multi_head_terms(model: Model, part: MultiHeadPart, batch: Batch, query: Query) -> AttentionTerms:
    attention, residual = part.attention, part.residual
    with recorded(residual, attention, *([] if part.memory is None else [part.memory])) as calls:
        maps = model.attention(batch)
    (before, _), (queries, seen) = calls[residual][0].inputs, calls[attention][0].inputs  # (1, H, T, K), (1, H, S, K)
    hidden = (before if residual.post else residual.norm(before))[0]  # (T, D)
    memory = hidden if part.memory is None else calls[part.memory][0].output[0]  # (S, D)
    at, keys, mask = query.position, array(memory), np.ones(len(memory), dtype=bool)
    if part.causal:
        mask[at + 1 :] = False
    turns = angles(len(keys), head_size(attention)) if part.rotary else None
    heads = [head_terms(attention, n, array(hidden[at]), keys, mask, at, turns) for n in range(attention.heads)]
    total = np.sum([found[-1].values for found in heads], axis=0) + array(attention.output.bias)
    terms = [*heads[query.head], Term("output", f"W_O c of all {attention.heads} heads, and b_O", total)]
    named = {term.name: term.values for term in terms}
    turned = "" if turns is None else "′"
    weights: list[Tensor] = getattr(maps, query.kind)
    checks: Checks = {
        "queries": (named["q" + turned], queries[0, query.head, at]),
        "keys": (named["k" + turned], seen.key[0, query.head]),
        "values": (named["v"], seen.value[0, query.head]),
        "weights": (named["α"], weights[query.layer][0, query.head, at]),
        "outputs": (total, calls[attention][0].output[0, at]),
    }
    return "α = softmax(q·k / √d, masked); c = Σ α v; W_O c", terms, checks


def head_terms(
    attention: MultiHeadAttention,
    head: int,
    x: Array,
    memory: Array,
    mask: NDArray[np.bool_],
    at: int,
    turns: Array | None,
) -> list[Term]:
    size = head_size(attention)
    part = slice(head * size, (head + 1) * size)
    query, key, value = (
        Affine(array(m.weight)[part], array(m.bias)[part]) for m in (attention.query, attention.key, attention.value)
    )
    turn = (None, None) if turns is None else (RotaryAngles(turns[at]), RotaryAngles(turns))
    terms = dot_product_terms(x, memory, query, key, value, mask, *turn)
    added = array(attention.output.weight)[:, part] @ terms[-1].values  # (D, K) (K,)
    return [*terms, Term("W_O c", "this head's columns of W_O times c: what it adds to the output", added)]


def head_size(attention: MultiHeadAttention) -> int:
    return attention.output.in_features // attention.heads


def angles(length: int, size: int) -> Array:
    """(S, K/2): the angles of rotary positions."""
    turns: Array = np.arange(length)[:, None] * array(frequencies(size))
    return turns


# ── scores of recurrent models ──────────────────────────────────────────────────────────────────────────────────────


def recurrent_terms(model: Model, part: ScorePart, batch: Batch, query: Query) -> AttentionTerms:
    scores, reader, at = part.scores, part.reader, query.position
    h = array(model.encode(batch.src, batch.src_mask).states[0])  # (S, K)
    with recorded(scores, reader) as calls:
        weights = model.attention(batch).cross[query.layer][0, 0]  # (T, S)
    s = by_position([call.inputs[0] for call in calls[scores]])[at]
    coverage = None if part.coverage is None else (array(part.coverage), array(weights[:at].sum(dim=0)))
    equation, terms = score_terms(scores, array(s), h, coverage)
    named = {term.name: term.values for term in terms}
    checks: Checks = {
        "scores": (named["mask"], by_position([call.output for call in calls[scores]])[at]),  # one sentence, so no mask
        "weights": (named["α"], weights[at]),
    }
    if isinstance(reader, nn.Linear):
        given = by_position([call.inputs[0] for call in calls[reader]])[at]
        gave = by_position([call.output for call in calls[reader]])[at]
        line, more, seen = projected(reader, named["c"], given, part.context_first)
        checks |= {"contexts": (named["c"], seen), "projections": (more[1].values, gave)}
        return f"{equation}; {line}", terms + more, checks
    own = by_position([call.output.context for call in calls[reader]])[at]
    return f"{equation}; c enters the cell as it is", terms, checks | {"contexts": (named["c"], own)}


def projected(reader: nn.Linear, c: Array, given: Tensor, context_first: bool) -> tuple[str, list[Term], Tensor]:
    """A linear layer over the context and the decoder's state, and the context as the layer received it."""
    width, maps = len(c), affine(reader)
    if context_first:
        state = array(given[width:])
        joined = maps(np.concatenate([c, state]))
        terms = [
            Term("s(t)", "decoder state beside the context", state),
            Term("W[c; s]", "W [c; s(t)]", joined),
            Term("ŝ", "tanh of it: what the output layer reads", np.tanh(joined)),
        ]
        return "ŝ = tanh(W[c; s])", terms, given[:width]
    state = array(given[:-width])
    terms = [
        Term("s(t)", "decoder state beside the context", state),
        Term("W[s; c]", "W [s(t); c] + b: what goes on to the next layer", maps(np.concatenate([state, c]))),
    ]
    return "x = W[s; c]", terms, given[-width:]


def score_terms(scores: Scores, s: Array, h: Array, coverage: tuple[Array, Array] | None) -> tuple[str, list[Term]]:
    mask = np.ones(len(h), dtype=bool)  # one sentence, so no padding
    if scores.kind == "additive":
        inside = "W₁h + W₂s" + ("" if coverage is None else " + w Σα")
        terms = additive_terms(s, h, affine(scores.of_key), affine(scores.of_query), array(scores.v), mask, coverage)
        return f"α = softmax(vᵀ tanh({inside}))", terms
    if scores.kind == "general":
        return "α = softmax(sᵀWh)", product_terms(s, h, mask, affine(scores.of_key), False)
    scaled = scores.kind == "scaled"
    return f"α = softmax(sᵀh{' / √d' if scaled else ''})", product_terms(s, h, mask, None, scaled)


# ── convolutional decoder layers ────────────────────────────────────────────────────────────────────────────────────


def convolution_terms(model: Model, part: ConvolutionPart, batch: Batch, query: Query) -> AttentionTerms:
    """d = W h + b + g is the query, z are the keys, z + e the values; √m times their mean goes through W."""
    at, memory = query.position, model.encode(batch.src, batch.src_mask)
    assert isinstance(memory, ConvS2SMemory)
    with recorded(part.layer, part.query, part.output) as calls:
        maps = model.attention(batch)
    embedded = array(calls[part.layer][0].inputs[1][0, at])  # g
    hidden = array(calls[part.query][0].inputs[0][0, at])  # h
    z, e = array(memory.states[0]), array(memory.embedded[0])
    d = Affine(array(part.query.kernels()[..., 0]), array(part.query.bias))(hidden) + embedded
    start = [
        Term("h", "hidden state of the query", hidden),
        Term("g", "embedding of the token read", embedded),
        Term("d", "W h + b + g", d),
        Term("z", "the encoder's output for each word", z, True),
        Term("d·z", "d·z", z @ d, True),
    ]
    summed = weighted_sum_terms(z @ d, np.ones(len(z), dtype=bool), z + e, "(z+e)", "z and the word's embedding e")
    context = summed[-1].values
    grown = context * np.sqrt(len(z))
    out = Affine(array(part.output.kernels()[..., 0]), array(part.output.bias))(grown)
    end = [
        Term("√m c", f"c times √{len(z)}, the number of source tokens", grown),
        Term("W c", "W √m c + b: what the attention adds to h", out),
    ]
    weights = next(term.values for term in summed if term.name == "α")
    checks: Checks = {
        "weights": (weights, maps.cross[query.layer][0, 0, at]),
        "contexts": (grown, calls[part.output][0].inputs[0][0, at]),
        "projections": (out, calls[part.output][0].output[0, at]),
    }
    return "α = softmax(d·z); c = Σ α (z + e); W √m c", [*start, *summed, *end], checks


# ── tensors as arrays ───────────────────────────────────────────────────────────────────────────────────────────────


def by_position(calls: list[Tensor]) -> Tensor:
    """Joins one call over all positions, or one call per position: (1, T, n) or many (1, 1, n) or (1, n) → (T, n)"""
    return torch.cat([call if call.dim() == 3 else call[:, None] for call in calls], dim=1)[0]


def affine(layer: nn.Linear) -> Affine:
    return Affine(array(layer.weight), None if layer.bias is None else array(layer.bias))


def array(tensor: Tensor) -> Array:
    found: Array = tensor.detach().cpu().double().numpy()
    return found
