"""The table of architectures: configuration, presets and class of each.

To add one, write its file beside `transformer.py` and add a line here: the tests of the interface then include it, and
training, search and explanation work with it. CONTRIBUTING.md shows how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from regard.config import nearest
from regard.errors import RecipeError
from regard.models import bytenet, convs2s, deep_att, gnmt, moe, rnn, rnn_attention, transformer, transformer_layers
from regard.models.base import Model
from regard.text.tokenizer import Tokenizer

ModelConfig = Any  # an instance of one of the configuration classes


class Architecture(NamedTuple):
    config: type  # a frozen dataclass: section [model] of a recipe
    presets: Mapping[str, ModelConfig]  # by name; "tiny" and "small" are always among them
    model: type[Model]  # called as model(config, source vocabulary size, target vocabulary size, joint)


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
    """Raises RecipeError unless there is an architecture of this name."""
    if name not in ARCHITECTURES:
        raise RecipeError(f'unknown model.architecture "{name}"; {nearest(name, ARCHITECTURES)}')


def make_model(architecture: str, config: ModelConfig, tokenizer: Tokenizer) -> Model:
    """Makes a model with random weights, for the sizes of the tokenizer's vocabularies."""
    sizes = (tokenizer.source_size, tokenizer.target_size, tokenizer.config.joint)
    return ARCHITECTURES[architecture].model(config, *sizes)
