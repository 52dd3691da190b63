"""Deep-Att, LSTM stacks with fast-forward connections (Zhou et al. 2016) and attention.

    B sentences   N = B × beam rows   S source   T target   D cells   E embedding   M = 5D/2 memory width   V vocabulary

A layer is two blocks: f is linear, r is recurrent. The f blocks are connected to each other, so that a path without
nonlinearity and recurrence leads from the words to the top, however deep the stack:

    f¹_t = W¹ x_t                              fᵏ_t = Wᵏ [half(fᵏ⁻¹_t), dropout(hᵏ⁻¹_t)]            (4D numbers)
    hᵏ_t = r(fᵏ_t, hᵏ_{t±1})                   an LSTM whose gates are fᵏ_t + R hᵏ_{t±1}

half takes the first 2D of the 4D numbers, as the paper does to save parameters. The encoder has two such columns, each
with its own parameters. The first begins forward and reverses at every layer, the second begins backward (interleaved
directions). Above them, and in the decoder:

    m_s  = P [h_s, h′_s, f_s, f′_s]            both columns' tops, 10D numbers projected to a quarter
    a_t  = softmax_s v·tanh(W₁ m_s + W₂ h¹_{t−1}),   c_t = Σ_s a_ts m_s
    f¹_t = W¹ [y_t, c_t]                       then as above, always forward; y_t is the last word
    P(next word) = softmax(V O [half(fᴸ_t), dropout(hᴸ_t)])

As in GNMT the query comes from the bottom decoder layer one step before, so only that layer is looped over T. Every
other layer runs fused. torch's LSTM computes Wᵏ[…] inside and does not return it, so the half that is passed on is
computed a second time. No layer needs the padding mask: padding is on the right, and a backward layer reads each row
reversed by its own length.

Simplified: no peepholes (torch's fused LSTM has none) and a bias in each block; half is torch's input and forget gates;
f enters m_s unscaled, as P can scale it; the readout O, of embedding width so that V may be the target embedding, is
ours. The decoder starts from zeros. Not here: the model without attention (Deep-ED) and the handling of unknown words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import key, require
from regard.layers.recurrent import Recurrent
from regard.models import outline as draw
from regard.models.base import Memory
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes, read_presets, tie_embeddings
from regard.models.gnmt import (
    Attentive,
    AttentiveDecoded,
    AttentiveLSTM,
    AttentiveOutput,
    AttentiveState,
    attentive_layers,
)


@dataclass(frozen=True)
class DeepAttConfig:
    width: int = key(160, "LSTM cells of each layer; even")
    embedding: int = key(160, "numbers per word")
    encoder_layers: int = key(5, "layers of each of the encoder's two columns")
    decoder_layers: int = key(4, "decoder layers")
    dropout: float = key(0.1, "share of LSTM outputs set to zero in training; the fast-forward path has no dropout")
    tie: Tie = key("auto", TIE_HELP)

    def __post_init__(self) -> None:
        check_sizes(self, "width", "embedding", "encoder_layers", "decoder_layers")
        require(
            self.width % 2 == 0,
            f"model.width must be even, but is {self.width}: a quarter of ten times it is kept of the encoder's top",
        )
        check_shares(self, "dropout")

    @property
    def memory(self) -> int:
        """M: a quarter of the width of both columns' h and f."""
        return 5 * self.width // 2


PRESETS = read_presets(DeepAttConfig, "deep-att")


def reverse(x: Tensor, mask: Tensor) -> Tensor:
    """Reverses the tokens of each row and keeps its padding in place: (B, S, D), (B, S) → (B, S, D)"""
    lengths, place = mask.sum(dim=1, keepdim=True), torch.arange(mask.shape[1], device=mask.device)
    index = torch.where(place < lengths, lengths - 1 - place, place)  # (B, S)
    return x.gather(1, index[:, :, None].expand_as(x))


def linear_block(x: Tensor, layer: Recurrent, numbers: int) -> Tensor:
    """The first `numbers` dimensions of block f, Wx + b, W the layer's input matrix: (N, T, ·) → (N, T, numbers)"""
    weights = layer.weights(0)
    return F.linear(x, weights.of_input[:numbers], weights.input_bias[:numbers])


