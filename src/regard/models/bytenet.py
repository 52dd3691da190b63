"""ByteNet (Kalchbrenner et al. 2016): dilated convolutions alone, the decoder stacked on the encoder. No attention.

    B sentences   N = B × beam rows   S source   T target   C columns   D = 2d width between blocks   d width inside one
    V vocabulary

    block    x + W₃ r(W₂ ∗ r(W₁ r(x)))             r = ReLU ∘ LayerNorm; W₁ 2d → d, W₂ dilated convolution, W₃ d → 2d
    encoder  blocks, centred, over C = ⌈a·S⌉ + b positions: the sentence, then blanks up to C
    decoder  blocks, causal, over word(y(t−1)) + column(t); logits from one more map of r(their output)

The dilations of successive blocks are 1, 2, 4, 8, 16, then repeat. Target position t reads only encoder column t: the
encoder's convolutions must carry the rest of the source there. A target may be longer than the columns (dynamic
unfolding); beyond them it reads zeros. The time is linear in both lengths. A step computes one position: each block
keeps its last (k − 1)·dilation inputs.

The paper uses characters; this model uses the tokenizer's pieces. A blank is the embedding of the padding symbol, and
padding beyond C counts as zeros, so that the other sentences of a batch have no effect.

Not the paper's: the columns are normalized and added to the embeddings (the paper does not say how they are joined),
dropout is on in the small presets, and the paper's multiplicative blocks, for language models, are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.batch import PAD, Batch
from regard.config import key, require
from regard.layers.convolution import Convolution, Past
from regard.models import outline as draw
from regard.models.base import AttentionMaps, Memory, Model, State, Step
from regard.models.common import TIE_HELP, Tie, check_kernel, check_shares, check_sizes, read_presets, tie_embeddings
from regard.models.state import BatchState, per_row, per_sentence


@dataclass(frozen=True)
class ByteNetConfig:
    width: int = key(192, "numbers per token inside a block (the paper's d); between blocks there are twice as many")
    kernel: int = key(3, "positions a convolution reads, its own included; odd")
    encoder_layers: int = key(10, "encoder blocks")
    decoder_layers: int = key(10, "decoder blocks")
    dilations: int = key(5, "blocks in a set: their dilations are 1, 2, 4, …; the next set begins at 1 again")
    stretch: float = key(1.2, "encoder columns per source token (the paper's a); whole hundredths")
    extra: int = key(0, "encoder columns beyond those (the paper's b)")
    dropout: float = key(0.1, "share of embeddings and block outputs set to zero in training")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "kernel", "encoder_layers", "decoder_layers", "dilations")
        check_kernel(self.kernel)
        require(self.dilations <= 16, f"model.dilations must be at most 16, but is {self.dilations}")
        require(1 <= self.stretch <= 10, f"model.stretch must be between 1 and 10, but is {self.stretch}")
        require(
            abs(self.stretch * 100 - round(self.stretch * 100)) < 1e-6,
            f"model.stretch must have at most two decimals, but is {self.stretch}; try {self.stretch:.2f}",
        )
        require(0 <= self.extra <= 1000, f"model.extra must be at least 0 and at most 1000, but is {self.extra}")
        check_shares(self, "dropout")

    def dilation(self, layer: int) -> int:
        """
        >>> [ByteNetConfig().dilation(layer) for layer in range(7)]
        [1, 2, 4, 8, 16, 1, 2]
        """
        return int(2 ** (layer % self.dilations))


PRESETS = read_presets(ByteNetConfig, "bytenet")

Length = TypeVar("Length", int, Tensor)  # one length, or those of a batch


def columns(length: Length, stretch: float, extra: int) -> Length:
    """Returns ⌈a·S⌉ + b in integer arithmetic, so that it is the same on every device.

    >>> columns(5, 1.2, 0), columns(6, 1.2, 0), columns(6, 1.0, 3)
    (6, 8, 9)
    """
    return (length * round(stretch * 100) + 99) // 100 + extra


class ByteNetBlock(nn.Module):
    """x + W₃ r(W₂ ∗ r(W₁ r(x))) with r = ReLU ∘ LayerNorm, split into the parts before and after the convolution."""

    def __init__(self, config: ByteNetConfig, dilation: int) -> None:
        super().__init__()
        d = config.width
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (2 * d, d, d))
        self.narrow = Convolution(2 * d, d, variance=2.0)  # ReLU halves the variance
        self.convolution = Convolution(d, d, config.kernel, dilation, variance=2.0)
        self.widen = Convolution(d, 2 * d)
        self.dropout = nn.Dropout(config.dropout)

    def enter(self, x: Tensor) -> Tensor:
        """Returns the input of the convolution: (N, T, 2d) → (N, T, d)"""
        return F.relu(self.norms[1](self.narrow(F.relu(self.norms[0](x)))))

    def leave(self, x: Tensor, seen: Tensor) -> Tensor:
        """Maps the output of the convolution (N, T, d) and adds it to x (N, T, 2d)."""
        out: Tensor = x + self.dropout(self.widen(F.relu(self.norms[2](seen))))
        return out


class EncoderBlock(ByteNetBlock):
    """Centred: (B, C, 2d) → (B, C, 2d)"""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.leave(x, self.convolution(self.enter(x), mask))


class DecoderBlock(ByteNetBlock):
    """Causal: (N, T, 2d) → (N, T, 2d)"""

    def forward(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        seen, present = self.convolution.after(self.enter(x), past)
        return self.leave(x, seen), present


@dataclass(frozen=True)
class ByteNetState(BatchState):
    """The last inputs of every convolution for N rows, and the encoder's columns, which do not change."""

    length: Tensor = per_sentence()  # (B,) tokens read so far
    past: tuple[Past, ...] = per_row()  # per block (N, (k − 1)·dilation, d)
    columns: Tensor = per_sentence(grows=1)  # (B, C, 2d), zeros where a sentence has no column


