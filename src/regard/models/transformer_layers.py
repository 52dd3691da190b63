"""The layers of the Transformer, and its configuration.

    B sentences   N = B × beam rows   S source   T target   D width   H heads   K head size

A decoder layer supports teacher forcing, with all target positions at once under a causal mask, and a step, with one
position and the keys and values of the past. `in_rows` is for sentences that share rows (`batch.Shared`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import key, require
from regard.layers.attention import KeyValue, MultiHeadAttention
from regard.layers.feedforward import Activation, FeedForward
from regard.layers.moe import MixtureOfExperts, check_experts
from regard.layers.positions import Rotation
from regard.layers.residual import Norm, Residual
from regard.models.common import TIE_HELP, Tie, check_shares, check_sizes


@dataclass(frozen=True)
class TransformerConfig:
    width: int = key(256, "numbers per token inside the model (d_model)")
    heads: int = key(4, "attention heads; must divide the width")
    inner: int = key(1024, "units of the feed-forward layers (d_ff)")
    encoder_layers: int = key(3, "encoder layers")
    decoder_layers: int = key(3, "decoder layers")
    dropout: float = key(0.1, "share of sublayer outputs and embeddings set to zero in training")
    attention_dropout: float = key(0.0, "share of attention weights set to zero in training")
    layer_drop: float = key(0.0, "share of sublayers skipped in training, row by row (stochastic depth)")
    norm: Norm = key("pre", "LayerNorm before the sublayer, or after the residual sum (post: the notes, base, big)")
    positions: Literal["sinusoidal", "learned", "rotary"] = key("sinusoidal", "how a token's position is encoded")
    activation: Activation = key("relu", "nonlinearity of the feed-forward layers")
    tie: Tie = key("auto", TIE_HELP)
    output_bias: bool = key(False, "add a learned number per entry of the vocabulary to the logits, as Marian does")
    max_positions: int = key(1024, "learned positions, the most tokens of a sentence; other kinds have no limit")
    experts: int = key(0, "experts in every second layer, the last one among them (0: ordinary layers throughout)")
    expert_choice: int = key(2, "experts that serve a token")
    balance: float = key(0.01, "weight of the loss that keeps experts evenly loaded, per mixture")

    def __post_init__(self) -> None:
        check_sizes(self, "width", "heads", "inner", "encoder_layers", "decoder_layers", "max_positions")
        require(
            self.width % self.heads == 0,
            f"model.heads must divide model.width, but {self.width} / {self.heads} leaves {self.width % self.heads}; "
            f"try heads = {max(h for h in range(1, min(self.heads, self.width) + 1) if self.width % h == 0)}",
        )
        require(self.width % 2 == 0, f"model.width must be even, but is {self.width}")
        require(
            self.positions != "rotary" or (self.width // self.heads) % 2 == 0,
            f"rotary positions need an even head size, but {self.width} / {self.heads} is odd; use fewer heads",
        )
        check_shares(self, "dropout", "attention_dropout", "layer_drop")
        require(self.experts == 0 or self.experts >= 2, f"model.experts must be 0 or at least 2, but is {self.experts}")
        if self.experts:
            check_experts(self.experts, self.expert_choice, self.balance)


def make_feed_forward(config: TransformerConfig, index: int, layers: int) -> FeedForward | MixtureOfExperts:
    """Makes a layer's feed-forward part: with experts, every second layer, counted from the last, has a mixture."""
    if config.experts and (layers - 1 - index) % 2 == 0:
        shape = (config.width, config.inner, config.activation)
        return MixtureOfExperts(*shape, config.experts, config.expert_choice, config.balance)
    return FeedForward(config.width, config.inner, config.activation)


