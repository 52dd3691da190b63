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
from itertools import groupby
from operator import attrgetter
from typing import Literal

from torch import Tensor, nn

from regard.layers.attention import MultiHeadAttention
from regard.layers.convolution import Convolution, margins
from regard.layers.feedforward import FeedForward
from regard.layers.moe import MixtureOfExperts
from regard.layers.scores import Scores

BlockKind = Literal[
    "embedding", "recurrent", "attention", "feed_forward", "mixture", "convolution", "linear", "norm", "add", "softmax"
]
CELLS = {"LSTM": "LSTM", "GRU": "GRU", "RNN_TANH": "tanh cell"}  # by torch's modes
NONLINEAR = {"relu": "max(0, xW₁ + b₁)", "gelu": "gelu(xW₁ + b₁)", "silu": "silu(xW₁ + b₁)"}


@dataclass
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
    way: str = "→"  # in which a recurrent layer reads: →, ← or ⇄
    inputs: tuple[str, ...] = ()  # what it reads side by side; c is the context of an attention
    detail: str = ""  # lines below its name: heads, units inside, experts
    parameters: int = 0  # set by `Outline.counted`: those that no block before it has
    shared: bool = False  # set by `Outline.counted`: whether a block before it has some of its parameters

    @property
    def signature(self) -> tuple[object, ...]:
        """What is equal for two layers that a diagram draws as one: all but the reach of a convolution."""
        sizes = tuple(tuple(tensor.shape) for tensor in self.tensors)
        inner = tuple(part.signature for part in self.parts)
        return self.kind, self.name, self.what, self.shape, sizes, self.flops, self.reads, self.inputs, inner

    def count(self, seen: set[int]) -> None:
        """Counts the parameters that were not seen before; they are now."""
        for part in self.parts:
            part.count(seen)
        own = {id(tensor): tensor.numel() for tensor in self.tensors if id(tensor) not in seen}
        seen.update(own)
        self.parameters = sum(own.values()) + sum(part.parameters for part in self.parts)
        self.shared = len(own) < len(self.tensors) or any(part.shared for part in self.parts)


@dataclass(frozen=True)
class OutlineSublayer:
    """Blocks one after the other; if residual, the input of the first is added in the last, of kind add or norm. With
    `asked_by_last` the input enters the second block, and the query of the first is the last block's output of the step
    before."""

    blocks: tuple[Block, ...]
    residual: bool = False
    asked_by_last: bool = False


@dataclass(frozen=True)
class OutlineLayer:
    """A layer, or `count` equal ones. Columns of sublayers stand side by side; nearly all layers have one."""

    columns: tuple[tuple[OutlineSublayer, ...], ...]
    count: int = 1

    @property
    def sublayers(self) -> list[OutlineSublayer]:
        return [sub for column in self.columns for sub in column]

    @property
    def blocks(self) -> list[Block]:
        return [block for sub in self.sublayers for block in sub.blocks]

    @property
    def signature(self) -> tuple[object, ...]:
        return tuple((sub.residual, *(block.signature for block in sub.blocks)) for sub in self.sublayers)


@dataclass(frozen=True)
class OutlineSide:
    """The encoder or the decoder, from its input to its output."""

    name: str
    layers: tuple[OutlineLayer, ...]
    input: str  # what enters at the bottom
    output: str  # what leaves at the top
    backwards: bool = False  # from the last word to the first

    def in_order(self, words: Sequence[str]) -> list[str]:
        """Words as this side reads them; the last, EOS, stays the last."""
        return [*words[-2::-1], words[-1]] if self.backwards else [*words]

    def folded(self) -> OutlineSide:
        """The same with equal layers that follow each other as one."""
        groups = [[*group] for _, group in groupby(self.layers, key=attrgetter("signature"))]
        layers = [replace(group[0], count=sum(layer.count for layer in group)) for group in groups]
        return replace(self, layers=tuple(layers))


