"""What a model consists of, in the order of the computation: the boxes of its diagram, each made from a module.

    S source tokens, EOS among them   T target positions   D width

    Outline ─▶ two sides ─▶ layers ─▶ sublayers ─▶ blocks ─▶ parts (Q, K, V; router, experts)

Every parameter of a model belongs to one block, a shared one to the first that uses it, and every operation that
`Model.flops` counts to one block (tests/models/test_outline.py). The functions below make a block from a module; a
model's `outline` puts them in order. Dropout is not a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor, nn

from regard.layers.attention import MultiHeadAttention
from regard.layers.convolution import Convolution, margins
from regard.layers.feedforward import FeedForward
from regard.layers.moe import MixtureOfExperts
from regard.layers.recurrent import Recurrent
from regard.layers.scores import Scores

BlockKind = Literal[
    "embedding", "recurrent", "attention", "feed_forward", "mixture", "convolution", "linear", "norm", "add", "softmax"
]
CELLS = {"lstm": "LSTM", "gru": "GRU", "tanh": "tanh cell"}
NONLINEAR = {"relu": "max(0, xW₁ + b₁)", "gelu": "gelu(xW₁ + b₁)", "silu": "silu(xW₁ + b₁)"}


@dataclass(frozen=True)
class Block:
    """One box."""

    kind: BlockKind
    name: str
    what: str  # its equation
    shape: tuple[int, ...]  # of what leaves it: positions, numbers per position
    tensors: tuple[Tensor, ...] = ()  # its parameters, also those that it shares
    flops: float = 0.0
    reads: str = ""  # what it receives from the encoder
    parts: tuple[Block, ...] = ()  # the steps inside it; their parameters and operations are the block's
    heads: int = 0  # of an attention
    offsets: tuple[int, ...] = ()  # of the positions that a convolution reads, from its own: −2, −1, 0
    chosen: tuple[int, int] | None = None  # of a mixture: experts that serve a token, and all of them
    both_ways: bool = False  # read in both directions
    detail: str = ""  # a line below its name: heads, units inside, experts
    parameters: int = 0  # counted by `Outline.counted`: those that no block before it has
    shared: bool = False  # whether a block before it has some of its parameters

    @property
    def signature(self) -> tuple[object, ...]:
        """What is equal for two layers that a diagram draws as one: all but the reach of a convolution."""
        sizes = tuple(tuple(tensor.shape) for tensor in self.tensors)
        inner = tuple(part.signature for part in self.parts)
        return self.kind, self.name, self.what, self.shape, sizes, self.flops, self.reads, inner


@dataclass(frozen=True)
class OutlineSublayer:
    """Blocks one after the other; if residual, the input of the first is added in the last, of kind add or norm. With
    `asked_by_last` the input enters the last block, and the first asks with that block's output of the step before."""

    blocks: tuple[Block, ...]
    residual: bool = False
    asked_by_last: bool = False


@dataclass(frozen=True)
class OutlineLayer:
    """A layer, or `count` equal ones. Columns stand side by side."""

    sublayers: tuple[OutlineSublayer, ...]
    count: int = 1
    columns: tuple[tuple[OutlineSublayer, ...], ...] = ()  # further columns
    repeats: bool = True  # whether it is one of the layers of a stack

    @property
    def blocks(self) -> list[Block]:
        """The blocks of all columns."""
        return [block for column in (self.sublayers, *self.columns) for sub in column for block in sub.blocks]

    @property
    def signature(self) -> tuple[object, ...]:
        shape = tuple((sub.residual, len(sub.blocks)) for column in (self.sublayers, *self.columns) for sub in column)
        return self.repeats, shape, tuple(block.signature for block in self.blocks)


@dataclass(frozen=True)
class OutlineSide:
    """The encoder or the decoder, from its input to its output."""

    name: str
    layers: tuple[OutlineLayer, ...]
    input: str  # what enters at the bottom
    output: str  # what leaves at the top

    @property
    def blocks(self) -> list[Block]:
        """One block of each, those of repeated layers once."""
        return [block for layer in self.layers for block in layer.blocks]


