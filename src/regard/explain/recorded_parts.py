"""Records what each part of a model computes for one sentence pair.

    S source tokens, EOS last   T decoder positions   D width   H heads   K head size   V vocabulary

The model runs as it is, with hooks on the modules that it declares: `Model.layer_parts` for residual layers,
`Model.attention_parts` for attention. Of a model without residual layers the states within encoder and decoder are not
recorded; `Anatomy.missing` says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from regard.batch import Batch, flat_batch
from regard.explain.anatomy import Anatomy, ModelPart, Side
from regard.explain.hooks import ModuleCall, embedding_tables, recorded
from regard.explain.mechanisms import array, by_position
from regard.explain.terms import Array
from regard.layers.feedforward import FeedForward
from regard.models.attention_parts import AttentionKind, ConvolutionPart, MultiHeadPart, ScorePart
from regard.models.base import AttentionMaps, Model
from regard.models.layer_parts import LayerParts, SideParts, Sublayer

Calls = dict[nn.Module, list[ModuleCall]]
ADDED = {"sinusoidal": "sin and cos of pos / 10000^(2i/D)", "learned": "a learned vector for each position"}
ACTIVATIONS = {"relu": "max(0, W₁x + b₁)", "swiglu": "silu(W₃x + b₃) ⊙ (W₁x + b₁)"}


@torch.inference_mode()
def record_parts(model: Model, source: Sequence[int], target: Sequence[int]) -> Anatomy:
    """Records every part for a pair of ids, given without BOS and EOS."""
    batch = flat_batch([source], [target]).pad().to(model.device)
    stack = model.layer_parts()
    if stack is None:
        return _common_parts(model, batch)
    return _stack_parts(model, stack, batch)


# ── residual layers ─────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Run:
    """What was recorded of one pass."""

    calls: Calls
    maps: AttentionMaps
    rotary: bool

    def output(self, module: nn.Module) -> Array:
        return array(self.calls[module][0].output[0])

    def given(self, module: nn.Module) -> Array:
        return array(self.calls[module][0].inputs[0][0])


def _stack_parts(model: Model, stack: LayerParts, batch: Batch) -> Anatomy:
    sides: tuple[tuple[Side, str, SideParts], ...] = (
        ("source", "encoder", stack.encoder),
        ("target", "decoder", stack.decoder),
    )
    with recorded(*_modules(stack)) as calls:
        logits = model(batch)
    run = _Run(calls, model.attention(batch), stack.positions == "rotary")
    parts: list[ModelPart] = []
    closed = False
    for side, name, some in sides:
        parts += _input_parts(run, stack, side, some)
        for number, layer in enumerate(some.layers):
            parts.append(_layer(run, side, f"{name}.{number + 1}", number, layer))
            closed |= any(not isinstance(sublayer.part, MultiHeadPart | FeedForward) for sublayer in layer)
        if some.norm is not None:
            parts.append(_norm(f"{name}.norm", side, some.norm, run.output(some.norm)))
    parts.append(_output_part(stack.output))
    missing = "The inside of its mixtures of experts is not shown." if closed else ""
    if run.rotary:
        missing = f"Its positions are not added to the embeddings: they turn queries and keys. {missing}".strip()
    return Anatomy(tuple(parts), array(logits[0]), missing)


def _modules(stack: LayerParts) -> Iterable[nn.Module]:
    for side in (stack.encoder, stack.decoder):
        yield side.embedding
        if side.norm is not None:
            yield side.norm
        for sublayer in (sublayer for layer in side.layers for sublayer in layer):
            yield from (sublayer.residual, sublayer.residual.norm)
            match sublayer.part:
                case MultiHeadPart(attention=attention):
                    yield from (attention, attention.output)
                case FeedForward() as network:
                    yield from (network, network.contract)
                case other:
                    yield other


def _input_parts(run: _Run, stack: LayerParts, side: Side, some: SideParts) -> list[ModelPart]:
    row = run.output(some.embedding)  # (S or T, D)
    given = run.given(some.layers[0][0].residual)
    scaled = f"the token's row of the embedding matrix, times √{row.shape[1]}"
    parts = [
        ModelPart(
            f"{side}.embedding", "embedding", "Embedding", scaled, side, row * stack.scale, None, _count(some.embedding)
        )
    ]
    if stack.positions != "rotary":
        added = given - row * stack.scale
        parts += [
            ModelPart(f"{side}.positions", "positions", "Positions", ADDED[stack.positions], side, added),
            ModelPart(f"{side}.input", "input", "Embedding + position", "what the first layer reads", side, given),
        ]
    return parts


def _layer(run: _Run, side: Side, name: str, number: int, layer: Sequence[Sublayer]) -> ModelPart:
    parts = [part for sublayer in layer for part in _sublayer(run, side, name, number, sublayer)]
    last = parts[-1]
    title = f"{'Encoder' if side == 'source' else 'Decoder'} layer {number + 1}"
    total = sum(part.parameters for part in parts)
    return ModelPart(name, "layer", title, "", side, last.values, None, total, tuple(parts))


def _sublayer(run: _Run, side: Side, layer: str, number: int, sublayer: Sublayer) -> list[ModelPart]:
    """The sublayer, its residual sum and its norm, in the order of the computation."""
    name, residual = f"{layer}.{sublayer.kind}", sublayer.residual
    after = run.output(residual)
    match sublayer.part:
        case MultiHeadPart() as part:
            made = _attention(run, side, name, number, part)
        case FeedForward() as network:
            made = _feed_forward(run, side, name, network)
        case other:
            module = other
            what = "a router sends each token to a few experts, and adds up what they return"
            made = ModelPart(
                name, "experts", "Mixture of experts", what, side, run.output(module), None, _count(module)
            )
    if residual.post:
        added = run.given(residual.norm)
        return [
            made,
            ModelPart(f"{name}.sum", "sum", "Residual sum", "x + f(x)", side, added),
            _norm(f"{name}.norm", side, residual.norm, after),
        ]
    return [
        _norm(f"{name}.norm", side, residual.norm, run.output(residual.norm)),
        made,
        ModelPart(f"{name}.sum", "sum", "Residual sum", "x + f(LayerNorm(x))", side, after),
    ]


def _norm(name: str, side: Side, norm: nn.Module, values: Array) -> ModelPart:
    what = "(x − mean) / √(variance + ε) · g + b, over the numbers of a token"
    return ModelPart(name, "norm", "LayerNorm", what, side, values, None, _count(norm))


def _feed_forward(run: _Run, side: Side, name: str, network: FeedForward) -> ModelPart:
    inside = ACTIVATIONS.get(network.activation, f"{network.activation}(W₁x + b₁)")
    hidden = ModelPart(f"{name}.hidden", "hidden", "Hidden units", inside, side, run.given(network.contract))
    values = run.output(network)
    out = ModelPart(f"{name}.output", "output", "Output", "W₂ hidden + b₂", side, values)
    what = f"W₂ {inside} + b₂, the same network for every token"
    return ModelPart(name, "feed_forward", "Feed-forward", what, side, values, None, _count(network), (hidden, out))


def _attention(run: _Run, side: Side, name: str, number: int, part: MultiHeadPart) -> ModelPart:
    attention = part.attention
    keys: Side = "source" if part.memory is not None else side
    kind: AttentionKind = "cross" if part.memory is not None else "encoder" if side == "source" else "decoder"
    queries, seen = run.calls[attention][0].inputs[:2]  # (1, H, T, K), (1, H, S, K)
    joined = run.given(attention.output)  # (T, D)
    contexts = joined.reshape(len(joined), attention.heads, -1)  # (T, H, K)
    weights: Tensor = getattr(run.maps, kind)[number][0]
    each = _count(attention.query) // attention.heads * 3 + attention.output.weight.numel() // attention.heads
    turned = ", turned by its position" if run.rotary and kind != "cross" else ""
    heads = [
        _head(f"{name}.{head + 1}", side, keys, array(queries[0, head]), array(seen.key[0, head]),
              array(seen.value[0, head]), array(weights[head]), contexts[:, head], part.causal, turned, each)
        for head in range(attention.heads)
    ]  # fmt: skip
    title = {"encoder": "Self-attention", "decoder": "Masked self-attention", "cross": "Cross-attention"}[kind]
    out = ModelPart(f"{name}.output", "output", "Output", "W_O [c₁ … c_h] + b", side, run.output(attention))
    what = "softmax(QKᵀ / √d) V in each head, joined and multiplied by W_O"
    return ModelPart(name, "attention", title, what, side, out.values, None, _count(attention), (*heads, out))


def _head(
    name: str, side: Side, keys: Side, q: Array, k: Array, v: Array, weights: Array, context: Array,
    causal: bool, turned: str, parameters: int,
) -> ModelPart:  # fmt: skip
    scores = q @ k.T / math.sqrt(q.shape[1])  # (T, S)
    if causal:
        scores = np.where(np.tri(*scores.shape) > 0, scores, -np.inf)
    parts = (
        ModelPart(f"{name}.query", "query", "Queries", f"q = W_Q x + b{turned}", side, q),
        ModelPart(f"{name}.key", "key", "Keys", f"k = W_K m + b{turned}", keys, k),
        ModelPart(f"{name}.value", "value", "Values", "v = W_V m + b", keys, v),
        ModelPart(f"{name}.scores", "scores", "Scores", f"q·k / √{q.shape[1]}", side, scores, keys),
        ModelPart(f"{name}.weights", "weights", "Weights", "softmax of each row of scores", side, weights, keys),
        ModelPart(f"{name}.context", "context", "Output of the head", "c = Σ α v", side, context),
    )
    head = name.rpartition(".")[2]
    return ModelPart(name, "head", f"Head {head}", "softmax(QKᵀ / √d) V", side, weights, keys, parameters, parts)


# ── every other model ───────────────────────────────────────────────────────────────────────────────────────────────


def _common_parts(model: Model, batch: Batch) -> Anatomy:
    declared = model.attention_parts()
    modules = [part.scores for part in declared.values() if isinstance(part, ScorePart)]
    readers = [part.reader for part in declared.values() if isinstance(part, ScorePart)]
    output = getattr(model, "output", None)
    last = [output] if isinstance(output, nn.Linear) else []
    with recorded(*modules, *readers, *last) as calls:
        logits = model(batch)
    maps = model.attention(batch)
    memory = array(model.encode(batch.src, batch.src_mask).states[0])[: batch.src.shape[1]]  # (S, D)
    parts = [
        *_tables(model, "source", batch.src),
        ModelPart("encoder", "states", "Encoder", "h: the state of each token after its last layer", "source", memory,
                  None, _named_count(model, "encoder")),
        *_tables(model, "target", batch.tgt_in),
    ]  # fmt: skip
    for (kind, layer), part in declared.items():
        weights = array(getattr(maps, kind)[layer][0])  # (H, T, S)
        parts.append(_other_attention(f"{kind}.{layer + 1}", part, calls, weights, memory))
    if last:
        states = array(by_position([call.inputs[0] for call in calls[last[0]]]))[: batch.tgt_in.shape[1]]
        what = "what the output layer reads at each step"
        count = _named_count(model, "decoder")
        parts.append(ModelPart("decoder", "states", "Decoder", what, "target", states, None, count))
    parts.append(_output_part(output))
    missing = "Of encoder and decoder only the states after the last layer are shown."
    if not declared:
        missing += " It has no attention." if not model.has_attention else " Nor is its attention."
    return Anatomy(tuple(parts), array(logits[0]), missing)


def _other_attention(name: str, part: object, calls: Calls, weights: Array, memory: Array) -> ModelPart:
    rows: Side = "target"
    shown = ModelPart(
        f"{name}.1.weights", "weights", "Weights", "softmax of each row of scores", rows, weights[0], "source"
    )
    inside: tuple[ModelPart, ...] = (shown,)
    count = 0
    if isinstance(part, ScorePart):
        state = array(by_position([call.inputs[0] for call in calls[part.scores]]))  # (T, Q)
        scores = array(by_position([call.output for call in calls[part.scores]]))  # (T, S)
        kind = {"additive": "vᵀ tanh(W₁h + W₂s)", "general": "sᵀWh", "dot": "sᵀh", "scaled": "sᵀh / √d"}
        inside = (
            ModelPart(f"{name}.1.query", "query", "Decoder states", "s: the query of each step", rows, state),
            ModelPart(f"{name}.1.key", "key", "Encoder states", "h: both keys and values", "source", memory),
            ModelPart(f"{name}.1.scores", "scores", "Scores", kind[part.scores.kind], rows, scores, "source"),
            shown,
            ModelPart(f"{name}.1.context", "context", "Context", "c = Σ α h", rows, weights[0] @ memory),
        )
        count = _count(part.scores)
        if isinstance(part.reader, nn.Linear):
            read = array(by_position([call.output for call in calls[part.reader]]))
            what = "W[c; s], of which tanh is taken" if part.context_first else "W[s; c] + b"
            inside += (ModelPart(f"{name}.1.readout", "output", "Readout", what, rows, read),)
            count += _count(part.reader)
    elif isinstance(part, ConvolutionPart):
        count = _count(part.query) + _count(part.output)
    head = ModelPart(
        f"{name}.1", "head", "The one head", "softmax of the scores", rows, weights[0], "source", count, inside
    )
    what = "the weight of each source token at each step"
    return ModelPart(name, "attention", "Attention to the source", what, rows, None, None, count, (head,))


def _tables(model: Model, side: Side, tokens: Tensor) -> list[ModelPart]:
    tables = embedding_tables(model, side)[:1]
    what = "the token's row of the embedding matrix"
    return [
        ModelPart(
            f"{side}.embedding", "embedding", "Embedding", what, side, array(table(tokens)[0]), None, _count(table)
        )
        for table in tables
    ]


def _output_part(output: object) -> ModelPart:
    count = _count(output) if isinstance(output, nn.Module) else 0
    what = "softmax of a product with the row of each token of the vocabulary"
    return ModelPart("output", "softmax", "Next token", what, "target", None, None, count)


def _named_count(model: Model, name: str) -> int:
    module = getattr(model, name, None)
    return _count(module) if isinstance(module, nn.Module) else 0


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
