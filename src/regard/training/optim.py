"""AdamW with the paper's moments, Muon beside it, or Adafactor; matrices decay, biases and norms do not.

Adafactor (Shazeer and Stern 2018) keeps one row and one column of second moments per matrix and no first moments: about
a hundredth of AdamW's memory. Its rate is relative to the size of the weights; 0.01 to 0.03 is usual. Torch's
implementation reads two numbers per parameter, so on a GPU the host waits at every update.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from regard.models.base import Model
from regard.recipe.train import TrainConfig
from regard.training.muon import Muon


def make_optimizer(model: Model, config: TrainConfig) -> torch.optim.Optimizer:
    embedded = embedding_parameters(model)
    embeddings = [p for p in model.parameters() if p.dim() >= 2 and id(p) in embedded]
    matrices = [p for p in model.parameters() if p.dim() >= 2 and id(p) not in embedded]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    others: list[dict[str, Any]] = [
        {"params": embeddings, "weight_decay": config.weight_decay, "factor": config.embedding_rate},
        {"params": vectors, "weight_decay": 0.0},
    ]
    others = [group for group in others if group["params"]]
    if config.optimizer == "muon":
        return Muon(matrices, others, config.learning_rate, config.weight_decay)
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, *others]
    if config.optimizer == "adafactor":
        # Torch clamps √v, not v, at the first number; its default of 1e-7 is more than most of our gradients.
        return torch.optim.Adafactor(groups, lr=config.learning_rate, eps=(1e-15, 1e-3))
    return torch.optim.AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def embedding_parameters(model: Model) -> set[int]:
    """The ids of all parameters of embeddings: of the two tables that every architecture has, whatever their class, and
    of further tables, as of learned positions."""
    tables: list[Any] = [m for m in model.modules() if isinstance(m, nn.Embedding)]
    tables += [model.source_embedding, model.target_embedding]
    return {id(p) for table in tables for p in table.parameters()}


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)
