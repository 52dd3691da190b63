"""Which of a model's cross-attentions is read as its alignment: at each step, how much of each source token.

    N rows   B sentences   H heads   T target   S source

A card that holds a measured view (`attention_view`, chosen by `explain/alignment.py`) decides, unless it was chosen for
tokens that had been said already: here the token to come is explained, so the row must be the *predicting* one. Else it
is the mean of heads of a plain default layer; for an ensemble, the mean over its members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.batch import flat_batch
from regard.models.base import Model


def default_layer(model: Model, layers: int) -> int:
    """The last but one: in deep Transformers the last layer looks less at what it translates. Not so in ConvS2S."""
    return layers - 2 if layers > 2 and not model.last_layer_aligns else layers - 1


@dataclass(frozen=True)
class Reading:
    """The mean of some maps, each (layer, head), or (layer, None) for the mean of its heads. With no map there is no
    attention to read."""

    maps: tuple[tuple[int, int | None], ...]

    def __bool__(self) -> bool:
        return bool(self.maps)

    def of(self, layers: Sequence[Tensor]) -> Tensor:
        """Layers (B, H, T, S) of a teacher-forced pass → (B, T, S), or (N, H, S) of a step → (N, S)."""
        read = [layers[i].mean(dim=1) if head is None else layers[i][:, head] for i, head in self.maps]
        return torch.stack(read).mean(dim=0)


def reading_of(model: Model, card: Mapping[str, Any]) -> Reading:
    """How to read one model; its card may name a view."""
    layers = cross_layers(model)
    view = card.get("attention_view")
    if layers and view and view["row"] == "predicting":
        return Reading(((view["layer"], view["head"]),))
    return Reading(((default_layer(model, layers), None),) if layers else ())


def joined_reading(models: Sequence[Model]) -> Reading:
    """How to read an ensemble, whose maps are its members' one after the other."""
    counts = [cross_layers(model) for model in models]
    looking = [(sum(counts[:i]), model, n) for i, (model, n) in enumerate(zip(models, counts, strict=True)) if n]
    return Reading(tuple((before + default_layer(model, n), None) for before, model, n in looking))


@torch.inference_mode()
def cross_layers(model: Model) -> int:
    """How many layers of cross-attention a model has, seen on a sentence of no words."""
    return len(model.attention(flat_batch([[]], [[]]).pad().to(model.device)).cross)
