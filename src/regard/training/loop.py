"""The training loop, one page, read from top to bottom.

    set the rate → micro-batches: forward, loss, backward → clip → update → mean → log → evaluate → save

Loss is the summed NLL over target tokens ÷ their number over all micro-batches. Everything the next update depends on
is in the checkpoint, so an interrupted run goes on exactly where it was.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from regard.batch import Batch
from regard.bundle import Bundle
from regard.data.batching import Batches
from regard.decode.beam import DecodeConfig
from regard.errors import RunError
from regard.recipe import Recipe
from regard.training.average import Average
from regard.training.checkpoint import CURRENT, Progress, save_checkpoint
from regard.training.cost import Cost, peak_bytes
from regard.training.evaluate import HeldOut, evaluate
from regard.training.folder import RunFolder, StopRequest
from regard.training.log import RunLog
from regard.training.loss import smoothed_nll_fused
from regard.training.optim import clip_gradient, set_rate
from regard.training.schedule import learning_rate

Ending = Literal["finished", "no improvement", "out of time", "out of operations", "interrupted"]


@dataclass
class Job:
    """All the parts of a run, put together by `run.py`."""

    recipe: Recipe
    folder: RunFolder
    bundle: Bundle
    batches: Batches
    dev: HeldOut | None
    optimizer: torch.optim.Optimizer
    average: Average
    progress: Progress
    data: str  # fingerprint
    autocast: torch.autocast


def train_loop(job: Job, log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model = job.recipe.train, job.progress, job.bundle.model
    cost = Cost(model)
    model.train()
    while progress.step < config.steps:
        began = time.monotonic()
        step = progress.step + 1
        rate = learning_rate(step, config)
        set_rate(job.optimizer, rate)

        packed = [next(job.batches) for _ in range(config.accumulate)]
        micro = [batch.pad().to(model.device) for batch in packed]
        tokens = sum(batch.target_tokens for batch in micro)
        loss = 0.0
        for batch in micro:
            part = batch_loss(job, batch) / tokens
            part.backward()
            loss += float(part.detach())
        norm = clip_gradient(model, config.clip)
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise diverged(job, step, loss, norm, rate)
        job.optimizer.step()
        job.optimizer.zero_grad(set_to_none=True)
        job.average.after_update(step)

        seconds = time.monotonic() - began
        progress.step, progress.tokens, progress.seconds = (
            step,
            progress.tokens + tokens,
            progress.seconds + seconds,
        )
        progress.flops += sum(cost.of(batch) for batch in packed)
        progress.epoch, progress.index = job.batches.epoch, job.batches.index
        progress.loss = loss if progress.loss is None else 0.95 * progress.loss + 0.05 * loss
        log.update(step, progress.loss, rate, tokens / seconds)
        if step % config.log_every == 0:
            log.train(
                step,
                loss=loss,
                rate=rate,
                norm=norm,
                tokens=progress.tokens,
                flops=progress.flops,
                tokens_per_second=tokens / seconds,
            )

        ending = ends(job, stop)
        last = step == config.steps
        if step % config.eval_every == 0 or last:
            assess(job, log)
            ending = ending or ends(job, stop)
        if step % config.save_every == 0 or last or ending:
            save(job, log)
        if ending:
            return ending
    return "finished"


def batch_loss(job: Job, batch: Batch) -> Tensor:
    """Summed over the batch's target tokens. A function of its own, so that the logits do not outlive it."""
    with job.autocast:
        logits = job.bundle.model(batch)
    return smoothed_nll_fused(logits, batch.tgt_out, batch.tgt_mask, job.recipe.train.label_smoothing)


def ends(job: Job, stop: StopRequest) -> Ending | None:
    config, progress = job.recipe.train, job.progress
    if stop.asked:
        return "interrupted"
    if config.minutes is not None and progress.seconds > 60 * config.minutes:
        return "out of time"
    if config.flops is not None and progress.flops >= config.flops:
        return "out of operations"
    if config.patience and progress.stale >= config.patience:
        return "no improvement"
    return None


def assess(job: Job, log: RunLog) -> None:
    """Evaluate the averaged weights on the development set; keep them as `best` if they are."""
    job.average.before_evaluation()
    if job.dev is None:
        return
    progress, recipe = job.progress, job.recipe
    with job.average.in_place():
        greedy = DecodeConfig(beam=1)
        found = evaluate(job.bundle, job.dev, greedy, recipe.data.max_length, recipe.train.batch_tokens)
        better = found.bleu.score > progress.best_bleu
        progress.stale = 0 if better else progress.stale + 1
        if better:
            progress.best_bleu, progress.best_step = found.bleu.score, progress.step
            progress.signature = found.bleu.signature
            describe_bundle(job)
            job.bundle.save(job.folder.best)
    log.dev(
        progress.step,
        better,
        loss=found.loss,
        perplexity=found.perplexity,
        bleu=found.bleu.score,
        signature=found.bleu.signature,
        train_loss=progress.loss,
    )


def save(job: Job, log: RunLog) -> None:
    """The whole state for going on, then `last` as a translator of its own."""
    log.flush()
    save_checkpoint(
        job.folder.path,
        job.progress,
        job.recipe.to_toml(),
        job.data,
        job.bundle.model,
        job.optimizer,
        job.average,
    )
    with job.average.in_place():
        describe_bundle(job)
        job.bundle.save(job.folder.last)


def describe_bundle(job: Job) -> None:
    """The card: how the weights came to be."""
    progress = job.progress
    job.bundle.card |= {
        "recipe": job.recipe.tables(),
        "data": job.data,
        "step": progress.step,
        "target_tokens": progress.tokens,
        "training_flops": progress.flops,
        "training_seconds": round(progress.seconds, 1),
        "parameters": job.bundle.model.parameter_count(),
        "peak_bytes": peak_bytes(job.bundle.model.device),
    }
    if progress.best_step:
        job.bundle.card["dev_bleu"] = {
            "score": progress.best_bleu,
            "step": progress.best_step,
            "signature": progress.signature,
        }


def diverged(job: Job, step: int, loss: float, norm: float, rate: float) -> RunError:
    what = f"training diverged at step {step}: loss {loss}, gradient norm {norm}"
    flag = f"--learning-rate {rate / 3:.2g}"
    if not (job.folder.path / CURRENT).exists():
        return RunError(f"{what}, before the first checkpoint; start again in another folder with a lower rate: {flag}")
    return RunError(
        f"{what}; the last checkpoint is untouched. Try a lower rate or a longer warm-up: "
        f"regard resume {job.folder.path} {flag} --override"
    )
