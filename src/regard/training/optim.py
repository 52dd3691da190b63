"""AdamW with the paper's moments, or Muon beside it; matrices decay, biases and norms do not. Gradient clipping."""

from __future__ import annotations

import torch
from torch import nn

from regard.models.base import Model
from regard.recipe import TrainConfig
from regard.training.muon import Muon


def make_optimizer(model: Model, config: TrainConfig) -> torch.optim.Optimizer:
    tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    vectors = [p for p in model.parameters() if p.dim() < 2]
    words = [p for p in model.parameters() if p.dim() >= 2 and id(p) in tables]
    between = [p for p in model.parameters() if p.dim() >= 2 and id(p) not in tables]
    if config.optimizer == "muon":
        rest = [{"params": words, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
        return Muon(between, rest, config.learning_rate, config.weight_decay)
    groups = [
        {"params": words + between, "weight_decay": config.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def clip_gradient(model: Model, limit: float) -> float:
    """The gradient's norm before clipping; a limit of 0 only measures."""
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit if limit > 0 else float("inf"))
    return float(norm)
