"""AdamW with the paper's moments, Muon beside it, or Adafactor; matrices decay, biases and norms do not.

Adafactor (Shazeer and Stern 2018) keeps a row and a column of second moments for each matrix and no first ones: some
hundredth of AdamW's memory. Its rate is relative to the size of the weights it moves: 0.01 to 0.03 is usual. Torch's
asks for two numbers per parameter, so on a GPU the host waits at every update.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from regard.models.base import Model
from regard.recipe.train import TrainConfig
from regard.training.muon import Muon


def make_optimizer(model: Model, config: TrainConfig) -> torch.optim.Optimizer:
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    words = [p for p in model.parameters() if p.dim() >= 2 and id(p) in tables]
    between = [p for p in model.parameters() if p.dim() >= 2 and id(p) not in tables]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    rest: list[dict[str, Any]] = [
        {"params": words, "weight_decay": config.weight_decay, "factor": config.embedding_rate},
        {"params": vectors, "weight_decay": 0.0},
    ]
    rest = [group for group in rest if group["params"]]
    if config.optimizer == "muon":
        return Muon(between, rest, config.learning_rate, config.weight_decay)
    groups = [{"params": between, "weight_decay": config.weight_decay}, *rest]
    if config.optimizer == "adafactor":
        # Torch holds √v, not v, above the first number; its own 1e-7 is more than most of our gradients are.
        return torch.optim.Adafactor(groups, lr=config.learning_rate, eps=(1e-15, 1e-3))
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)