@dataclass(frozen=True)
class Outline:
    """A model, or the members of an ensemble."""

    sides: tuple[OutlineSide, ...]
    memory: str = ""  # what goes from the encoder to the decoder
    bridge: Block | None = None  # makes the decoder's first state from the encoder's last
    members: tuple[Outline, ...] = ()  # of an ensemble; then there are no sides of its own
    weights: tuple[float, ...] = ()  # of the members

    def counted(self) -> Outline:
        """The same after counting the parameters of each block, of which a shared one counts where it is first used."""
        seen = set[int]()
        for _, _, block in self.walk():
            block.count(seen)
        return self

    def folded(self) -> Outline:
        """The same with equal layers that follow each other as one."""
        sides = tuple(side.folded() for side in self.sides)
        return replace(self, sides=sides, members=tuple(member.folded() for member in self.members))

    def walk(self) -> Iterator[tuple[OutlineSide, int, Block]]:
        """Every block with its side, and how often it occurs."""
        for member in self.members:
            yield from member.walk()
        for side in self.sides:
            for layer in side.layers:
                for block in layer.blocks:
                    yield side, layer.count, block
        if self.bridge is not None:
            yield self.sides[-1], 1, self.bridge

    @property
    def parameters(self) -> int:
        return sum(block.parameters * count for _, count, block in self.walk())

    @property
    def flops(self) -> float:
        return sum(block.flops * count for _, count, block in self.walk())


def layer(*blocks: Block, residual: bool = False) -> OutlineLayer:
    """A layer of one sublayer."""
    return OutlineLayer(((OutlineSublayer(blocks, residual),),))


def two_sides(
    encoder: Sequence[OutlineLayer | Block],
    decoder: Sequence[OutlineLayer | Block],
    memory: str,
    bridge: Block | None = None,
    backwards: bool = False,
) -> Outline:
    """The outline of an encoder and a decoder; a block alone is a layer."""
    below, above = (tuple(layer(one) if isinstance(one, Block) else one for one in some) for some in (encoder, decoder))
    sides = (
        OutlineSide("Encoder", below, "source tokens" + ", backwards" * backwards, memory, backwards),
        OutlineSide("Decoder", above, "target tokens so far", "P(next token)"),
    )
    return Outline(sides, memory, bridge)


def module_outline(model: nn.Module) -> Outline:
    """The modules of a model in the order of their declaration, for an architecture without an outline of its own."""
    held = [(name, type(child).__name__, tensors_of(child)) for name, child in model.named_children()]
    loose = ("other parameters", "", tuple(model.parameters(recurse=False)))
    layers = tuple(layer(Block("linear", name, what, (), own)) for name, what, own in (*held, loose) if own)
    return Outline((OutlineSide(type(model).__name__, layers, "tokens", "P(next token)"),))


# ── blocks from modules ─────────────────────────────────────────────────────────────────────────────────────────────


def tensors_of(module: nn.Module) -> tuple[Tensor, ...]:
    return tuple(module.parameters())


def products(tokens: int, tensors: Sequence[Tensor]) -> float:
    """Operations of matrices that are applied to so many tokens; a multiply-add counts as two."""
    return 2.0 * tokens * sum(tensor.numel() for tensor in tensors if tensor.dim() > 1)


def embedding(
    table: nn.Embedding, tokens: int, what: str = "a row of the table for each token", name: str = "Embedding"
) -> Block:
    return Block("embedding", name, what, (tokens, table.embedding_dim), tensors_of(table))


def positions_table(table: nn.Embedding, tokens: int) -> Block:
    return embedding(table, tokens, "+ a row of the table for each position", "Positions")


def added(tokens: int, width: int, what: str = "x + f(x)", name: str = "Add") -> Block:
    return Block("add", name, what, (tokens, width))


def norm(module: nn.LayerNorm, tokens: int, what: str = "LayerNorm(x)", name: str = "Norm") -> Block:
    return Block("norm", name, what, (tokens, int(module.normalized_shape[0])), tensors_of(module))


def linear(module: nn.Linear | Convolution, tokens: int, name: str, what: str) -> Block:
    own = tensors_of(module)
    return Block("linear", name, what, (tokens, module.weight.shape[0]), own, products(tokens, own))


