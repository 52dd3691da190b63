"""The cross-attention heads that give a model's word alignment: the weight of each source token at each step.

    N rows   B sentences   H heads   T target   S source

A card may name one measured view (`attention_view`, chosen by `explain/alignment.py`). It is used if its row is
*predicting*: search needs the alignment of the token that is about to be predicted. Otherwise the heads of a default
layer are averaged; for an ensemble, also over its members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from regard.align.attention import RowMeaning
from regard.bundle.bundle import Bundle

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.base import Model


def default_layer(layers: int, last_layer_aligns: bool = False) -> int:
    """Returns the second to last layer, which aligns better than the last in deep Transformers. For a model with
    `last_layer_aligns`, or with at most two layers, returns the last."""
    return layers - 2 if layers > 2 and not last_layer_aligns else layers - 1


@dataclass(frozen=True)
class AlignmentHeads:
    """Attention maps to average, each (layer, head), or (layer, None) for the mean of a layer's heads. Empty, and
    falsy, for a model without cross-attention."""

    maps: tuple[tuple[int, int | None], ...]

    def __bool__(self) -> bool:
        return bool(self.maps)

    def average(self, layers: Sequence[Tensor]) -> Tensor:
        """Averages layers (B, H, T, S) of a teacher-forced pass → (B, T, S), or (N, H, S) of a step → (N, S)."""
        chosen = [layers[i].mean(dim=1) if head is None else layers[i][:, head] for i, head in self.maps]
        return reduce(add, chosen) / len(chosen)


def alignment_heads_of(model: Model, card: Mapping[str, Any]) -> AlignmentHeads:
    """Returns the alignment heads of one model: those its card names, or the default."""
    return heads_by_card(cross_layers(model), card, model.last_layer_aligns)


def heads_by_card(layers: int, card: Mapping[str, Any], last_layer_aligns: bool = False) -> AlignmentHeads:
    """Like `alignment_heads_of`, for a model of `layers` cross-attention layers, which need not be loaded."""
    view = card.get("attention_view")
    if layers and view and view["row"] == "predicting":
        return AlignmentHeads(((view["layer"], view["head"]),))
    return AlignmentHeads(((default_layer(layers, last_layer_aligns), None),) if layers else ())


def ensemble_alignment_heads(models: Sequence[Model]) -> AlignmentHeads:
    """Returns the default heads of each member; an ensemble's layers are those of its members, in order."""
    counts = [cross_layers(model) for model in models]
    offsets = [sum(counts[:i]) for i in range(len(counts))]
    members = [member for member in zip(models, counts, offsets, strict=True) if member[1]]
    return AlignmentHeads(
        tuple((offset + default_layer(count, model.last_layer_aligns), None) for model, count, offset in members)
    )


def cross_layers(model: Model) -> int:
    """Counts the cross-attention layers by running the model on an empty sentence."""
    import torch

    from regard.batch import flat_batch

    with torch.inference_mode():
        return len(model.attention(flat_batch([[]], [[]]).pad().to(model.device)).cross)


@dataclass(frozen=True)
class AlignmentView:
    """The attention maps to average, and the meaning of their rows. Falsy for a model without attention."""

    heads: AlignmentHeads
    row: RowMeaning = "predicting"

    def __bool__(self) -> bool:
        return bool(self.heads)


def alignment_view(bundle: Bundle, default: AlignmentHeads) -> AlignmentView:
    """Returns the view that the bundle's card names, else the default heads."""
    stored = bundle.known_card.attention_view
    if stored is None or not default:
        return AlignmentView(default)
    return AlignmentView(AlignmentHeads(((stored.layer, stored.head),)), stored.row)