def as_sublayer(layer: FeedForward | MixtureOfExperts, real: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Returns the sublayer as a function of its input only; a mixture balances its load over the real tokens."""
    return partial(layer, real=real)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: TransformerConfig, index: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, config.attention_dropout)
        self.feed_forward = make_feed_forward(config, index, config.encoder_layers)
        self.around_attention = Residual(config.width, config.norm, config.dropout, config.layer_drop)
        self.around_feed_forward = Residual(config.width, config.norm, config.dropout, config.layer_drop)

    def forward(self, x: Tensor, mask: Tensor, rotation: Rotation | None, record: list[Tensor] | None) -> Tensor:
        def self_attend(y: Tensor) -> Tensor:
            query, seen = self.attention.project_all(y, rotation)
            out: Tensor = self.attention(query, seen, mask=mask, record=record)
            return out

        x = self.around_attention(x, self_attend)
        out: Tensor = self.around_feed_forward(
            x, as_sublayer(self.feed_forward, mask[:, 0, 0])
        )  # (B, 1, 1, S) → (B, S)
        return out

    def in_rows(self, x: Tensor, segments: Tensor, rotation: Rotation | None) -> Tensor:
        """The layer where sentences share rows: x (B, S, D), the sentence of each token (B, S)."""
        x = self.around_attention(x, lambda y: self.attention.within_rows(y, segments, False, rotation))
        out: Tensor = self.around_feed_forward(x, as_sublayer(self.feed_forward, segments > 0))
        return out


class DecoderLayer(nn.Module):
    """Masked self-attention, attention over the source, feed-forward."""

    def __init__(self, config: TransformerConfig, index: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, config.attention_dropout)
        self.cross = MultiHeadAttention(config.width, config.heads, config.attention_dropout)
        self.feed_forward = make_feed_forward(config, index, config.decoder_layers)
        self.around_attention = Residual(config.width, config.norm, config.dropout, config.layer_drop)
        self.around_cross = Residual(config.width, config.norm, config.dropout, config.layer_drop)
        self.around_feed_forward = Residual(config.width, config.norm, config.dropout, config.layer_drop)

    def forward(
        self,
        x: Tensor,  # (N, T, D): all target positions, or one when there is a past
        past: KeyValue | None,
        own_mask: Tensor | None,  # (N, 1, 1, t): True at the positions of the past that belong to a row
        source: KeyValue,  # (B, H, S, K): one per sentence
        source_mask: Tensor,
        rotation: Rotation | None,
        self_record: list[Tensor] | None,
        cross_record: list[Tensor] | None,
        real: Tensor | None,  # (N, T), or None if every position is a token
    ) -> tuple[Tensor, KeyValue]:
        present: list[KeyValue] = []

        def self_attend(y: Tensor) -> Tensor:
            query, new = self.attention.project_all(y, rotation)
            present.append(new if past is None else past.append(new))
            causal = past is None and y.shape[1] > 1  # a single position has no future to mask
            out: Tensor = self.attention(query, present[0], mask=own_mask, causal=causal, record=self_record)
            return out

        def cross_attend(y: Tensor) -> Tensor:
            query = self.cross.project_query(y.view(len(source_mask), -1, y.shape[2]))  # beams are additional queries
            out: Tensor = self.cross(query, source, mask=source_mask, record=cross_record)
            return out.view_as(y)

        x = self.around_attention(x, self_attend)
        x = self.around_cross(x, cross_attend)
        return self.around_feed_forward(x, as_sublayer(self.feed_forward, real)), present[0]

    def in_rows(
        self, x: Tensor, memory: Tensor, segments: Tensor, source_segments: Tensor, rotation: Rotation | None
    ) -> Tensor:
        """Teacher forcing where sentences share rows: x (B, T, D), memory (B, S, D), segments (B, T) and (B, S)."""
        x = self.around_attention(x, lambda y: self.attention.within_rows(y, segments, True, rotation))
        x = self.around_cross(x, lambda y: self.cross.across_rows(y, memory, segments, source_segments))
        out: Tensor = self.around_feed_forward(x, as_sublayer(self.feed_forward, segments > 0))
        return out


@cache
def compiled(forward: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Compiles a layer for shared rows: all have one size, so it is compiled once, and all layers share the code."""
    # Sums along rows and columns in one kernel, which the compiler prefers, are slower here (docs/log.md).
    return torch.compile(forward, dynamic=False, options={"triton.mix_order_reduction": False})
