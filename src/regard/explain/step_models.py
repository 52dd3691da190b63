"""Where each architecture keeps what one look is made of: its hidden states and matrices, as terms of the equation.

    S source   T target   D width   K head size   H heads

Each function runs the model over one sentence pair, overhears the parts concerned, writes the working of one look out
(`terms.py`) and says what of it is to be held against what. `step.py` does the holding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.batch import Batch
from regard.errors import InputError
from regard.explain.capture import Kind
from regard.explain.hearing import overheard
from regard.explain.terms import (
    Affine,
    Angles,
    Array,
    Term,
    additive_terms,
    dot_product_terms,
    look_terms,
    product_terms,
)
from regard.layers.attention import MultiHeadAttention
from regard.layers.positions import frequencies
from regard.layers.residual import Residual
from regard.layers.scores import Scores
from regard.models import convs2s, transformer
from regard.models.base import Model
from regard.models.convs2s import ConvS2S
from regard.models.gnmt import Attentive, AttentiveLSTM
from regard.models.moe import Moe
from regard.models.rnn_attention import RnnAttention
from regard.models.transformer import Transformer


@dataclass(frozen=True)
class Which:
    """All counted from 0."""

    kind: Kind = "cross"
    layer: int = 0
    head: int = 0
    position: int = 0  # of the query

    def __str__(self) -> str:
        return f"{self.kind} attention · layer {self.layer + 1} · head {self.head + 1} · position {self.position + 1}"


Checks = dict[str, tuple[Array, Tensor]]  # what was computed, and what the model had
Working = tuple[str, list[Term], Checks]  # the equation in one line, its terms, what to check


def has_attention(model: Model) -> bool:
    return isinstance(model, (Transformer, RnnAttention, Attentive, Moe, ConvS2S))


def working(model: Model, batch: Batch, which: Which) -> Working:
    if isinstance(model, Transformer):
        return of_transformer(model, batch, which)
    if isinstance(model, ConvS2S):
        return of_convs2s(model, batch, which)
    if isinstance(model, (RnnAttention, Attentive, Moe)):
        return of_recurrent(model, batch, which)
    raise InputError(
        f"a step in numbers is of a single model that looks, but this is of the class {type(model).__name__}"
    )


def of_transformer(model: Transformer, batch: Batch, which: Which) -> Working:
    attention, around = transformer_part(model, which)
    with overheard(around, attention, model.encoder_norm) as heard:
        maps = model.attention(batch)
    (before, _), (query, seen) = heard[around][0].given, heard[attention][0].given  # (1, H, T, K), twice (1, H, S, K)
    hidden = (before if around.post else around.norm(before))[0]  # (T, D)
    memory = heard[model.encoder_norm][0].gave[0] if which.kind == "cross" else hidden  # (S, D)
    at, keys, mask = which.position, array(memory), np.ones(len(memory), dtype=bool)
    if which.kind == "decoder":
        mask[at + 1 :] = False
    turns = angles(model, len(keys)) if which.kind != "cross" else None
    heads = [head_terms(attention, n, array(hidden[at]), keys, mask, at, turns) for n in range(attention.heads)]
    total = np.sum([found[-1].values for found in heads], axis=0) + array(attention.output.bias)
    terms = [*heads[which.head], Term("output", f"W_O c of all {attention.heads} heads, and b_O", total)]
    named = {term.name: term.values for term in terms}
    turned = "" if turns is None else "′"
    weights: list[Tensor] = getattr(maps, which.kind)
    checks: Checks = {
        "queries": (named["q" + turned], query[0, which.head, at]),
        "keys": (named["k" + turned], seen.key[0, which.head]),
        "values": (named["v"], seen.value[0, which.head]),
        "weights": (named["α"], weights[which.layer][0, which.head, at]),
        "outputs": (total, heard[attention][0].gave[0, at]),
    }
    return "α = softmax(q·k / √d, masked); c = Σ α v; W_O c", terms, checks


def transformer_part(model: Transformer, which: Which) -> tuple[MultiHeadAttention, Residual]:
    layer = (model.encoder if which.kind == "encoder" else model.decoder)[which.layer]
    if which.kind == "cross":
        assert isinstance(layer, transformer.DecoderLayer)
        return layer.cross, layer.around_cross
    assert isinstance(layer, (transformer.EncoderLayer, transformer.DecoderLayer))
    return layer.attention, layer.around_attention


def head_terms(
    attention: MultiHeadAttention,
    head: int,
    x: Array,
    memory: Array,
    mask: NDArray[np.bool_],
    at: int,
    turns: Array | None,
) -> list[Term]:
    part = head_slice(attention, head)
    query, key, value = (
        Affine(array(m.weight)[part], array(m.bias)[part]) for m in (attention.query, attention.key, attention.value)
    )
    turn = (None, None) if turns is None else (Angles(turns[at]), Angles(turns))
    terms = dot_product_terms(x, memory, query, key, value, mask, *turn)
    added = array(attention.output.weight)[:, part] @ terms[-1].values  # (D, K) (K,)
    return [*terms, Term("W_O c", "this head's columns of W_O times c: what it adds to the output", added)]


def head_slice(attention: MultiHeadAttention, head: int) -> slice:
    size = attention.output.in_features // attention.heads
    return slice(head * size, (head + 1) * size)


def angles(model: Transformer, length: int) -> Array | None:
    """(S, K/2) of rotary positions, else None."""
    if model.config.positions != "rotary":
        return None
    turns: Array = np.arange(length)[:, None] * array(frequencies(model.config.width // model.config.heads))
    return turns


def of_recurrent(model: RnnAttention | Attentive | Moe, batch: Batch, which: Which) -> Working:
    """Models that ask with `layers/scores.py`; they differ in what reads the context."""
    scores = model.bottom.scores if isinstance(model, Attentive) else model.scores
    reader = context_reader(model)
    h, at = array(model.encode(batch.src, batch.src_mask).states[0]), which.position  # (S, K)
    with overheard(scores, reader) as heard:
        weights = model.attention(batch).cross[0][0, 0]  # (T, S)
    s = in_turn([call.given[0] for call in heard[scores]])[at]
    coverage = None
    if isinstance(model, RnnAttention) and model.of_coverage is not None:
        coverage = array(model.of_coverage), array(weights[:at].sum(dim=0))
    equation, terms = score_terms(scores, array(s), h, coverage)
    named = {term.name: term.values for term in terms}
    checks: Checks = {
        "scores": (named["mask"], in_turn([call.gave for call in heard[scores]])[at]),  # one sentence: none is masked
        "weights": (named["α"], weights[at]),
    }
    if isinstance(reader, nn.Linear):
        given = in_turn([call.given[0] for call in heard[reader]])[at]
        gave = in_turn([call.gave for call in heard[reader]])[at]
        said, more, seen = projected(reader, named["c"], given, context_first=isinstance(model, RnnAttention))
        checks |= {"contexts": (named["c"], seen), "projections": (more[1].values, gave)}
        return f"{equation}; {said}", terms + more, checks
    looked = in_turn([call.gave.context for call in heard[reader]])[at]
    return f"{equation}; c enters the cell as it is", terms, checks | {"contexts": (named["c"], looked)}


def context_reader(model: RnnAttention | Attentive | Moe) -> AttentiveLSTM | nn.Linear:
    if isinstance(model, Attentive):
        return model.bottom
    return model.combine if isinstance(model, RnnAttention) else model.join


def projected(reader: nn.Linear, c: Array, given: Tensor, context_first: bool) -> tuple[str, list[Term], Tensor]:
    """What a linear layer makes of the context and the decoder's state; and the context as that layer was given it."""
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
    mask = np.ones(len(h), dtype=bool)  # one sentence: no padding
    if scores.kind == "additive":
        inside = "W₁h + W₂s" + ("" if coverage is None else " + w Σα")
        terms = additive_terms(s, h, affine(scores.of_key), affine(scores.of_query), array(scores.v), mask, coverage)
        return f"α = softmax(vᵀ tanh({inside}))", terms
    if scores.kind == "general":
        return "α = softmax(sᵀWh)", product_terms(s, h, mask, affine(scores.of_key), False)
    scaled = scores.kind == "scaled"
    return f"α = softmax(sᵀh{' / √d' if scaled else ''})", product_terms(s, h, mask, None, scaled)


