"""The modules of one attention of a model, named by their role in the equation.

A model with one of these mechanisms lists its modules (`Model.attention_parts`); then its heads can be ablated
(`explain/ablation.py`) and each of its attentions computed step by step (`explain/mechanisms.py`), whatever its
architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from regard.layers.attention import MultiHeadAttention
from regard.layers.convolution import Convolution
from regard.layers.residual import Residual
from regard.layers.scores import Scores

AttentionKind = Literal["encoder", "decoder", "cross"]  # self-attention of either side, or attention to the source


@dataclass(frozen=True)
class MultiHeadPart:
    """Scaled dot-product attention with heads (`layers/attention.py`) within a residual connection."""

    attention: MultiHeadAttention
    residual: Residual
    memory: nn.Module | None = None  # module whose output gives the keys; None: self-attention
    causal: bool = False
    rotary: bool = False  # queries and keys are rotated by their positions

    @property
    def heads(self) -> int:
        return self.attention.heads


@dataclass(frozen=True)
class ScorePart:
    """One of the scores of `layers/scores.py`, and the module that reads the context: a linear layer over the context
    and the decoder's state, or a module whose output has the context as `context`."""

    scores: Scores
    reader: nn.Module
    context_first: bool = False  # the linear layer reads [context; state], not [state; context]
    coverage: Tensor | None = None  # w of a score with coverage
    heads = 1


@dataclass(frozen=True)
class ConvolutionPart:
    """Attention of a convolutional decoder layer: d = W h + b + g, softmax of d·z, values z + e (ConvS2S)."""

    layer: nn.Module
    query: Convolution
    output: Convolution
    heads = 1


AttentionPart = MultiHeadPart | ScorePart | ConvolutionPart
AttentionParts = dict[tuple[AttentionKind, int], AttentionPart]  # by kind and layer, layers counted from 0
