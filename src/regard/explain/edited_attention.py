"""Cross-attention edited by hand: chosen heads get given weights at chosen target positions.

    B sentences   b beams   T decoder positions   S source subwords, EOS last   H heads   K head size

`EditedModel` implements the model interface (`models/base.py`) around another model, so searching, scoring and stepping
work with it as with any other model; it is for one sentence. At an edited position the head's output is computed from
the given weights instead of the model's own:

    multi-head attention      head output = Σ_s weight_s · value_s, inserted before Wᴼ
    scores of an RNN          score_s = log weight_s, which softmax turns into the weights themselves

Forward hooks apply the edits during a step; the model's parameters are never changed. With the model's own attention
as the edit, the output is unchanged. An edited row changes the predictions at its position and at all later positions.
The attention of convolutional decoders is not supported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.batch import Batch
from regard.errors import InputError
from regard.explain.hooks import head_output_hook
from regard.models.attention_parts import AttentionPart, MultiHeadPart, ScorePart
from regard.models.base import Memory, Model, ModelWrapper, State, Step
from regard.models.state import BatchState, inner, per_sentence

Floats = NDArray[np.float64]
Place = tuple[int, int, int]  # layer, head and decoder position, each counted from 0
Edits = Mapping[Place, Floats]  # weights (S,), which sum to 1


def checked_edits(model: Model, edits: Mapping[Place, Sequence[float] | Floats], source: int) -> dict[Place, Floats]:
    """Returns the edits with each row divided by its sum; raises InputError for invalid weights."""
    parts = cross_parts(model)
    found = {}
    for (layer, head, position), row in edits.items():
        if layer not in parts:
            raise InputError(f"layer must be from 1 to {len(parts)}, the layers of cross-attention, but is {layer + 1}")
        if not 0 <= head < parts[layer].heads:
            raise InputError(f"head must be from 1 to {parts[layer].heads} in layer {layer + 1}, but is {head + 1}")
        if position < 0:
            raise InputError(f"position must be from 0 on, but is {position}")
        weights = np.asarray(row, dtype=np.float64)
        if weights.shape != (source,):
            raise InputError(
                f"a row of weights must have {source} numbers, one for each source token, not {weights.shape}"
            )
        total = float(weights.sum()) if np.isfinite(weights).all() and (weights >= 0).all() else 0.0
        if not 0 < total < math.inf:
            raise InputError("weights must be numbers from 0 on, of which at least one is above 0")
        found[layer, head, position] = weights / total
    return found


def cross_parts(model: Model) -> dict[int, AttentionPart]:
    """The cross-attention of each layer; raises InputError if the model has none that can be edited."""
    parts = {layer: part for (kind, layer), part in model.attention_parts().items() if kind == "cross"}
    if not parts or not all(isinstance(part, (MultiHeadPart, ScorePart)) for part in parts.values()):
        raise InputError(
            "this model has no attention that can be edited; a Transformer has, and so has an attentive RNN"
        )
    return parts


@dataclass(frozen=True)
class EditedState(BatchState):
    """The inner state, the number of tokens it has read, and the source values of each layer."""

    position: int
    model: State = inner()
    values: tuple[Tensor | None, ...] = per_sentence()  # per layer (B, H, S, K); None for ScorePart


class EditedModel(ModelWrapper):
    """A model with edited cross-attention weights, for one sentence."""

    def __init__(self, model: Model, edits: Edits) -> None:
        super().__init__(model)
        self.parts, self.edits = cross_parts(model), edits

    def start(self, memory: Memory, trace: bool = False, *, beams: int = 1, room: int | None = None) -> EditedState:
        if len(memory.mask) != 1:
            raise ValueError("attention is edited for one sentence at a time")
        values = tuple(
            part.attention.project_keys_values(memory.states).value if isinstance(part, MultiHeadPart) else None
            for _, part in sorted(self.parts.items())
        )
        return EditedState(beams, 0, self.model.start(memory, trace, beams=beams), values)

    def step(self, token: Tensor, state: State) -> Step:
        assert isinstance(state, EditedState)
        with self._edited(state):
            step = self.model.step(token, state.model)
        return step._replace(state=replace(state, model=step.state, position=state.position + 1))

    def forward(self, batch: Batch) -> Tensor:
        """Returns logits (1, T, V), computed step by step."""
        state: State = self.start(self.encode(batch.src, batch.src_mask))
        logits = []
        for token in batch.tgt_in.unbind(dim=1):
            step = self.step(token, state)
            state = step.state
            logits.append(step.logits)
        return torch.stack(logits, dim=1)

    @contextmanager
    def _edited(self, state: EditedState) -> Iterator[None]:
        with ExitStack() as hooks:
            for (layer, head, position), weights in self.edits.items():
                if position != state.position:
                    continue
                part, row = self.parts[layer], torch.from_numpy(weights)
                if isinstance(part, MultiHeadPart):
                    value = state.values[layer]
                    assert value is not None
                    hook = head_output_hook(row.to(value) @ value[0, head], head, part.heads)  # (K,)
                    hooks.callback(part.attention.output.register_forward_pre_hook(hook).remove)
                elif isinstance(part, ScorePart):
                    hooks.callback(part.scores.register_forward_hook(_scores_hook(row.log())).remove)
            yield


def _scores_hook(scores: Tensor) -> Any:
    def hook(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
        return scores.to(output).expand_as(output)  # (N, T, S)

    return hook


def weights_of_words(words: Sequence[float] | Floats, hidden: float, own: Floats, shares: Floats, tags: int) -> Floats:
    """Distributes weights of source words (V,) and `hidden`, the weight of EOS, to source tokens (S,), the tag first
    and EOS last. Within a word they are divided in proportion to the model's own row (S,), equally if that is 0.
    `shares` (tokens of the text, V): the part of each token that belongs to each word.

    >>> weights_of_words([0.5, 0.5], 0.0, np.array([0.3, 0.1, 0.5, 0.1]), np.array([[1, 0], [1, 0], [0, 1.0]]), 0)
    array([0.375, 0.125, 0.5  , 0.   ])
    """
    wanted = np.asarray(words, dtype=np.float64)
    if wanted.shape != (shares.shape[1],):
        raise InputError(f"a row must have {shares.shape[1]} weights, one for each source word, but has {wanted.size}")
    text = own[tags : len(own) - 1, None] * shares  # (tokens, V)
    totals = text.sum(axis=0)
    counts = np.maximum(shares.sum(axis=0), 1e-12)
    divided = np.where(totals > 0, text / np.where(totals > 0, totals, 1.0), shares / counts)
    row: Floats = np.concatenate([np.zeros(tags), divided @ wanted, [hidden]])
    return row
