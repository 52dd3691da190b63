"""The modules of a stack of residual layers, named by their role, so that each part of a layer can be recorded.

    x ─▶ sublayer 1 ─▶ sublayer 2 ─▶ …          one layer
         LayerNorm(x + f(x)) or x + f(LayerNorm(x))          one sublayer (`layers/residual.py`)

A model whose layers have this form lists them (`Model.layer_parts`); `explain/recorded_parts.py` then records their
values for a sentence, whatever the model's class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import nn

from regard.layers.feedforward import FeedForward
from regard.layers.residual import Residual
from regard.models.attention_parts import MultiHeadPart

SublayerKind = Literal["attention", "cross", "feed_forward"]


@dataclass(frozen=True)
class Sublayer:
    kind: SublayerKind
    part: (
        MultiHeadPart | FeedForward | nn.Module
    )  # a module of another kind, such as a mixture of experts, is not opened
    residual: Residual


@dataclass(frozen=True)
class SideParts:
    """The encoder or the decoder."""

    embedding: nn.Embedding
    positions: nn.Embedding | None  # the table of learned positions
    layers: tuple[tuple[Sublayer, ...], ...]
    norm: nn.Module | None  # after the last layer; None: post-norm layers end with one


@dataclass(frozen=True)
class LayerParts:
    encoder: SideParts
    decoder: SideParts
    output: nn.Linear
    scale: float  # of the embeddings
    positions: Literal["sinusoidal", "learned", "rotary"]
    added_positions: nn.Module | None  # adds their vectors to the embeddings; None: they are rotary
