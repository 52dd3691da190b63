"""Every architecture of the package, in one literal table: its configuration, its presets, its class.

To add one, write its file beside `transformer.py` and add a line here: the tests of the contract then run over it, and
training, search and explanation take it as it is. CONTRIBUTING.md shows how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from regard.config import nearest
from regard.errors import RecipeError
from regard.models import bytenet, convs2s, deep_att, gnmt, moe, rnn, rnn_attention, transformer, transformer_layers
from regard.models.base import Model
from regard.text.tokenizer import Tokenizer

ModelConfig = Any  # an instance of one of the first column


class Architecture(NamedTuple):
    config: type  # a frozen dataclass: section [model] of a recipe
    presets: Mapping[str, ModelConfig]  # by name; "tiny" and "small" are always among them
    model: type[Model]  # made as model(config, source vocabulary, target vocabulary, joint)


ARCHITECTURES: dict[str, Architecture] = {
    "rnn": Architecture(rnn.RnnConfig, rnn.PRESETS, rnn.Rnn),
    "rnn-attention": Architecture(rnn_attention.RnnAttentionConfig, rnn_attention.PRESETS, rnn_attention.RnnAttention),
    "gnmt": Architecture(gnmt.GNMTConfig, gnmt.PRESETS, gnmt.GNMT),
    "deep-att": Architecture(deep_att.DeepAttConfig, deep_att.PRESETS, deep_att.DeepAtt),
    "bytenet": Architecture(bytenet.ByteNetConfig, bytenet.PRESETS, bytenet.ByteNet),
    "convs2s": Architecture(convs2s.ConvS2SConfig, convs2s.PRESETS, convs2s.ConvS2S),
    "moe": Architecture(moe.MoeConfig, moe.PRESETS, moe.Moe),
    "transformer": Architecture(transformer_layers.TransformerConfig, transformer.PRESETS, transformer.Transformer),
}


def check_architecture(name: str) -> None:
    """Raise RecipeError unless there is an architecture of this name."""
    if name not in ARCHITECTURES:
        raise RecipeError(f'unknown model.architecture "{name}"; {nearest(name, ARCHITECTURES)}')


def make_model(architecture: str, config: ModelConfig, tokenizer: Tokenizer) -> Model:
    """A new model with random weights, as large as the tokenizer's vocabularies need."""
    sizes = (tokenizer.source_size, tokenizer.target_size, tokenizer.config.joint)
    return ARCHITECTURES[architecture].model(config, *sizes)
