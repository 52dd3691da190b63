"""One update of the weights: micro-batches forward and backward, clipping, the optimizer. Nothing here waits for a GPU:
losses and norms are tensors, and whoever wants numbers reads them later.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.batch import Batch
from regard.models.base import RowModel
from regard.training.capture import Captured
from regard.training.distributed import learn_together, whole
from regard.training.feed import Ready
from regard.training.guided import guided_loss
from regard.training.job import Job
from regard.training.loss import projected_nll, smoothed_nll_fused
from regard.training.memory import learn_within_memory
from regard.training.regularise import predictions, r_drop_fused, with_own_words
from regard.training.reward import reward_loss
from regard.training.schedule import sampling_chance


class Update:
    """Callable: (micro-batches) → (loss per target token, norm of the gradient before clipping). With several processes
    the loss is the mean of what each returns."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.parameters = [p for p in job.bundle.model.parameters() if p.requires_grad]
        self.captured: Captured | None = None
        self.chance = torch.zeros((), device=job.bundle.model.device)  # of scheduled sampling, where a graph finds it
        torch.compiler.set_stance("default" if job.recipe.train.compile else "force_eager")

    def __call__(self, micro: Sequence[Ready]) -> tuple[Tensor, Tensor]:
        job = self.job
        self.chance.fill_(sampling_chance(job.progress.step + 1, job.recipe.train))
        scale = job.world.scale(sum(ready.tokens for ready in micro), self.chance.device)
        loss = self.learn_from([ready.batch for ready in micro], scale)
        return loss, self.apply()

    def learn_from(self, batches: Sequence[Batch], scale: float | Tensor) -> Tensor:
        """Gradients of `scale` times the batches' loss, which is returned, as far as memory goes at a time."""
        if self.job.world.size > 1:
            return learn_together(lambda batch: self.learn(batch, scale), batches, self.job.objective)
        return learn_within_memory(lambda part: self.learn(part, scale), batches, self.forget, self.job.progress)

    def apply(self) -> Tensor:
        """Gradients become an update; their norm before clipping."""
        job = self.job
        limit = job.recipe.train.clip
        norm = whole(torch.nn.utils.clip_grad_norm_(self.parameters, limit if limit > 0 else float("inf")))
        job.optimizer.step()
        self.forget()
        return norm

    def forget(self) -> None:
        self.job.optimizer.zero_grad(set_to_none=self.captured is None)  # a recorded pass has them at fixed places

    def learn(self, batch: Batch, scale: float | Tensor) -> Tensor:
        """Forward and backward of `scale` times the batch's summed loss, which is returned."""
        alone = self.job.world.size == 1  # what processes exchange is not recorded
        if batch.shared is None or not batch.src.is_cuda or self.job.recipe.reward.has_rewards or not alone:
            return self.pass_through(batch, torch.as_tensor(scale, device=batch.src.device))
        width = batch.src.shape[1]
        if self.captured is None or width > self.captured.batch.src.shape[1]:  # an epoch with longer sentences
            self.captured = Captured(self.pass_through, batch, self.parameters)
        if batch.src.shape != self.captured.batch.src.shape:  # a part of a batch
            return self.pass_through(batch, torch.as_tensor(scale, device=batch.src.device))
        return self.captured(batch, scale)

    def pass_through(self, batch: Batch, scale: Tensor) -> Tensor:
        loss: Tensor = self.job.objective(batch_loss, self.job, batch, self.chance) * scale
        loss.backward()
        return loss.detach()


def batch_loss(job: Job, batch: Batch, chance: Tensor) -> Tensor:
    """Summed over the batch. A function of its own, so that the logits do not outlive it. Rewards cost more than the
    batch itself tells; that and their mean go into the progress here."""
    recipe, progress, model = job.recipe, job.progress, job.bundle.model
    smoothing = recipe.train.label_smoothing
    if recipe.reward.has_rewards:
        with job.autocast:
            found = reward_loss(model, batch, recipe.reward, smoothing)
        progress.flops += found.flops
        progress.reward = found.reward if progress.reward is None else 0.95 * progress.reward + 0.05 * found.reward
        return found.loss
    if recipe.train.sampling_rate:
        with job.autocast:
            batch = with_own_words(batch, predictions(model, batch), chance)
    if recipe.train.r_drop:
        with job.autocast:
            logits = model(batch.twice())
        return r_drop_fused(logits, batch.tgt_out, batch.tgt_mask, smoothing, recipe.train.r_drop)
    if batch.shared is not None:
        assert isinstance(model, RowModel), "no other model is given such batches"
        with job.autocast:
            states = model.states(batch)
            return projected_nll(states, model.output_matrix, batch.tgt_out, batch.tgt_mask, smoothing)
    with job.autocast:
        logits = model(batch)
    loss = smoothed_nll_fused(logits, batch.tgt_out, batch.tgt_mask, smoothing)
    if batch.links is not None:
        with job.autocast:
            loss = loss + guided_loss(model, batch, recipe.train)
    return loss
