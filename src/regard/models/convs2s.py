"""ConvS2S (Gehring et al. 2017): convolutions with gates in place of recurrence, attention in every decoder layer.

    B sentences   N = B × beam rows   S source   T target   D width   F embedding width   V vocabulary

    e(j) = word(j) + position(j)
    h(l) = √½ · (GLU(W · [h(l−1) of k neighbours] + b) + h(l−1))     centred in the encoder, causal in the decoder
    z(j) = encoder's last layer, mapped to width F

    every decoder layer attends to the source (multi-step attention):
    d(i) = W h(i) + b + g(i)                    g(i): embedding of the token read at i
    a(i, j) = softmaxⱼ d(i)·z(j)
    c(i) = m√(1/m) · Σⱼ a(i, j) (z(j) + e(j))   m: tokens of this sentence, padding not counted
    h(i) ← √½ · (h(i) + W c(i) + b)

A step computes one position: each layer keeps its last k − 1 inputs. Decoding time is then linear in the target's
length for a given source. As in the paper, the gradient into z is divided by the number of attentions, the embeddings
start as N(0, 0.1) and the maps as N(0, √(p/n)), with 4p before a gate, where p is the share that dropout keeps.

Unlike the paper: all layers are of one width (its largest models grow wider towards the top), weight normalization is
off in the small presets, and the output layer never has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.batch import Batch
from regard.config import key
from regard.layers.convolution import Convolution, Past
from regard.layers.positions import learned
from regard.layers.scores import weighted_mean
from regard.models import outline as draw
from regard.models.attention_parts import AttentionParts, ConvolutionPart
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_kernel, check_shares, check_sizes, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence, repeat_rows


@dataclass(frozen=True)
class ConvS2SConfig:
    width: int = key(256, "numbers per token between the convolutions")
    embedding: int = key(256, "numbers per token in embeddings, attention and before the output layer")
    kernel: int = key(3, "positions a convolution reads, its own included; odd")
    encoder_layers: int = key(5, "encoder layers")
    decoder_layers: int = key(5, "decoder layers, each with its own attention")
    dropout: float = key(0.1, "share of embeddings and of convolution inputs set to zero in training")
    tie: Tie = key("auto", TIE_HELP)
    max_positions: int = key(1024, "learned positions, the most tokens of a sentence")
    weight_norm: bool = key(False, "learn length and direction of the weights apart, as the paper does")

    def __post_init__(self) -> None:
        check_sizes(self, "width", "embedding", "kernel", "encoder_layers", "decoder_layers", "max_positions")
        check_kernel(self.kernel)
        check_shares(self, "dropout")


PRESETS = read_presets(ConvS2SConfig, "convs2s")

HALF = math.sqrt(0.5)  # keeps the variance of the sum of two values of equal variance


def scale_gradient(x: Tensor, share: float) -> Tensor:
    """Returns x, with its gradient multiplied by `share`."""
    still = x.detach()
    return still + share * (x - still)


class ConvS2SBlock(nn.Module):
    """h = √½ · (GLU(convolution) + x), the convolution's input under dropout."""

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)
        self.convolution = Convolution(
            config.width,
            2 * config.width,
            config.kernel,
            variance=4 * (1 - config.dropout),  # a gate reduces the variance to about a quarter
            normalized=config.weight_norm,
        )

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Centred: (B, S, D) → (B, S, D)"""
        return (F.glu(self.convolution(self.dropout(x), mask)) + x) * HALF

    def after(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Causal: (N, T, D) → (N, T, D)"""
        seen, present = self.convolution.after(self.dropout(x), past)
        return (F.glu(seen) + x) * HALF, present


class ConvS2SSource(NamedTuple):
    """The keys and values that every decoder layer attends to."""

    keys: Tensor  # (B, S, F) z
    values: Tensor  # (B, S, F) z + e
    mask: Tensor  # (B, S)


class ConvS2SDecoderLayer(nn.Module):
    """A causal block, then attention to the source."""

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__()
        self.block = ConvS2SBlock(config)
        self.query = Convolution(config.width, config.embedding, normalized=config.weight_norm)
        self.output = Convolution(config.embedding, config.width, normalized=config.weight_norm)

    def forward(
        self,
        x: Tensor,  # (N, T, D): all target positions, or one when there is a past
        embedded: Tensor,  # (N, T, F)
        past: Past,
        source: ConvS2SSource,
        record: list[Tensor] | None,
    ) -> tuple[Tensor, Past]:
        h, present = self.block.after(x, past)
        query = self.query(h) + embedded
        query = query.view(len(source.mask), -1, query.shape[-1])  # (B, b·T, F): the rows of a sentence side by side
        context, weights = weighted_mean(query @ source.keys.transpose(1, 2), source.mask, source.values)
        if record is not None:
            record.append(weights.view(len(h), 1, h.shape[1], -1))  # (N, H = 1, T, S)
        root = source.mask.sum(dim=1).sqrt()[:, None, None].to(context.dtype)  # m√(1/m) = √m
        return (h + self.output((context * root).view_as(embedded))) * HALF, present


