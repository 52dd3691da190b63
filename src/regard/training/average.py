"""Means of weights: an exponential moving mean over updates, or a plain mean of the last evaluations.

Both average out the noise of the last steps. The raw weights are trained; the mean is evaluated and saved.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from regard.models.base import Model, unique_tensors
from regard.recipe.train import TrainConfig

Weights = dict[str, Tensor]


class Average:
    """The mean that `config.average` selects; with "none" it is the model itself."""

    def __init__(self, model: Model, config: TrainConfig) -> None:
        self.model, self.config = model, config
        self.moving: Weights = _copy(model) if config.average == "ema" else {}
        self.snapshots: list[Weights] = []

    @torch.no_grad()
    def after_update(self, step: int) -> None:
        if self.config.average == "ema":
            decay = min(self.config.ema_decay, (1 + step) / (10 + step))  # short at the start of a run
            for name, weight in unique_tensors(self.model).items():
                self.moving[name].lerp_(weight, 1 - decay)

    def before_evaluation(self) -> None:
        if self.config.average == "last":
            self.snapshots = [*self.snapshots, _copy(self.model)][-self.config.average_last :]

    def weights(self) -> Weights:
        if self.config.average == "ema":
            return self.moving
        if self.config.average == "last" and self.snapshots:
            return {n: torch.stack([s[n] for s in self.snapshots]).mean(dim=0) for n in self.snapshots[0]}
        return {}

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Puts the mean into the model inside the `with`; its own weights are restored exactly afterwards."""
        mean = self.weights()
        own = _copy(self.model) if mean else {}
        _fill(self.model, mean)
        try:
            yield
        finally:
            _fill(self.model, own)

    def tensors(self) -> Weights:
        """Returns the tensors to store in a checkpoint, to resume exactly."""
        flat = {f"ema.{name}": tensor for name, tensor in self.moving.items()}
        for i, snapshot in enumerate(self.snapshots):
            flat |= {f"snapshot{i}.{name}": tensor for name, tensor in snapshot.items()}
        return flat

    def restore(self, flat: Weights) -> None:
        if self.config.average == "ema":
            self.moving = self._stored(flat, "ema.") or _copy(self.model)
        count = len({n.partition(".")[0] for n in flat if n.startswith("snapshot")})
        numbers = range(count if self.config.average == "last" else 0)
        self.snapshots = [self._stored(flat, f"snapshot{i}.") for i in numbers]

    def _stored(self, flat: Weights, prefix: str) -> Weights:
        return {n.removeprefix(prefix): t.to(self.model.device) for n, t in flat.items() if n.startswith(prefix)}


def _copy(model: Model) -> Weights:
    return {name: tensor.detach().clone() for name, tensor in unique_tensors(model).items()}


@torch.no_grad()
def _fill(model: Model, weights: Weights) -> None:
    own = unique_tensors(model)
    for name, tensor in weights.items():
        own[name].copy_(tensor)
