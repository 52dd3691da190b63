"""The blocks of a stack of residual layers for its diagram, as in a Transformer."""

from __future__ import annotations

from typing import cast

from torch import nn

from regard.layers.feedforward import FeedForward
from regard.layers.moe import MixtureOfExperts
from regard.models import outline as draw
from regard.models.attention_parts import MultiHeadPart
from regard.models.layer_parts import LayerParts, SideParts, Sublayer

ROTARY = "; queries and keys are turned by their positions"


def stack_outline(stack: LayerParts, source: int, target: int) -> draw.Outline:
    width = stack.output.in_features

    def block(sublayer: Sublayer, tokens: int) -> draw.Block:
        part = sublayer.part
        if not isinstance(part, MultiHeadPart):
            return draw.feed_forward(cast(FeedForward | MixtureOfExperts, part), tokens, width)
        if part.memory is not None:
            return draw.multi_head(part.attention, tokens, source, "Cross-attention", "keys and values")
        return draw.multi_head(part.attention, tokens, tokens, "Self-attention", causal=part.causal)

    def drawn(sublayer: Sublayer, tokens: int) -> draw.OutlineSublayer:
        around, main = sublayer.residual, block(sublayer, tokens)
        if around.post:
            after = draw.norm(around.norm, tokens, "LayerNorm(x + f(x))", "Add & norm")
            return draw.OutlineSublayer((main, after), True)
        return draw.OutlineSublayer(
            (draw.norm(around.norm, tokens), main, draw.added(tokens, width, "x + f(Norm(x))")), True
        )

    def side(parts: SideParts, tokens: int) -> list[draw.OutlineLayer | draw.Block]:
        what = "√D times a row of the table" + (ROTARY if stack.positions == "rotary" else "")
        found: list[draw.OutlineLayer | draw.Block] = [draw.embedding(parts.embedding, tokens, what)]
        if parts.positions is not None:
            found.append(draw.positions_table(parts.positions, tokens))
        elif stack.positions == "sinusoidal":
            found.append(draw.added(tokens, width, "x + sin and cos of the position", "Add positions"))
        found += [draw.OutlineLayer((tuple(drawn(one, tokens) for one in layer),)) for layer in parts.layers]
        return found if parts.norm is None else [*found, draw.norm(cast(nn.LayerNorm, parts.norm), tokens)]

    return draw.two_sides(
        side(stack.encoder, source),
        [*side(stack.decoder, target), *draw.output(stack.output, target)],
        "one vector for each token",
    )