@dataclass(frozen=True)
class Outline:
    """A model, or the members of an ensemble."""

    sides: tuple[OutlineSide, ...]
    memory: str = ""  # what goes from the encoder to the decoder
    bridge: Block | None = None  # makes the decoder's first state from the encoder's last
    members: tuple[Outline, ...] = ()  # of an ensemble; then there are no sides of its own
    weights: tuple[float, ...] = ()  # of the members

    def counted(self) -> Outline:
        """The same with the parameters of each block, of which a shared one is counted at the first that uses it."""
        return _counted(self, set())

    def folded(self) -> Outline:
        """The same with equal layers that follow each other as one."""
        sides = tuple(replace(side, layers=_folded(side.layers)) for side in self.sides)
        return replace(self, sides=sides, members=tuple(member.folded() for member in self.members))

    def walk(self) -> Iterator[tuple[OutlineSide, OutlineLayer, Block]]:
        for member in self.members:
            yield from member.walk()
        for side in self.sides:
            for layer in side.layers:
                for block in layer.blocks:
                    yield side, layer, block
        if self.bridge is not None:
            yield self.sides[-1], OutlineLayer((OutlineSublayer((self.bridge,)),)), self.bridge

    @property
    def parameters(self) -> int:
        return sum(block.parameters * layer.count for _, layer, block in self.walk())

    @property
    def flops(self) -> float:
        return sum(block.flops * layer.count for _, layer, block in self.walk())


def _counted(outline: Outline, seen: set[int]) -> Outline:
    members = tuple(_counted(member, seen) for member in outline.members)

    def block_counted(block: Block) -> Block:
        if block.parts:
            parts = tuple(block_counted(part) for part in block.parts)
            own = _own(block.tensors, seen)
            total = sum(part.parameters for part in parts) + sum(tensor.numel() for tensor in own)
            return replace(block, parts=parts, parameters=total, shared=any(part.shared for part in parts))
        own = _own(block.tensors, seen)
        return replace(block, parameters=sum(t.numel() for t in own), shared=len(own) < len(block.tensors))

    def sublayers_counted(subs: Sequence[OutlineSublayer]) -> tuple[OutlineSublayer, ...]:
        return tuple(replace(sub, blocks=tuple(map(block_counted, sub.blocks))) for sub in subs)

    def layer_counted(layer: OutlineLayer) -> OutlineLayer:
        first = sublayers_counted(layer.sublayers)
        return replace(layer, sublayers=first, columns=tuple(sublayers_counted(subs) for subs in layer.columns))

    sides = tuple(replace(side, layers=tuple(map(layer_counted, side.layers))) for side in outline.sides)
    bridge = None if outline.bridge is None else block_counted(outline.bridge)
    return replace(outline, sides=sides, members=members, bridge=bridge)


def _own(tensors: Sequence[Tensor], seen: set[int]) -> list[Tensor]:
    """The tensors that were not seen before; they are now."""
    own = []
    for tensor in tensors:
        if id(tensor) not in seen:
            seen.add(id(tensor))
            own.append(tensor)
    return own


def _folded(layers: Sequence[OutlineLayer]) -> tuple[OutlineLayer, ...]:
    """Equal layers that follow each other as one."""
    found: list[OutlineLayer] = []
    for layer in layers:
        if found and layer.repeats and found[-1].signature == layer.signature:
            found[-1] = replace(found[-1], count=found[-1].count + layer.count)
        else:
            found.append(layer)
    return tuple(found)


def two_sides(
    encoder: Sequence[OutlineLayer], decoder: Sequence[OutlineLayer], memory: str, bridge: Block | None = None
) -> Outline:
    sides = (
        OutlineSide("Encoder", tuple(encoder), "source tokens", memory),
        OutlineSide("Decoder", tuple(decoder), "target tokens so far", "P(next token)"),
    )
    return Outline(sides, memory, bridge)


def module_outline(model: nn.Module, source: int, target: int) -> Outline:
    """The modules of a model in the order of their declaration, for an architecture without an outline of its own."""
    held = [(name, child) for name, child in model.named_children() if any(True for _ in child.parameters())]
    loose = tuple(model.parameters(recurse=False))
    blocks = [Block("linear", name, type(child).__name__, (), tensors_of(child)) for name, child in held]
    if loose:
        blocks.append(Block("linear", "other parameters", "", (), loose))
    side = OutlineSide(type(model).__name__, tuple(one(block) for block in blocks), "tokens", "P(next token)")
    return Outline((side,))


def last(module: nn.Linear, tokens: int) -> list[OutlineLayer]:
    return [one(block) for block in output(module, tokens)]


# ── blocks from modules ─────────────────────────────────────────────────────────────────────────────────────────────


