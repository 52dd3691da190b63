"""Every architecture of the package, in one literal table: its configuration, its presets, its class.

To add one, write its file beside `transformer.py` and add a line here; the contract's tests then
run over it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from regard.config import nearest
from regard.errors import RecipeError
from regard.models import bytenet, convs2s, deep_att, gnmt, moe, rnn, rnn_attention, transformer
from regard.models.base import Model
from regard.text.tokenizer import Tokenizer

ModelConfig = Any  # one of the first column
ARCHITECTURES: dict[str, tuple[type, dict[str, Any], Callable[..., Model]]] = {
    "rnn": (rnn.RnnConfig, rnn.PRESETS, rnn.Rnn),
    "rnn-attention": (rnn_attention.RnnAttentionConfig, rnn_attention.PRESETS, rnn_attention.RnnAttention),
    "gnmt": (gnmt.GNMTConfig, gnmt.PRESETS, gnmt.GNMT),
    "deep-att": (deep_att.DeepAttConfig, deep_att.PRESETS, deep_att.DeepAtt),
    "bytenet": (bytenet.ByteNetConfig, bytenet.PRESETS, bytenet.ByteNet),
    "convs2s": (convs2s.ConvS2SConfig, convs2s.PRESETS, convs2s.ConvS2S),
    "moe": (moe.MoeConfig, moe.PRESETS, moe.Moe),
    "transformer": (transformer.TransformerConfig, transformer.PRESETS, transformer.Transformer),
}


def check_architecture(name: str) -> None:
    if name not in ARCHITECTURES:
        raise RecipeError(f'unknown model.architecture "{name}"; {nearest(name, ARCHITECTURES)}')


def make_model(architecture: str, config: ModelConfig, tokenizer: Tokenizer) -> Model:
    """A new model with random weights, as large as the tokenizer's vocabularies need."""
    _, _, constructor = ARCHITECTURES[architecture]
    return constructor(config, tokenizer.source_size, tokenizer.target_size, tokenizer.config.joint)