def of_convs2s(model: ConvS2S, batch: Batch, which: Which) -> Working:
    """d = W h + b + g asks z; the values are z + e; √m times their mean goes through W."""
    layer, at = model.decoder[which.layer], which.position
    assert isinstance(layer, convs2s.ConvS2SDecoderLayer)
    memory = model.encode(batch.src, batch.src_mask)
    with overheard(layer, layer.query, layer.output) as heard:
        maps = model.attention(batch)
    embedded = array(heard[layer][0].given[1][0, at])  # g
    hidden = array(heard[layer.query][0].given[0][0, at])  # h
    z, e = array(memory.states[0]), array(memory.embedded[0])
    query = Affine(array(layer.query.kernels()[..., 0]), array(layer.query.bias))
    d = query(hidden) + embedded
    start = [
        Term("h", "hidden state of the query", hidden),
        Term("g", "embedding of the token read", embedded),
        Term("d", "W h + b + g", d),
        Term("z", "what the encoder made of each word", z, True),
        Term("d·z", "d·z", z @ d, True),
    ]
    looked = look_terms(z @ d, np.ones(len(z), dtype=bool), z + e, "(z+e)", "z and the word's embedding e")
    context = looked[-1].values
    grown = context * np.sqrt(len(z))
    out = Affine(array(layer.output.kernels()[..., 0]), array(layer.output.bias))(grown)
    end = [
        Term("√m c", f"c times √{len(z)}, the number of source tokens", grown),
        Term("W c", "W √m c + b: what the look adds to h", out),
    ]
    weights = next(term.values for term in looked if term.name == "α")
    checks: Checks = {
        "weights": (weights, maps.cross[which.layer][0, 0, at]),
        "contexts": (grown, heard[layer.output][0].given[0][0, at]),
        "projections": (out, heard[layer.output][0].gave[0, at]),
    }
    return "α = softmax(d·z); c = Σ α (z + e); W √m c", [*start, *looked, *end], checks


def in_turn(calls: list[Tensor]) -> Tensor:
    """What one call over all positions or one call a position gave: (1, T, n) or many (1, 1, n) or (1, n) → (T, n)"""
    return torch.cat([call if call.dim() == 3 else call[:, None] for call in calls], dim=1)[0]


def affine(layer: nn.Linear) -> Affine:
    return Affine(array(layer.weight), None if layer.bias is None else array(layer.bias))


def array(tensor: Tensor) -> Array:
    found: Array = tensor.detach().cpu().double().numpy()
    return found