def tensors_of(*modules: nn.Module | None) -> tuple[Tensor, ...]:
    return tuple(tensor for module in modules if module is not None for tensor in module.parameters())


def products(tokens: int, *modules: nn.Module | None) -> float:
    """Operations of the matrices of modules that are applied to so many tokens; a multiply-add counts as two."""
    return 2.0 * tokens * sum(tensor.numel() for tensor in tensors_of(*modules) if tensor.dim() > 1)


def one(*blocks: Block, residual: bool = False, repeats: bool = False) -> OutlineLayer:
    """A layer of one sublayer."""
    return OutlineLayer((OutlineSublayer(blocks, residual),), repeats=repeats)


def embedding(table: nn.Embedding, tokens: int, what: str = "a row of the table for each token") -> Block:
    return Block("embedding", "Embedding", what, (tokens, table.embedding_dim), tensors_of(table))


def positions_table(table: nn.Embedding, tokens: int) -> Block:
    shape = (tokens, table.embedding_dim)
    return Block("embedding", "Positions", "+ a row of the table for each position", shape, tensors_of(table))


def added(tokens: int, width: int, what: str = "x + f(x)", name: str = "Add") -> Block:
    return Block("add", name, what, (tokens, width))


def norm(module: nn.LayerNorm, tokens: int, what: str = "LayerNorm(x)", name: str = "Norm") -> Block:
    return Block("norm", name, what, (tokens, int(module.normalized_shape[0])), tensors_of(module))


def linear(
    module: nn.Linear | Convolution, tokens: int, name: str, what: str, reads: str = "", kind: BlockKind = "linear"
) -> Block:
    shape = (tokens, module.weight.shape[0])
    return Block(kind, name, what, shape, tensors_of(module), products(tokens, module), reads)


def output(module: nn.Linear, tokens: int) -> list[Block]:
    """The output layer, and the softmax over the vocabulary."""
    words = module.weight.shape[0]
    scores = linear(module, tokens, "Output layer", "a score for each of the vocabulary's entries")
    return [scores, Block("softmax", "Softmax", "P(next token): exp(score), divided by the sum", (tokens, words))]


def convolution(module: Convolution, tokens: int, name: str, what: str, causal: bool) -> Block:
    block = linear(module, tokens, name, what, kind="convolution")
    before, after = margins(module.kernel, module.dilation, causal)
    return replace(block, offsets=tuple(range(-before, after + 1, module.dilation)), detail=f"kernel {module.kernel}")


def recurrent(module: Recurrent, tokens: int, reads: str = "", what: str = "") -> list[Block]:
    """A block for each layer of a stack of cells."""
    stack, ways = module.stack, 2 if module.bidirectional else 1
    found = []
    for layer in range(stack.num_layers):
        own = tuple(t for name, t in stack.named_parameters() if name.split("_l")[-1].split("_")[0] == str(layer))
        flops = 2.0 * tokens * sum(tensor.numel() for tensor in own if tensor.dim() > 1)
        name = CELLS[module.cell] + (" ⇄" if module.bidirectional else "")
        both = "h→(t) and h←(t), side by side" if module.bidirectional else "h(t) = f(x(t), h(t−1))"
        shape = (tokens, ways * stack.hidden_size)
        block = Block("recurrent", name, what or both, shape, own, flops, reads, both_ways=module.bidirectional)
        found.append(block)
    return found


def asked_by_cell(attend: Block, cell: Block) -> OutlineLayer:
    """An attention whose context enters a cell, and whose query is the cell's state of the step before."""
    pair = replace(attend, detail="query: s(t−1)"), replace(cell, detail="reads [y; c]")
    return OutlineLayer((OutlineSublayer(pair, asked_by_last=True),), repeats=False)


def lstm(module: nn.LSTM, tokens: int) -> Block:
    """One layer of torch's LSTM, whose cells may be projected."""
    both, width = module.bidirectional, module.proj_size or module.hidden_size
    what = "h→(t) and h←(t), side by side" if both else "h(t) = f(x(t), h(t−1))"
    if module.proj_size:
        what += f", projected from {module.hidden_size:,} cells"
    shape = (tokens, width * (2 if both else 1))
    name = "LSTM" + (" ⇄" if both else "")
    return Block(
        "recurrent", name, what, shape, tensors_of(module), products(tokens, module), both_ways=both
    )  # fmt: skip


