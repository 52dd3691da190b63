"""The blocks of a Transformer for its diagram: two stacks of residual sublayers."""

from __future__ import annotations

from typing import Protocol, cast

from torch import nn

from regard.layers.residual import LayerNorm, Residual
from regard.models import outline as draw
from regard.models.transformer_layers import DecoderLayer, EncoderLayer, TransformerConfig

ROTARY = "; queries and keys are turned by their positions"


class StackedModel(Protocol):
    """The modules of a Transformer."""

    config: TransformerConfig
    source_embedding: nn.Embedding
    target_embedding: nn.Embedding
    encoder_norm: LayerNorm | nn.Identity
    decoder_norm: LayerNorm | nn.Identity
    output: nn.Linear

    def encoder_layers(self) -> list[EncoderLayer]: ...
    def decoder_layers(self) -> list[DecoderLayer]: ...


def transformer_outline(model: StackedModel, source: int, target: int) -> draw.Outline:
    width, memory = model.config.width, "one vector for each token"

    def sublayer(block: draw.Block, around: Residual) -> draw.OutlineSublayer:
        tokens = block.shape[0]
        if around.post:
            after = draw.norm(around.norm, tokens, "LayerNorm(x + f(x))", "Add & norm")
            return draw.OutlineSublayer((block, after), True)
        before = draw.norm(around.norm, tokens)
        return draw.OutlineSublayer((before, block, draw.added(tokens, width, "x + f(Norm(x))")), True)

    def begin(table: nn.Embedding, places: str, tokens: int) -> list[draw.OutlineLayer]:
        kind = model.config.positions
        what = "√D times a row of the table" + (ROTARY if kind == "rotary" else "")
        blocks = [draw.embedding(table, tokens, what)]
        if kind == "learned":
            blocks.append(draw.positions_table(cast(nn.Embedding, getattr(model, places)), tokens))
        elif kind == "sinusoidal":
            blocks.append(draw.added(tokens, width, "x + sin and cos of the position", "Add positions"))
        return [draw.one(block) for block in blocks]

    def end(module: nn.Module, tokens: int) -> list[draw.OutlineLayer]:
        return [draw.one(draw.norm(module, tokens))] if isinstance(module, nn.LayerNorm) else []

    encoder, decoder = [], []
    for reader in model.encoder_layers():
        look = draw.multi_head(reader.attention, source, source, "Self-attention")
        think = draw.feed_forward(reader.feed_forward, source, width)
        pairs = [(look, reader.around_attention), (think, reader.around_feed_forward)]
        encoder.append(draw.OutlineLayer(tuple(sublayer(*pair) for pair in pairs)))
    for writer in model.decoder_layers():
        own = draw.multi_head(writer.attention, target, target, "Self-attention", causal=True)
        look = draw.multi_head(writer.cross, target, source, "Cross-attention", "keys and values")
        think = draw.feed_forward(writer.feed_forward, target, width)
        around = (writer.around_attention, writer.around_cross, writer.around_feed_forward)
        pairs = list(zip((own, look, think), around, strict=True))
        decoder.append(draw.OutlineLayer(tuple(sublayer(*pair) for pair in pairs)))
    return draw.two_sides(
        [*begin(model.source_embedding, "source_positions", source), *encoder, *end(model.encoder_norm, source)],
        [
            *begin(model.target_embedding, "target_positions", target),
            *decoder,
            *end(model.decoder_norm, target),
            *draw.last(model.output, target),
        ],
        memory,
    )
