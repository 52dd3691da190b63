"""One update of the weights: the loss of a batch, forward and backward passes, clipping, the optimizer.

The sections [train] and [reward] of a recipe define the loss: likelihood (`loss.py`), with scheduled sampling or R-Drop
(`regularize.py`), with guided attention (`guided.py`), or rewards of whole translations (`reward.py`).

On a GPU, forward and backward of one batch shape are a CUDA graph: recorded once, then replayed without Python. The
kernels of a small model are so short that the host cannot launch them fast enough; a replay is one launch. It needs
batches of one shape (`data/rows.py`) and a pass that reads no number back from the GPU. Gradients are added to those
that exist, as by backward, so micro-batches and the optimizer stay outside the graph.

A batch that does not fit into memory is split into parts. Losses are sums, so the gradients of two halves add up to the
batch's own. Splitting costs time and changes nothing but the random numbers (dropout draws other masks) and, in a
mixture of experts, the balance loss, which is per part. A pass that fails leaves some of its gradients behind, so the
whole update is started again. The size of a part is kept with the run's progress: a resumed run splits as before. This
does not help a process that Linux kills for lack of memory.

Nothing here waits for a GPU: losses and norms are returned as tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.batch import Batch
from regard.device import is_out_of_memory, save_random_state
from regard.errors import RunError
from regard.models.base import Model, RowModel
from regard.recipe.train import RewardConfig, TrainConfig
from regard.training.checkpoint import Progress
from regard.training.distributed import ProcessGroup, accumulate_distributed, full_tensor
from regard.training.feed import PreparedBatch
from regard.training.guided import guided_loss
from regard.training.loss import projected_nll, smoothed_nll_fused
from regard.training.regularize import predictions, r_drop_fused, replace_with_predictions
from regard.training.reward import reward_loss
from regard.training.schedule import sampling_probability

WARM_UP = 3  # passes before recording, for compilation, workspaces and caches


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
                batch = replace_with_predictions(batch, predictions(model, batch), probability)
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


class CudaGraphPass:
    """A CUDA graph of `work(batch, scale)`, which calls backward and returns a loss."""

    def __init__(self, work: Callable[[Batch, Tensor], Tensor], batch: Batch, parameters: Sequence[Tensor]) -> None:
        self.batch = batch.clone()
        self.scale = torch.ones((), device=batch.src.device)
        generator = torch.cuda.default_generators[batch.src.device.index or 0]
        rng_state = generator.get_state()
        gradients = [None if p.grad is None else p.grad.clone() for p in parameters]  # of earlier micro-batches
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                work(self.batch, self.scale)
        torch.cuda.current_stream().wait_stream(stream)
        for parameter, before in zip(parameters, gradients, strict=True):  # their addresses are fixed from here on
            parameter.grad = torch.zeros_like(parameter) if before is None else before
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = work(self.batch, self.scale)
        generator.set_state(rng_state)  # the warm-up passes must not change what is drawn later

    def __call__(self, batch: Batch, scale: float | Tensor) -> Tensor:
        for own, given in zip(self.batch.tensors(), batch.tensors(), strict=True):
            own.copy_(given, non_blocking=True)
        self.scale.fill_(scale)
        self.graph.replay()
        return self.loss.clone()


class Update:
    """Callable: (micro-batches) → (loss per target token, norm of the gradient before clipping). With several processes
    the loss of the update is the mean of what each returns."""

    def __init__(
        self, loss: BatchLoss, optimizer: torch.optim.Optimizer, objective: nn.Module, group: ProcessGroup
    ) -> None:
        self.loss, self.optimizer, self.objective, self.group = loss, optimizer, objective, group
        self.parameters = [p for p in loss.model.parameters() if p.requires_grad]
        self.cuda_graph: CudaGraphPass | None = None
        self.probability = torch.zeros((), device=loss.device)  # of scheduled sampling; a CUDA graph reads it here

    def __call__(self, micro_batches: Sequence[PreparedBatch]) -> tuple[Tensor, Tensor]:
        self.probability.fill_(sampling_probability(self.loss.progress.step + 1, self.loss.config))
        scale = self.group.loss_scale(sum(prepared.tokens for prepared in micro_batches), self.loss.device)
        loss = self.accumulate_gradients([prepared.batch for prepared in micro_batches], scale)
        return loss, self.apply()

    def accumulate_gradients(self, batches: Sequence[Batch], scale: float | Tensor) -> Tensor:
        """Adds the gradients of `scale` × the batches' loss, which is returned; batches that do not fit into memory are
        split."""
        if self.group.size > 1:
            return accumulate_distributed(lambda batch: self.learn(batch, scale), batches, self.objective)
        return accumulate_within_memory(
            lambda part: self.learn(part, scale), batches, self.zero_grad, self.loss.progress
        )

    def apply(self) -> Tensor:
        """Clips the gradients, steps the optimizer and zeroes them; returns their norm before clipping."""
        limit = self.loss.config.clip
        norm = full_tensor(torch.nn.utils.clip_grad_norm_(self.parameters, limit if limit > 0 else float("inf")))
        self.optimizer.step()
        self.zero_grad()
        return norm

    def zero_grad(self) -> None:
        self.optimizer.zero_grad(set_to_none=self.cuda_graph is None)  # a CUDA graph writes to fixed addresses

    def learn(self, batch: Batch, scale: float | Tensor) -> Tensor:
        """Forward and backward of `scale` × the batch's summed loss, which is returned. Batches of one shape on one GPU
        run as a CUDA graph; communication between processes cannot be part of one."""
        single = self.group.size == 1
        if batch.shared is not None and batch.src.is_cuda and single and not self.loss.reward.has_rewards:
            width = batch.src.shape[1]
            if self.cuda_graph is None or width > self.cuda_graph.batch.src.shape[1]:  # an epoch with longer sentences
                self.cuda_graph = CudaGraphPass(self.run_pass, batch, self.parameters)
            if batch.src.shape == self.cuda_graph.batch.src.shape:  # a part of a batch has another
                return self.cuda_graph(batch, scale)
        return self.run_pass(batch, torch.as_tensor(scale, device=batch.src.device))

    def run_pass(self, batch: Batch, scale: Tensor) -> Tensor:
        with self.compilation():
            loss: Tensor = self.objective(self.loss, batch, self.probability) * scale
        loss.backward()
        return loss.detach()

    def compilation(self) -> AbstractContextManager[Any]:
        """Returns a context that, without `train.compile`, runs layers marked for compilation uncompiled."""
        return nullcontext() if self.loss.config.compile else torch.compiler.set_stance("force_eager")


# ── batches that do not fit into memory ─────────────────────────────────────────────────────────────────────────────


def positions(batch: Batch) -> int:
    """Returns the positions of both sides, padding included, to which the memory of a batch is roughly proportional."""
    return batch.src.numel() + batch.tgt_in.numel()


def split_batch(batch: Batch, most: int | None) -> list[Batch]:
    """Halves the rows until each part has at most `most` positions (None: any number) or is a single row."""
    if most is None or positions(batch) <= most or len(batch) == 1:
        return [batch]
    half = (len(batch) + 1) // 2
    return [*split_batch(batch.rows(slice(None, half)), most), *split_batch(batch.rows(slice(half, None)), most)]


def accumulate_within_memory(
    learn: Callable[[Batch], Tensor], batches: Sequence[Batch], zero_grad: Callable[[], None], progress: Progress
) -> Tensor:
    """Returns the sum of `learn`, which accumulates gradients, over all batches, split where memory requires it."""
    restore_random = save_random_state(batches[0].src.device)
    while True:
        failed, losses = None, []
        for part in [part for batch in batches for part in split_batch(batch, progress.room)]:
            try:
                losses.append(learn(part))
            except (RuntimeError, MemoryError) as problem:
                if not is_out_of_memory(problem):
                    raise
                failed, reason = part, " ".join(str(problem).split())[:150]
                break  # the exception holds the tensors of the failed pass; they are freed when it is gone
        if failed is None:
            return torch.stack(losses).sum()
        losses.clear()
        zero_grad()
        if len(failed) == 1:
            raise RunError(
                f"out of memory even with one row of {failed.src.shape[1]} and {failed.tgt_in.shape[1]} tokens; use a "
                f"smaller model (model.preset) or shorter sentences (data.max_length) ({reason})"
            )
        half = (len(failed) + 1) // 2
        progress.room = positions(failed.rows(slice(None, half)))
        restore_random()  # as if the largest part had been known from the start
        if failed.src.is_cuda:
            torch.cuda.empty_cache()
