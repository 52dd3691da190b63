"""Weights in fewer bytes on disk: float16, or 8-bit integers with one scale per row.

    R rows   C columns

    s_r = max_c |W_rc| / 127, as a bfloat16        Q_rc = round(W_rc / s_r), from −127 to 127
    W'_rc = s_r Q_rc                               |W − W'| ≤ s_r / 2

A row has the weights of one output, or one embedding, so an outlier coarsens only its own row. A scale has 8
significant bits: rounding it moves the largest weight by less than half a step, so that it stays ±127; and its product
with a 7-bit integer is exact in float32. So storing a loaded model gives the same bytes. Biases and norms are vectors;
they are few and are not quantized. Clipping the largest weights for finer steps was measured: it lowers the error of
our models by a fiftieth, which is not worth a search.

This is about storage only: a loaded model is float32, and nothing computes in 8 bits.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from regard.bundle.folder import Storage
from regard.errors import BundleError

SCALE = ".scale"  # NAME has the integers, NAME.scale the scales
MAX_INT8 = 127


def to_int8(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """(R, …) → the integers (R, …) and the scales (R,). A row of zeros has the scale 0.

    >>> whole, scale = to_int8(torch.tensor([[1.0, -0.5, 0.0], [0.0, 0.0, 0.0]]))
    >>> whole.tolist(), [round(s, 4) for s in scale.tolist()]
    ([[127, -64, 0], [0, 0, 0]], [0.0079, 0.0])
    """
    rows = matrix.float().flatten(1)  # (R, C)
    scale = (rows.abs().amax(dim=1) / MAX_INT8).to(torch.bfloat16)  # (R,)
    step = torch.where(scale > 0, scale, 1.0).float()[:, None]  # (R, 1)
    whole = (rows / step).round().clamp(-MAX_INT8, MAX_INT8)
    return whole.to(torch.int8).view(matrix.shape), scale


def from_int8(whole: Tensor, scale: Tensor) -> Tensor:
    """(R, …) and (R,) → (R, …) in float32."""
    return whole * scale.float().view(-1, *(1 for _ in whole.shape[1:]))


def to_storage(weights: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """Converts tensors to storage; raises for a weight that this storage cannot represent."""
    if storage == "float32":
        return dict(weights)
    stored: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if storage == "int8" and tensor.dim() >= 2:
            stored[name], stored[name + SCALE] = to_int8(tensor)
            held = stored[name + SCALE]
        else:
            stored[name] = held = tensor.half() if storage == "float16" else tensor
        if not held.isfinite().all():
            raise BundleError(f"{name} has weights that {storage} cannot hold; store them as float32")
    return stored


def from_storage(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Converts stored tensors to float32; raises for NaN and infinity."""
    weights: dict[str, Tensor] = {}
    int8 = {name: tensor.dtype == torch.int8 for name, tensor in stored.items()}
    for name, tensor in stored.items():
        if int8[name]:
            scale = stored.get(name + SCALE)
            if scale is None or scale.shape != tensor.shape[:1]:
                raise BundleError(f"{name}{SCALE} must hold one scale for each row of {name}, but does not")
            _check_finite(name + SCALE, scale.float() * MAX_INT8)
            weights[name] = from_int8(tensor, scale)
        elif not is_scale(name, int8):
            weights[name] = tensor.float()
            _check_finite(name, weights[name])
    return weights


def is_scale(name: str, int8: Mapping[str, bool]) -> bool:
    """Whether a stored tensor has the scales of another, given which tensors are 8-bit integers."""
    return name.endswith(SCALE) and int8.get(name.removesuffix(SCALE), False)


def _check_finite(name: str, tensor: Tensor) -> None:
    if not tensor.isfinite().all():
        raise BundleError(f"{name} holds NaN or infinity")


@torch.no_grad()
def relative_errors(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> dict[str, float]:
    """Returns ‖W − W'‖ / ‖W‖ of every tensor; 0 where W is 0."""
    return {
        name: float((weights - after[name]).norm() / weights.norm().clamp_min(torch.finfo(torch.float32).tiny))
        for name, weights in before.items()
    }