@dataclass(frozen=True)
class ConvS2SMemory(Memory):
    """Encoder output; `states` are z (B, S, F)."""

    embedded: Tensor  # (B, S, F) e


@dataclass(frozen=True)
class ConvS2SState(BatchState):
    """The last inputs of every convolution for N rows, and the sources of B sentences."""

    trace: bool
    length: Tensor = per_sentence()  # (B,) tokens read so far
    past: tuple[Past, ...] = per_row()  # per layer (N, k − 1, D)
    source: ConvS2SSource = per_sentence(grows=1)


class ConvS2S(Model):
    last_layer_aligns = True  # as measured: docs/log.md

    def __init__(self, config: ConvS2SConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        kept = 1 - config.dropout
        self.source_embedding = nn.Embedding(source_size, config.embedding)
        self.target_embedding = nn.Embedding(target_size, config.embedding)
        self.max_positions = config.max_positions
        self.source_positions = nn.Embedding(config.max_positions, config.embedding)
        self.target_positions = nn.Embedding(config.max_positions, config.embedding)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder_input = Convolution(config.embedding, config.width, 1, 1, kept, config.weight_norm)
        self.encoder = nn.ModuleList(ConvS2SBlock(config) for _ in range(config.encoder_layers))
        self.encoder_output = Convolution(config.width, config.embedding, normalized=config.weight_norm)
        self.decoder_input = Convolution(config.embedding, config.width, 1, 1, kept, config.weight_norm)
        self.decoder = nn.ModuleList(ConvS2SDecoderLayer(config) for _ in range(config.decoder_layers))
        self.decoder_output = Convolution(config.width, config.embedding, normalized=config.weight_norm)
        self.output = nn.Linear(config.embedding, target_size)
        self._initialize()
        tie_embeddings(self, config.tie, joint)

    def _initialize(self) -> None:
        """Initializes everything but the convolutions, which initialize themselves."""
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=0.1)
        nn.init.normal_(self.output.weight, std=((1 - self.config.dropout) / self.config.embedding) ** 0.5)
        nn.init.zeros_(self.output.bias)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        states, _ = self._decode(batch.tgt_in, self.start(self.encode(batch.src, batch.src_mask)))
        logits: Tensor = self.output(states)  # (B, T, V)
        return logits

    def encode(self, src: Tensor, mask: Tensor) -> ConvS2SMemory:
        embedded = self._embed(src, self.source_embedding, self.source_positions)
        x = self.encoder_input(embedded)
        for block in self.encoder:
            x = block(x, mask)
        states = scale_gradient(self.encoder_output(x), 1 / self.config.decoder_layers)
        return ConvS2SMemory(states, mask, embedded)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> ConvS2SState:
        assert isinstance(memory, ConvS2SMemory)
        source = ConvS2SSource(memory.states, memory.states + memory.embedded, memory.mask)
        length = torch.zeros(len(memory.mask), dtype=torch.long, device=memory.mask.device)
        layers = cast(list[ConvS2SDecoderLayer], list(self.decoder))
        past = tuple(layer.block.convolution.no_past(len(length) * beams) for layer in layers)
        return ConvS2SState(beams, trace, length, past, source)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, ConvS2SState)
        record: list[Tensor] | None = [] if state.trace else None
        states, past = self._decode(token[:, None], state, record)  # T = 1
        logits = self.output(states[:, 0])  # (N, V)
        attention = torch.stack([w[:, :, 0] for w in record], dim=1) if record is not None else None  # (N, L, 1, S)
        return Step(logits, replace(state, length=state.length + 1, past=past), attention)

    def attention(self, batch: Batch) -> AttentionMaps:
        maps = AttentionMaps([], [], [])
        self._decode(batch.tgt_in, self.start(self.encode(batch.src, batch.src_mask)), maps.cross)
        return maps

    def attention_parts(self) -> AttentionParts:
        layers = cast(list[ConvS2SDecoderLayer], list(self.decoder))
        return {("cross", i): ConvolutionPart(layer, layer.query, layer.output) for i, layer in enumerate(layers)}

    def flops(self, source: int, target: int) -> float:
        config = self.config
        between = config.width * config.embedding  # a map from one width to the other, either way
        block = config.kernel * config.width * 2 * config.width
        encoder = source * (2 * between + config.encoder_layers * block)
        layer = block + 2 * between + 2 * source * config.embedding  # query and output; scores and mean
        decoder = target * (2 * between + config.decoder_layers * layer + config.embedding * self.target_size)
        return 2.0 * (encoder + decoder)

    def outline(self, source: int, target: int) -> draw.Outline:
        width, embedding = self.config.width, self.config.embedding

        def add(tokens: int) -> draw.Block:
            return draw.added(tokens, width, "√½ (x + f(x))", "Add, × √½")

        def block(module: ConvS2SBlock, tokens: int, causal: bool) -> draw.OutlineSublayer:
            seen = draw.convolution(module.convolution, tokens, "W · [k neighbours] + b", causal)
            gate = draw.Block("feed_forward", "Gate (GLU)", "GLU([a, b]) = a ⊙ σ(b)", (tokens, width))
            return draw.OutlineSublayer((seen, gate, add(tokens)), True)

        def layer(module: ConvS2SDecoderLayer) -> draw.OutlineLayer:
            pairs = 2.0 * target * source * embedding
            query = draw.linear(module.query, target, "Query d", "W h + b + g, g the embedding of the token read")
            parts = [
                replace(query, detail="W h + g"),
                draw.Block("attention", "Scores", "d·z", (target, source), (), pairs),
                draw.Block("softmax", "Softmax", "each row sums to 1", (target, source)),
                draw.Block("attention", "Mean of z + e", "√m Σ α (z + e)", (target, embedding), (), pairs),
                draw.linear(module.output, target, "W c", "back to the width of the layer"),
            ]
            what = "α = softmax(d·z); √m Σ α (z + e)"
            attend = draw.attention("Attention", what, (target, width), parts, 1, "z and z + e")
            own = draw.OutlineSublayer((replace(attend, detail="query: W h + g"), add(target)), True)
            return draw.OutlineLayer(((block(module.block, target, True), own),))

        def begin(words: nn.Embedding, places: nn.Embedding, enter: Convolution, n: int, sum_: str) -> list[draw.Block]:
            widen = draw.linear(enter, n, "Widen", "from embedding to layer width")
            return [
                draw.embedding(words, n),
                replace(draw.positions_table(places, n), detail=f"the sum: {sum_}"),
                widen,
            ]

        return draw.two_sides(
            [
                *begin(self.source_embedding, self.source_positions, self.encoder_input, source, "e"),
                *(draw.OutlineLayer(((block(cast(ConvS2SBlock, one), source, False),),)) for one in self.encoder),
                draw.linear(self.encoder_output, source, "Keys z", "from layer to embedding width"),
            ],
            [
                *begin(self.target_embedding, self.target_positions, self.decoder_input, target, "g"),
                *(layer(cast(ConvS2SDecoderLayer, one)) for one in self.decoder),
                draw.linear(self.decoder_output, target, "Readout", "from layer to embedding width"),
                *draw.output(self.output, target),
            ],
            "keys z, values z + e, of each token",
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(
        self, tokens: Tensor, state: ConvS2SState, record: list[Tensor] | None = None
    ) -> tuple[Tensor, tuple[Past, ...]]:
        """Tokens (N, T) after those of the state → (N, T, F) before the output layer, and the convolutions' pasts."""
        step = tokens.shape[1] == 1  # several tokens begin a sentence
        place = repeat_rows(state.length[:, None], state.beams) if step else None  # (N, 1)
        embedded = self._embed(tokens, self.target_embedding, self.target_positions, place)
        x = self.decoder_input(embedded)
        present: list[Past] = []
        for layer, past in zip(self.decoder, state.past, strict=True):
            x, kept = layer(x, embedded, past, state.source, record)
            present.append(kept)
        return self.dropout(self.decoder_output(x)), tuple(present)

    def _embed(self, tokens: Tensor, words: nn.Embedding, places: nn.Embedding, index: Tensor | None = None) -> Tensor:
        """tokens (N, T) at the positions `index` (N, T), by default from 0 on → (N, T, F)"""
        index = torch.arange(tokens.shape[1], device=tokens.device) if index is None else index
        x = words(tokens) + learned(index, places)  # (N, T, F)
        embedded: Tensor = self.dropout(x)
        return embedded
