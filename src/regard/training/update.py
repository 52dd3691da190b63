"""One update of the weights: forward and backward passes over micro-batches, clipping, the optimizer.

Nothing here waits for a GPU: losses and norms are returned as tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.training.batch_loss import BatchLoss
from regard.training.cuda_graph import RecordedPass
from regard.training.distributed import World, gather_shards, learn_together
from regard.training.feed import Ready
from regard.training.memory import learn_within_memory
from regard.training.schedule import sampling_probability


class Update:
    """Callable: (micro-batches) → (loss per target token, norm of the gradient before clipping). With several processes
    the loss of the update is the mean of what each returns."""

    def __init__(self, loss: BatchLoss, optimizer: torch.optim.Optimizer, objective: nn.Module, world: World) -> None:
        self.loss, self.optimizer, self.objective, self.world = loss, optimizer, objective, world
        self.parameters = [p for p in loss.model.parameters() if p.requires_grad]
        self.recorded: RecordedPass | None = None
        self.probability = torch.zeros((), device=loss.device)  # of scheduled sampling; a recorded pass reads it here

    def __call__(self, micro: Sequence[Ready]) -> tuple[Tensor, Tensor]:
        self.probability.fill_(sampling_probability(self.loss.progress.step + 1, self.loss.config))
        scale = self.world.scale(sum(ready.tokens for ready in micro), self.loss.device)
        loss = self.learn_from([ready.batch for ready in micro], scale)
        return loss, self.apply()

    def learn_from(self, batches: Sequence[Batch], scale: float | Tensor) -> Tensor:
        """Add the gradients of `scale` × the batches' loss, which is returned; batches that do not fit into memory are
        split."""
        if self.world.size > 1:
            return learn_together(lambda batch: self.learn(batch, scale), batches, self.objective)
        return learn_within_memory(lambda part: self.learn(part, scale), batches, self.zero_grad, self.loss.progress)

    def apply(self) -> Tensor:
        """Clip the gradients, step the optimizer and zero them; returns their norm before clipping."""
        limit = self.loss.config.clip
        norm = gather_shards(torch.nn.utils.clip_grad_norm_(self.parameters, limit if limit > 0 else float("inf")))
        self.optimizer.step()
        self.zero_grad()
        return norm

    def zero_grad(self) -> None:
        self.optimizer.zero_grad(set_to_none=self.recorded is None)  # a recorded pass writes to fixed addresses

    def learn(self, batch: Batch, scale: float | Tensor) -> Tensor:
        """Forward and backward of `scale` × the batch's summed loss, which is returned."""
        alone = self.world.size == 1  # communication between processes is not recorded
        if batch.shared is None or not batch.src.is_cuda or self.loss.reward.has_rewards or not alone:
            return self.run_pass(batch, torch.as_tensor(scale, device=batch.src.device))
        width = batch.src.shape[1]
        if self.recorded is None or width > self.recorded.batch.src.shape[1]:  # an epoch with longer sentences
            self.recorded = RecordedPass(self.run_pass, batch, self.parameters)
        if batch.src.shape != self.recorded.batch.src.shape:  # a part of a batch
            return self.run_pass(batch, torch.as_tensor(scale, device=batch.src.device))
        return self.recorded(batch, scale)

    def run_pass(self, batch: Batch, scale: Tensor) -> Tensor:
        with self.compilation():
            loss: Tensor = self.objective(self.loss, batch, self.probability) * scale
        loss.backward()
        return loss.detach()

    def compilation(self) -> AbstractContextManager[Any]:
        """Without `train.compile`, layers marked for compilation run as they are, here and nowhere else."""
        return nullcontext() if self.loss.config.compile else torch.compiler.set_stance("force_eager")
