"""The Transformer against torch.nn.Transformer with copied weights, and against the paper's sizes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.batch import Batch
from regard.errors import RecipeError
from regard.layers.attention import MultiHeadAttention, causal_mask
from regard.layers.residual import Norm, Residual
from regard.models.transformer import PRESETS, Transformer
from regard.models.transformer_layers import TransformerConfig

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # torch's word about its own shortcut


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    parts = (ours.query, ours.key, ours.value)
    theirs.in_proj_weight.copy_(torch.cat([p.weight for p in parts]))
    theirs.in_proj_bias.copy_(torch.cat([p.bias for p in parts]))
    theirs.out_proj.load_state_dict(ours.output.state_dict())


def copy_norm(ours: Residual, theirs: nn.Module) -> None:
    theirs.load_state_dict(ours.norm.state_dict())


@torch.no_grad()
def torch_twin(model: Transformer) -> nn.Transformer:
    config = model.config
    pre = config.norm == "pre"
    twin = nn.Transformer(
        config.width,
        config.heads,
        config.encoder_layers,
        config.decoder_layers,
        config.inner,
        dropout=0.0,
        batch_first=True,
        norm_first=pre,
    ).eval()
    if pre:
        twin.encoder.norm.load_state_dict(model.encoder_norm.state_dict())
        twin.decoder.norm.load_state_dict(model.decoder_norm.state_dict())
    else:  # the paper has no norm after the stacks; torch adds one
        twin.encoder.norm = twin.decoder.norm = None
    layers = [*twin.encoder.layers, *twin.decoder.layers]
    for ours, theirs in zip([*model.encoder, *model.decoder], layers, strict=True):
        copy_attention(ours.attention, theirs.self_attn)
        copy_norm(ours.around_attention, theirs.norm1)
        theirs.linear1.load_state_dict(ours.feed_forward.expand.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.contract.state_dict())
        if hasattr(ours, "cross"):
            copy_attention(ours.cross, theirs.multihead_attn)
            copy_norm(ours.around_cross, theirs.norm2)
            copy_norm(ours.around_feed_forward, theirs.norm3)
        else:
            copy_norm(ours.around_feed_forward, theirs.norm2)
    return twin


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_stack_equals_torch(norm: Norm, batch: Batch) -> None:
    torch.manual_seed(2)
    config = TransformerConfig(width=24, heads=3, inner=40, encoder_layers=2, decoder_layers=2, norm=norm)
    model = Transformer(config, 23, 23, True).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
    twin = torch_twin(model)
    with torch.no_grad():
        src = model._embed(batch.src, model.source_embedding, "source", torch.arange(batch.src.shape[1]))
        tgt = model._embed(batch.tgt_in, model.target_embedding, "target", torch.arange(batch.tgt_in.shape[1]))
        expected = twin(
            src,
            tgt,
            tgt_mask=~causal_mask(tgt.shape[1]),
            src_key_padding_mask=~batch.src_mask,
            memory_key_padding_mask=~batch.src_mask,
        )
        logits = expected @ model.target_embedding.weight.T
        torch.testing.assert_close(model(batch)[batch.tgt_mask], logits[batch.tgt_mask], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("preset", "paper"), [("base", 65e6), ("big", 213e6)])
def test_the_papers_sizes(preset: str, paper: float) -> None:
    """With the paper's 37,000 joint pieces: exactly torch's layers and one tied matrix.

    The paper's table rounds to 65 and 213 million. Big agrees within 1%; base comes to 63.1 million, and no reading
    of the paper's own sizes gives 65: six and six layers are 44.1 million, 37,000 × 512 are 18.9.
    """
    config = PRESETS[preset]
    with torch.device("meta"):
        ours = Transformer(config, 37_000, 37_000, True).parameter_count()
        layers = nn.Transformer(config.width, config.heads, 6, 6, config.inner)
        layers.encoder.norm = layers.decoder.norm = None
    theirs = sum(p.numel() for p in layers.parameters()) + 37_000 * config.width
    assert ours == theirs
    assert ours == pytest.approx(paper, rel=0.01 if preset == "big" else 0.03)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"heads": 3, "width": 256}, "heads must divide model.width, but 256 / 3 leaves 1; try heads = 2"),
        ({"width": 0}, "width must be at least 1"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"width": 9, "heads": 3}, "width must be even"),
        ({"width": 6, "heads": 2, "positions": "rotary"}, "even head size"),
        ({"encoder_layers": 0}, "encoder_layers must be at least 1"),
    ],
)
def test_impossible_sizes_are_named(change: dict[str, object], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        TransformerConfig(**change)  # type: ignore[arg-type]