def scores(module: Scores, queries: int, keys: int, width: int, reads: str, more: tuple[Tensor, ...] = ()) -> Block:
    """Attention with one of the scores of recurrent models: `width` numbers per key are averaged."""
    kind, parts = module.kind, []
    if kind == "additive":
        inner = len(module.v)
        what = "α = softmax(vᵀ tanh(W₁h + W₂s)); c = Σ α h"
        parts = [
            linear(module.of_key, keys, "Keys W₁h", "of each source token, once"),
            linear(module.of_query, queries, "Query W₂s", "of the decoder's state"),
        ]
        score = "vᵀ tanh(W₁h + W₂s)"
    elif kind == "general":
        inner = module.of_key.weight.shape[0]
        what = "α = softmax(sᵀWh); c = Σ α h"
        parts = [linear(module.of_key, keys, "Keys Wh", "of each source token, once")]
        score = "sᵀWh"
    else:
        inner, score = width, "sᵀh / √d" if kind == "scaled" else "sᵀh"
        what = f"α = softmax({score}); c = Σ α h"
    pairs = 2.0 * queries * keys
    own = (module.v, *more) if kind == "additive" else more
    parts += [
        Block("attention", "Scores", score, (queries, keys), own, pairs * inner),
        Block("softmax", "Softmax", "α: each row sums to 1", (queries, keys)),
        Block("attention", "Mean of h", "c = Σ α h", (queries, width), (), pairs * width),
    ]
    return attention("Attention", what, (queries, width), parts, 1, reads)


def multi_head(
    module: MultiHeadAttention, queries: int, keys: int, name: str, reads: str = "", causal: bool = False
) -> Block:
    width, heads = module.output.in_features, module.heads
    size, pairs = width // heads, 2.0 * queries * keys * width
    parts = [
        linear(module.query, queries, "Q", "x W_Q: what a position looks for"),
        linear(module.key, keys, "K", ("m" if reads else "x") + " W_K: what a position offers"),
        linear(module.value, keys, "V", ("m" if reads else "x") + " W_V: what a position passes on"),
        Block("attention", "Q Kᵀ / √d", f"d = {size}", (heads, queries, keys), (), pairs),
        Block("softmax", "Masked softmax" if causal else "Softmax", "each row sums to 1", (heads, queries, keys)),
        Block("attention", "Weights × V", "the mean of the values", (heads, queries, size), (), pairs),
        linear(module.output, queries, "W_O", "the heads side by side, mixed"),
    ]
    what = f"{heads} heads of softmax(QKᵀ / √{size}) V, then W_O"
    found = attention(name, what, (queries, width), parts, heads, reads)
    return replace(found, detail=f"masked, {found.detail or '1 head'}") if causal else found


def attention(
    name: str, what: str, shape: tuple[int, int], parts: Sequence[Block], heads: int, reads: str = ""
) -> Block:
    flops = sum(part.flops for part in parts)
    detail = f"{heads} heads of {shape[1] // heads}" if heads > 1 else ""
    return Block("attention", name, what, shape, (), flops, reads, tuple(parts), heads, detail=detail)


def feed_forward(module: FeedForward | MixtureOfExperts, tokens: int, width: int) -> Block:
    if isinstance(module, MixtureOfExperts):
        return mixture(module, tokens, width)
    what = f"{NONLINEAR[module.activation]} W₂ + b₂" if module.gate is None else "(silu(xW₁) ⊙ xW₃) W₂"
    flops, inside = module.flops(tokens), f"{module.expand.out_features:,} units inside"
    return Block("feed_forward", "Feed-forward", what, (tokens, width), tensors_of(module), flops, detail=inside)


def mixture(module: MixtureOfExperts, tokens: int, width: int) -> Block:
    experts, choice = len(module.experts), module.choice
    router = linear(module.router, tokens, "Router", f"the {choice} of {experts:,} experts with the highest scores")
    noise = () if module.noise is None else tensors_of(module.noise)
    served = Block(
        "feed_forward", f"{experts:,} experts", f"{choice} of them for each token", (tokens, width),
        tensors_of(*module.experts), module.flops(tokens) - router.flops,
    )  # fmt: skip
    what = f"Σ g(e) FFN(e): {choice} of {experts:,} experts for each token"
    detail, flops = f"{choice} of {experts:,} for each token", module.flops(tokens)
    return Block(
        "mixture", "Mixture of experts", what, (tokens, width), noise, flops, parts=(router, served),
        chosen=(choice, experts), detail=detail,
    )  # fmt: skip
