"""The network of the quality estimator: a small Transformer encoder that reads a sentence and its translation together.

    B pairs   N tokens of both sentences   V vocabulary   E width of the translation model's embeddings   D width

    <en> source EOS <fr> translation EOS  ─ embeddings, frozen ─▶ projection ─▶ encoder ─▶ two logits per token

The embeddings are those of the translation model, which is trained on far more text; only their projection to a smaller
width is learned. The first logit of a token says that it is wrong or, in the source, lost; the second one of the first
token says that the translation as a whole is wrong. `estimator.py` runs the network without torch.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.layers.attention import padding_mask
from regard.layers.positions import sinusoids
from regard.layers.residual import LayerNorm, in_working_precision
from regard.models.transformer_layers import EncoderLayer, TransformerConfig

WRONG_TOKEN, WRONG_SENTENCE = 0, 1


class QualityNetwork(nn.Module):
    def __init__(self, config: TransformerConfig, embeddings: Tensor) -> None:
        """`embeddings` (V, E) are not part of the network's own weights."""
        super().__init__()
        self.config = config
        self.register_buffer("embeddings", embeddings, persistent=False)
        self.projection = nn.Linear(embeddings.shape[1], config.width, bias=False)
        self.encoder = nn.ModuleList(EncoderLayer(config, i) for i in range(config.encoder_layers))
        self.encoder_norm = LayerNorm(config.width)
        self.output = nn.Linear(config.width, 2)

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        """(B, N) ids, and True where they are no padding → (B, N, 2)."""
        position = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.projection(self.embeddings[tokens]) * self.config.width**0.5  # (B, N, E) → (B, N, D)
        x = in_working_precision(x + sinusoids(position, self.config.width))
        mask = padding_mask(real)
        for layer in self.encoder:
            x = layer(x, mask, None, None)
        logits: Tensor = self.output(self.encoder_norm(x))
        return logits