def output(module: nn.Linear, tokens: int) -> list[Block]:
    """The output layer, and the softmax over the vocabulary."""
    scores = linear(module, tokens, "Output layer", "a score for each of the vocabulary's entries")
    return [scores, Block("softmax", "Softmax", "P(next token): exp(score), divided by the sum", scores.shape)]


def convolution(module: Convolution, tokens: int, what: str, causal: bool) -> Block:
    before, after = margins(module.kernel, module.dilation, causal)
    offsets, detail = tuple(range(-before, after + 1, module.dilation)), f"kernel {module.kernel}"
    return replace(linear(module, tokens, "Convolution", what), kind="convolution", offsets=offsets, detail=detail)


def recurrent(stack: nn.RNNBase, tokens: int, what: str = "", reads: str = "") -> list[Block]:
    """A block for each layer of a stack of cells, whose states may be projected."""
    both, ways = stack.bidirectional, 2 if stack.bidirectional else 1
    name, way = (CELLS[stack.mode] + " ⇄", "⇄") if both else (CELLS[stack.mode], "→")
    what = what or ("h→(t) and h←(t), side by side" if both else "h(t) = f(x(t), h(t−1))")
    if stack.proj_size:
        what += f", projected from {stack.hidden_size:,} cells"
    shape = (tokens, ways * (stack.proj_size or stack.hidden_size))
    weights = stack.all_weights  # of each direction of each layer
    found = []
    for n in range(0, len(weights), ways):
        own = tuple(tensor for way in weights[n : n + ways] for tensor in way)
        found.append(Block("recurrent", name, what, shape, own, products(tokens, own), reads, way=way))
    return found


def asked_by_cell(attend: Block, cell: Block, *above: Block) -> OutlineLayer:
    """An attention whose context enters a cell, and whose query is the state of the step before: of that cell, or of
    the last one above it."""
    blocks = replace(attend, detail="query: s(t−1)"), replace(cell, inputs=("y", "c")), *above
    return OutlineLayer(((OutlineSublayer(blocks, asked_by_last=True),),))


def scores(module: Scores, queries: int, keys: int, width: int, reads: str, more: tuple[Tensor, ...] = ()) -> Block:
    """Attention with one of the scores of recurrent models: `width` numbers per key are averaged. What it reads begins
    with the letter by which equations call it: m(1) … m(S)."""
    h = reads[0]
    parts, inner, own, score = [], width, more, f"sᵀ{h} / √d" if module.kind == "scaled" else f"sᵀ{h}"
    if module.kind == "additive":
        inner, own, score = len(module.v), (module.v, *more), f"vᵀ tanh(W₁{h} + W₂s)"
        parts = [
            linear(module.of_key, keys, f"Keys W₁{h}", "of each source token, once"),
            linear(module.of_query, queries, "Query W₂s", "of the decoder's state"),
        ]
    elif module.kind == "general":
        inner, score = module.of_key.weight.shape[0], f"sᵀW{h}"
        parts = [linear(module.of_key, keys, f"Keys W{h}", "of each source token, once")]
    pairs = 2.0 * queries * keys
    parts += [
        Block("attention", "Scores", score, (queries, keys), own, pairs * inner),
        Block("softmax", "Softmax", "α: each row sums to 1", (queries, keys)),
        Block("attention", f"Mean of {h}", f"c = Σ α {h}", (queries, width), (), pairs * width),
    ]
    return attention("Attention", f"α = softmax({score}); c = Σ α {h}", (queries, width), parts, 1, reads)


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
        tensors_of(module.experts), module.flops(tokens) - router.flops,
    )  # fmt: skip
    what = f"Σ g(e) FFN(e): {choice} of {experts:,} experts for each token"
    detail, flops = f"{choice} of {experts:,} for each token", module.flops(tokens)
    return Block(
        "mixture", "Mixture of experts", what, (tokens, width), noise, flops, parts=(router, served),
        chosen=(choice, experts), detail=detail,
    )  # fmt: skip