class ByteNet(Model):
    has_attention = False

    def __init__(self, config: ByteNetConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        width = 2 * config.width
        self.source_embedding = nn.Embedding(source_size, width)
        self.target_embedding = nn.Embedding(target_size, width)
        self.encoder = nn.ModuleList(EncoderBlock(config, config.dilation(i)) for i in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderBlock(config, config.dilation(i)) for i in range(config.decoder_layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(config.dropout)
        self.last = Convolution(width, width, variance=2.0)
        self.output = nn.Linear(width, target_size)
        for table in (self.source_embedding, self.target_embedding, self.output):  # √D times them has unit variance
            nn.init.normal_(table.weight, std=width**-0.5)
        nn.init.zeros_(self.output.bias)
        tie_embeddings(self, config.tie, joint)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, batch: Batch) -> Tensor:
        states, _ = self._decode(batch.tgt_in, self.start(self.encode(batch.src, batch.src_mask)))
        logits: Tensor = self.output(states)  # (B, T, V)
        return logits

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        """Returns columns (B, C, 2d) and their mask (B, C); a sentence has a few more columns than tokens."""
        config = self.config
        widest = columns(src.shape[1], config.stretch, config.extra)
        own = columns(mask.sum(dim=1), config.stretch, config.extra)  # (B,)
        has_column = torch.arange(widest, device=src.device) < own[:, None]
        blanks = src.masked_fill(~mask, PAD)
        x = self._embed(F.pad(blanks, (0, widest - src.shape[1]), value=PAD), self.source_embedding)  # (B, C, 2d)
        for block in self.encoder:
            x = block(x, has_column)
        return Memory(self.encoder_norm(x).masked_fill(~has_column[..., None], 0.0), has_column)

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> ByteNetState:
        length = torch.zeros(len(memory.mask), dtype=torch.long, device=memory.mask.device)
        blocks = cast(list[DecoderBlock], list(self.decoder))
        past = tuple(block.convolution.no_past(len(length) * beams) for block in blocks)
        return ByteNetState(beams, length, past, memory.states)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, ByteNetState)
        states, past = self._decode(token[:, None], state)  # T = 1
        return Step(self.output(states[:, 0]), replace(state, length=state.length + 1, past=past), None)

    def attention(self, batch: Batch) -> AttentionMaps:
        return AttentionMaps([], [], [])

    def flops(self, source: int, target: int) -> float:
        config = self.config
        d = config.width
        block = 2 * d * d + config.kernel * d * d + d * 2 * d
        encoder = columns(source, config.stretch, config.extra) * config.encoder_layers * block
        decoder = target * (config.decoder_layers * block + 2 * d * 2 * d + 2 * d * self.target_size)
        return 2.0 * float(encoder + decoder)

    def outline(self, source: int, target: int) -> draw.Outline:
        config = self.config
        width, columns_ = 2 * config.width, columns(source, config.stretch, config.extra)

        def block(module: ByteNetBlock, tokens: int, causal: bool) -> draw.OutlineLayer:
            first, second, third = (norm(one, tokens) for one in module.norms)
            narrow = draw.linear(module.narrow, tokens, "Narrow", "W₁ x")
            seen = draw.convolution(
                module.convolution, tokens, "W₂ ∗ x; the dilation grows from block to block", causal
            )
            depth = min(config.dilations, config.decoder_layers if causal else config.encoder_layers)
            seen.detail += "\ndilations " + ", ".join(str(config.dilation(n)) for n in range(depth))
            widen = draw.linear(module.widen, tokens, "Widen", "W₃ x")
            return draw.layer(first, narrow, second, seen, third, widen, draw.added(tokens, width), residual=True)

        def norm(module: nn.Module, tokens: int) -> draw.Block:
            return draw.norm(cast(nn.LayerNorm, module), tokens, "max(0, LayerNorm(x))", "Norm, ReLU")

        joined = draw.added(target, width, "word(y(t−1)) + column(t)", "Add column t")
        words = draw.embedding(self.source_embedding, columns_, "the sentence, then blanks up to C columns")
        size = f"⌈{config.stretch:g} S⌉" + (f" + {config.extra}" if config.extra else "")
        return draw.two_sides(
            [
                replace(words, detail=f"S = {source} tokens, {columns_ - source} blanks"),
                *(block(cast(ByteNetBlock, one), columns_, False) for one in self.encoder),
                draw.norm(self.encoder_norm, columns_),
            ],
            [
                draw.embedding(self.target_embedding, target),
                replace(joined, reads="column t"),
                *(block(cast(ByteNetBlock, one), target, True) for one in self.decoder),
                norm(self.decoder_norm, target),
                draw.linear(self.last, target, "Readout", "W x"),
                *draw.output(self.output, target),
            ],
            f"C = {size} columns; position t reads column t alone",
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(self, tokens: Tensor, state: ByteNetState) -> tuple[Tensor, tuple[Past, ...]]:
        """Tokens (N, T) after those of the state → (N, T, 2d) before the output layer, and the convolutions' pasts."""
        x = self._embed(tokens, self.target_embedding) + self._columns(state, tokens.shape[1])
        present: list[Past] = []
        for block, past in zip(self.decoder, state.past, strict=True):
            x, kept = block(x, past)
            present.append(kept)
        return self.last(F.relu(self.decoder_norm(x))), tuple(present)

    def _columns(self, state: ByteNetState, length: int) -> Tensor:
        """Returns the columns (N, T, 2d) of the next target positions, zeros where there are none."""
        place = state.length[:, None] + torch.arange(length, device=state.length.device)  # (B, T)
        last = state.columns.shape[1] - 1
        index = place.clamp(max=last)[..., None].expand(-1, -1, state.columns.shape[2])
        own: Tensor = state.columns.gather(1, index).masked_fill((place > last)[..., None], 0.0)  # (B, T, 2d)
        return own.repeat_interleave(state.beams, dim=0) if state.beams > 1 else own

    def _embed(self, tokens: Tensor, table: nn.Embedding) -> Tensor:
        embedded: Tensor = self.dropout(table(tokens) * math.sqrt(2 * self.config.width))
        return embedded
