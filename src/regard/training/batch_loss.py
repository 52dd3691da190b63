"""The loss of one batch, as the sections [train] and [reward] of a recipe define it.

likelihood (`loss.py`), with scheduled sampling or R-Drop (`regularise.py`), with guided attention (`guided.py`),
or rewards of whole translations (`reward.py`)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.batch import Batch
from regard.models.base import Model, RowModel
from regard.recipe.reward import RewardConfig
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import Progress
from regard.training.guided import guided_loss
from regard.training.loss import projected_nll, smoothed_nll_fused
from regard.training.regularise import predictions, r_drop_fused, with_own_words
from regard.training.reward import reward_loss


@dataclass
class BatchLoss:
    """Callable: (batch, probability of scheduled sampling) → loss summed over the batch. The logits are freed when it
    returns."""

    model: Model
    config: TrainConfig
    reward: RewardConfig
    progress: Progress  # training for rewards adds its operations and mean reward
    autocast: torch.autocast

    @property
    def device(self) -> torch.device:
        return self.model.device

    def __call__(self, batch: Batch, probability: Tensor) -> Tensor:
        config, model, smoothing = self.config, self.model, self.config.label_smoothing
        if self.reward.has_rewards:
            return self.of_rewards(batch)
        if config.sampling_rate:
            with self.autocast:
                batch = with_own_words(batch, predictions(model, batch), probability)
        if config.r_drop:
            with self.autocast:
                logits = model(batch.twice())
            return r_drop_fused(logits, batch.tgt_out, batch.tgt_mask, smoothing, config.r_drop)
        if batch.shared is not None:
            assert isinstance(model, RowModel), "no other model is given such batches"
            with self.autocast:
                states = model.states(batch)
                return projected_nll(states, model.output_matrix, batch.tgt_out, batch.tgt_mask, smoothing)
        with self.autocast:
            logits = model(batch)
        loss = smoothed_nll_fused(logits, batch.tgt_out, batch.tgt_mask, smoothing)
        if batch.links is not None:
            with self.autocast:
                loss = loss + guided_loss(model, batch, config)
        return loss

    def of_rewards(self, batch: Batch) -> Tensor:
        progress = self.progress
        with self.autocast:
            found = reward_loss(self.model, batch, self.reward, self.config.label_smoothing)
        progress.flops += found.flops
        progress.reward = found.reward if progress.reward is None else 0.95 * progress.reward + 0.05 * found.reward
        return found.loss
