"""Which model searches fastest: a model's own twin for a GPU, where there is one, or the model itself.

A twin holds a copy of the weights in the precision asked for. It is made once for a model and made again when the
model's weights have changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import torch

from regard.layers.cache_kernel import HAS_TRITON
from regard.models.base import Model
from regard.models.transformer import Transformer
from regard.models.transformer_recorded import ROWS, RecordedTransformer

Precision = Literal["auto", "float32", "bfloat16"]
"""Of searching on a GPU: "auto" is bfloat16 where the GPU computes in it. On a CPU it is float32."""


@dataclass(frozen=True)
class _Twin:
    model: Model
    dtype: torch.dtype
    rows: int
    made_of: tuple[tuple[int, int], ...]


_twins: WeakKeyDictionary[Model, _Twin] = WeakKeyDictionary()


def for_search(model: Model, precision: Precision = "auto", rows: int | None = None) -> Model:
    """What to search with in place of `model`, `rows` hypotheses at a time. Both give the same translations but for
    rounding."""
    if not (HAS_TRITON and model.device.type == "cuda" and isinstance(model, Transformer)) or model.config.experts:
        return model
    narrow = precision == "bfloat16" or (precision == "auto" and torch.cuda.is_bf16_supported(False))
    dtype = torch.bfloat16 if narrow else torch.float32
    weights = tuple((p.data_ptr(), p._version) for p in model.parameters())
    twin = _twins.get(model)
    if twin is None or (twin.dtype, twin.rows, twin.made_of) != (dtype, rows or ROWS, weights):
        twin = _Twin(RecordedTransformer(model, dtype, rows or ROWS), dtype, rows or ROWS, weights)
        _twins[model] = twin
    return twin.model
