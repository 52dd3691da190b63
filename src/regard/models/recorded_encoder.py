"""The encoder of a Transformer as a recorded pass of a fixed shape.

B sentences   S tokens of each   D width
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from regard.layers.masks import padding_mask
from regard.layers.positions import Rotation
from regard.models.recorded_layers import Sublayer, feed_forward, recorded, through
from regard.models.transformer import Transformer
from regard.models.transformer_cache import query_key_value
from regard.models.transformer_layers import EncoderLayer


class RecordedEncoder:
    def __init__(self, model: Transformer, sentences: int, length: int) -> None:
        self.model = model
        self.tokens = torch.zeros(sentences, length, dtype=torch.long, device=model.device)
        self.real = torch.ones(sentences, length, dtype=torch.bool, device=model.device)
        self.projections = [query_key_value(layer.attention) for layer in model.encoder_layers()]
        self.run = recorded(self._forward, model.device)

    def __call__(self, tokens: Tensor, real: Tensor) -> Tensor:
        """The states (B, S, D) of at most so many sentences and tokens; they stay until the next call. No sentence is
        without a token."""
        sentences, length = tokens.shape
        self.tokens.zero_()
        self.tokens[:sentences, :length] = tokens
        self.real.zero_()
        self.real[:, 0] = True  # also of places without a sentence
        self.real[:sentences, :length] = real
        return self.run()[:sentences, :length]

    def _forward(self) -> Tensor:
        position = torch.arange(self.tokens.shape[1], device=self.tokens.device)
        x, turn = self.model.embed_source(self.tokens, position)
        mask = padding_mask(self.real)
        sublayers: list[Sublayer] = []
        for i, layer in enumerate(self.model.encoder_layers()):
            sublayers.append((layer.around_attention.norm, partial(self._attend, i, layer, mask, turn)))
            sublayers.append((layer.around_feed_forward.norm, partial(feed_forward, layer.feed_forward)))
        last = self.model.encoder_norm if self.model.config.norm == "pre" else None
        return through(x.flatten(0, 1), sublayers, last).view_as(x)  # (B·S, D) → (B, S, D)

    def _attend(self, index: int, layer: EncoderLayer, mask: Tensor, turn: Rotation | None, x: Tensor) -> Tensor:
        joined = self.projections[index](x).view(*self.tokens.shape, -1)  # (B, S, 3D)
        query, seen = layer.attention.split(joined, turn)
        out: Tensor = layer.attention(query, seen, mask=mask)
        return out.flatten(0, 1)
