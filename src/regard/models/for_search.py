"""Which model searches fastest: a twin of a model, made for the device, or the model itself.

On a GPU a Transformer has a twin whose steps are recorded (`transformer_recorded.py`). On a CPU it has one whose
matrices lie column by column: with few rows their products are then up to 1.3 times as fast (docs/log.md).

A twin holds a copy of the weights, in the precision asked for. It is made once for a model, and made again when the
model's weights have changed, or its hooks, such as those that cut a head (`explain/cutting.py`): a copy has the hooks
of its model at that time. A recorded twin has none, so on a GPU a model with hooks is searched with itself.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import nn

from regard.layers.has_triton import HAS_TRITON
from regard.models.base import Model
from regard.models.transformer import Transformer
from regard.models.transformer_recorded import ROWS, RecordedTransformer

Precision = Literal["auto", "float32", "bfloat16"]  # of a GPU; a CPU computes in float32
M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True)
class _Twin:
    model: Model
    asked: tuple[Precision, int | None]
    made_of: tuple[tuple[int, int], ...]
    hooks: tuple[tuple[int, int], ...]
    trainings: int


_twins: WeakKeyDictionary[Model, _Twin] = WeakKeyDictionary()


def for_search(model: Model, precision: Precision = "auto", rows: int | None = None) -> Model:
    """What to search with in place of `model`; on a GPU `rows` hypotheses at a time. Both give the same translations
    but for rounding."""
    if not isinstance(model, Transformer):
        return model
    weights = tuple((p.data_ptr(), p._version) for p in model.parameters())
    twin = _twins.get(model)
    state = ((precision, rows), weights, hooks_of(model), model.trainings)
    if twin is None or (twin.asked, twin.made_of, twin.hooks, twin.trainings) != state:
        twin = _Twin(_twin_of(model, precision, rows), *state)
        if twin.model is not model:  # else the entry would keep the model alive
            _twins[model] = twin
    return twin.model


def hooks_of(model: nn.Module) -> tuple[tuple[int, int], ...]:
    """Where a model has hooks, and which. A twin keeps the hooks that it was made with, so no other has their ids."""
    return tuple(
        (place, id(hook))
        for place, module in enumerate(model.modules())
        for hook in (*module._forward_pre_hooks.values(), *module._forward_hooks.values())
    )


def _twin_of(model: Transformer, precision: Precision, rows: int | None) -> Model:
    if model.device.type == "cpu":
        return column_by_column(model)
    if not HAS_TRITON or model.device.type != "cuda" or model.config.experts or hooks_of(model):
        return model
    narrow = precision == "bfloat16" or (precision == "auto" and torch.cuda.is_bf16_supported(False))
    return RecordedTransformer(model, torch.bfloat16 if narrow else torch.float32, rows or ROWS)


def column_by_column(model: M) -> M:
    """A copy whose linear maps have their matrices column by column in memory; the numbers are the same. A matrix that
    is an embedding too is there twice, since words are looked up row by row."""
    twin = copy.deepcopy(model).eval().requires_grad_(False)
    for module in twin.modules():
        if type(module) is nn.Linear:
            module.weight = nn.Parameter(module.weight.T.contiguous().T, requires_grad=False)
    return twin