class Column(nn.Module):
    """One of the encoder's two stacks; its direction reverses at every layer."""

    def __init__(self, config: DeepAttConfig, begins_backward: bool) -> None:
        super().__init__()
        self.width, self.begins_backward = config.width, begins_backward
        inputs = [config.embedding] + [3 * config.width] * (config.encoder_layers - 1)
        self.layers = nn.ModuleList(Recurrent("lstm", size, config.width) for size in inputs)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Words (B, S, E) → h (B, S, D) and f (B, S, 4D) of the top layer"""
        layers = recurrent_layers(self.layers)
        backward = self.begins_backward
        for depth, layer in enumerate(layers, start=1):
            if backward:
                hidden = reverse(layer(reverse(x, mask))[0], mask)  # (B, S, D)
            else:
                hidden, _ = layer(x)
            if depth < len(layers):
                x = torch.cat([linear_block(x, layer, 2 * self.width), self.dropout(hidden)], dim=-1)  # (B, S, 3D)
            backward = not backward
        return hidden, linear_block(x, layer, 4 * self.width)


def recurrent_layers(layers: nn.ModuleList) -> list[Recurrent]:
    return cast(list[Recurrent], list(layers))


class DeepAtt(Attentive):
    def __init__(self, config: DeepAttConfig, source_size: int, target_size: int, joint: bool) -> None:
        super().__init__()
        self.config, self.source_size, self.target_size, self.joint = config, source_size, target_size, joint
        width, embedding = config.width, config.embedding
        self.source_embedding = nn.Embedding(source_size, embedding)
        self.target_embedding = nn.Embedding(target_size, embedding)
        self.columns = nn.ModuleList(Column(config, begins_backward) for begins_backward in (False, True))
        self.interface = nn.Linear(10 * width, config.memory)
        self.bottom = AttentiveLSTM(embedding, config.memory, width)
        self.decoder = nn.ModuleList(Recurrent("lstm", 3 * width, width) for _ in range(1, config.decoder_layers))
        self.dropout = nn.Dropout(config.dropout)
        self.readout = nn.Linear(3 * width, embedding)
        self.output = nn.Linear(embedding, target_size, bias=False)
        tie_embeddings(self, config.tie, joint, std=embedding**-0.5)

    # ── the contract ────────────────────────────────────────────────────────────────────────────────────────────────

    def encode(self, src: Tensor, mask: Tensor) -> Memory:
        x = self.source_embedding(src)  # (B, S, E)
        tops = [column(x, mask) for column in self.columns]
        everything = torch.cat([h for h, _ in tops] + [f for _, f in tops], dim=-1)  # (B, S, 10D)
        return Memory(self.interface(everything), mask)

    def flops(self, source: int, target: int) -> float:
        """Counts each product of the equations once, also the halves of f that are computed twice."""
        columns = [layer for column in self.columns for layer in recurrent_layers(cast(Column, column).layers)]
        layers = [(layer, source) for layer in columns]
        layers += [(layer, target) for layer in recurrent_layers(self.decoder)]
        recurrent = sum(layer.flops(length) for layer, length in layers)
        config = self.config
        interface = 2.0 * source * 10 * config.width * config.memory
        each_word = 2.0 * config.embedding * (3 * config.width + self.target_size)
        return recurrent + interface + self.bottom.flops(source, target) + target * each_word

    def outline(self, source: int, target: int) -> draw.Outline:
        forward = "f = W [half(f); h] of the layer below, which stays linear; h = LSTM with gates f + R h"

        both = ("half(f)", "h")  # of the layer below

        def stack(column: Column) -> Iterator[draw.OutlineSublayer]:
            layers = recurrent_layers(column.layers)
            ways = [*islice(cycle("←→" if column.begins_backward else "→←"), len(layers))]
            later = " ".join(ways[1:5]) + (" …" if len(ways) > 5 else "")
            for number, (module, way) in enumerate(zip(layers, ways, strict=True)):
                (block,) = draw.recurrent(module.stack, source, forward)
                detail, inputs = (f"{later} by layer", both) if number else (way, ())
                yield draw.OutlineSublayer((replace(block, way=way, detail=detail, inputs=inputs),))

        stacks = [stack(cast(Column, column)) for column in self.columns]
        columns = [draw.OutlineLayer(((left,), (right,))) for left, right in zip(*stacks, strict=True)]
        above = [draw.recurrent(one.stack, target, forward)[0] for one in recurrent_layers(self.decoder)]
        top = draw.linear(self.interface, source, "Interface", "m = P [h; h′; f; f′], a quarter of ten times the width")
        read = draw.linear(self.readout, target, "Readout", "O [half(f); h]")
        decoder = [replace(one, inputs=both) for one in (*above, read)]
        return draw.two_sides(
            [draw.embedding(self.source_embedding, source), *columns, replace(top, inputs=("h", "h′", "f", "f′"))],
            [*attentive_layers(self, source, target), *decoder, *draw.output(self.output, target)],
            "m(1) … m(S), one for each token",
        )

    # ── private ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _decode(self, tokens: Tensor, state: AttentiveState) -> AttentiveDecoded:
        half, words = 2 * self.config.width, self.target_embedding(tokens)  # (N, T, E)
        attended: AttentiveOutput = self.bottom(words, state.bottom, state.source)
        below = linear_block(torch.cat([words, attended.context], dim=-1), self.bottom.recurrent, half)  # (N, T, 2D)
        x = torch.cat([below, self.dropout(attended.hidden)], dim=-1)  # (N, T, 3D)
        upper = []
        for layer, carry in zip(recurrent_layers(self.decoder), state.upper, strict=True):
            hidden, after = layer(x, carry=carry)
            x = torch.cat([linear_block(x, layer, half), self.dropout(hidden)], dim=-1)  # (N, T, 3D)
            upper.append(after)
        return AttentiveDecoded(
            self.readout(x), attended.weights, replace(state, bottom=attended.carry, upper=tuple(upper))
        )
