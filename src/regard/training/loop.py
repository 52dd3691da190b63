"""The training loop.

    set the rate → update (`update.py`) → average → log → evaluate → save

Loss is the summed NLL over target tokens ÷ their number over all micro-batches. Everything the next update depends on
is in the checkpoint, so a resumed run continues exactly. The host queues work for a GPU ahead of time; losses are read
only where they are logged or something is saved.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.card import DecodeConfig
from regard.errors import RunError
from regard.metrics.bleu import BleuScore
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import CURRENT, Progress, save_checkpoint
from regard.training.cost import FlopCounter, peak_bytes
from regard.training.distributed import ProcessGroup, gather_bundle
from regard.training.dry_run import try_largest_batch
from regard.training.evaluate import HeldOut, evaluate
from regard.training.feed import PreparedBatch, feed
from regard.training.folder import StopRequest
from regard.training.job import Job
from regard.training.log import RunLog, Throughput
from regard.training.optim import set_rate
from regard.training.regularize import forward_passes
from regard.training.schedule import is_evaluation, is_regular_evaluation, learning_rate, schedule_position

Ending = Literal["finished", "no improvement", "out of time", "out of operations", "interrupted"]
SPENT = ("out of time", "out of operations")
RESUMABLE = ("interrupted", *SPENT)


def train_loop(job: Job, log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model, data = job.config, job.progress, job.bundle.model, job.data
    if progress.step >= config.steps:  # the process was killed between its last checkpoint and saving `last`
        save_last(job, None)
        return "finished"
    model.train()
    with closing(feed(data.batches, FlopCounter(model, forward_passes(config)), model.device, data.guide)) as batches:
        try_largest_batch(job.update, data, log.print)
        return make_updates(job, batches, log, stop)


def make_updates(job: Job, batches: Iterator[PreparedBatch], log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model = job.config, job.progress, job.bundle.model
    on_gpu = model.device.type == "cuda"  # there, reading a number waits for all queued work
    window = UpdateWindow(progress)
    while progress.step < config.steps:
        step = progress.step + 1
        rate = learning_rate(step, config, schedule_position(step, progress.seconds, progress.flops, config))
        set_rate(job.update.optimizer, rate)
        micro_batches = [next(batches) for _ in range(config.accumulate)]
        loss, norm = job.update(micro_batches)
        job.average.after_update(step)

        tokens, last = sum(prepared.tokens for prepared in micro_batches), micro_batches[-1]
        window.add(loss, norm, tokens)
        progress.step, progress.tokens = step, progress.tokens + tokens
        progress.flops += sum(prepared.flops for prepared in micro_batches)
        progress.epoch, progress.index, progress.width = last.epoch, last.index, last.width

        logs, evaluates = step % config.log_every == 0, is_evaluation(step, config)
        saves = step % config.save_every == 0 or step == config.steps
        if on_gpu and not (logs or evaluates or saves or (stop.reason and job.group.size == 1)):
            continue
        throughput = window.read(progress, job.group)
        if not throughput.is_finite:
            raise divergence_error(job.folder.path, throughput, rate)
        log.show(step, throughput.smoothed_loss, throughput.tokens_per_second)
        if logs:
            log.write_update(throughput, rate)
        ending = stop_reason(job, stop)
        bleu = None
        if evaluates or (ending in SPENT and config.schedule_by == "budget"):  # the rate is 0: final weights
            bleu = evaluate_dev(job, log)
            ending = ending or stop_reason(job, stop)
        if saves or ending:
            save(job, log, bleu)
        if ending:
            return ending
        window = UpdateWindow(progress)  # evaluations and checkpoints are not training time
    return "finished"


class UpdateWindow:
    """Updates whose losses and norms have not been read yet."""

    def __init__(self, progress: Progress) -> None:
        self.began, self.tokens = time.monotonic(), 0
        self.losses: list[Tensor] = []
        self.norms: list[Tensor] = []
        self.tokens_before, self.flops_before = progress.tokens, progress.flops

    def add(self, loss: Tensor, norm: Tensor, tokens: int) -> None:
        self.losses.append(loss)
        self.norms.append(norm)
        self.tokens += tokens

    def read(self, progress: Progress, group: ProcessGroup) -> Throughput:
        """Reads the losses and norms, and adds time and loss to the progress. Stops at the first update whose loss or
        norm is not finite."""
        losses, norms = (torch.stack(some).tolist() for some in (self.losses, self.norms))
        seconds = time.monotonic() - self.began
        if group.size > 1:
            losses, seconds = self.reduce_over_processes(progress, group, losses, seconds)
        progress.seconds += seconds
        first = progress.step - len(losses) + 1
        for step, (loss, norm) in enumerate(zip(losses, norms, strict=True), start=first):
            throughput = Throughput(step, loss, norm, progress.loss or 0.0, self.tokens / seconds)
            if not throughput.is_finite:
                return throughput
            progress.loss = loss if progress.loss is None else 0.95 * progress.loss + 0.05 * loss
            progress.trajectory = extend_trajectory(progress.trajectory, step, loss, norm)
        return Throughput(progress.step, losses[-1], norms[-1], progress.loss or 0.0, self.tokens / seconds)

    def reduce_over_processes(
        self, progress: Progress, group: ProcessGroup, losses: list[float], seconds: float
    ) -> tuple[list[float], float]:
        """Combines the counts of all processes: adds the sums of tokens and operations to the progress, and returns the
        means of losses and seconds."""
        own = [self.tokens, progress.flops - self.flops_before, seconds, progress.reward or 0.0, *losses]
        tokens, flops, seconds, reward, *losses = group.all_sum(own)
        self.tokens = int(tokens)
        progress.tokens, progress.flops = self.tokens_before + self.tokens, self.flops_before + flops
        progress.reward = None if progress.reward is None else reward / group.size
        return [loss / group.size for loss in losses], seconds / group.size


def extend_trajectory(trajectory: str, step: int, loss: float, norm: float) -> str:
    """Extends the fingerprint of all updates so far by one update: two runs with the same fingerprint had the same
    losses and norms, bit for bit."""
    text = f"{trajectory} {step} {loss.hex()} {norm.hex()}"
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def stop_reason(job: Job, stop: StopRequest) -> Ending | None:
    if job.group.all_sum([stop.reason is not None])[0]:  # one process received a signal, all stop
        return "interrupted"
    return budget_spent(job.config, job.progress)


def budget_spent(config: TrainConfig, progress: Progress) -> Ending | None:
    """Returns the limit that ends a run before its last step, if one is reached."""
    if config.minutes is not None and progress.seconds > 60 * config.minutes:
        return "out of time"
    if config.flops is not None and progress.flops >= config.flops:
        return "out of operations"
    if config.patience and progress.stale >= config.patience:
        return "no improvement"
    return None


def evaluate_dev(job: Job, log: RunLog) -> BleuScore | None:
    """Evaluates the averaged weights on the development set, and saves them as `best` if they are the best so far."""
    progress, dev = job.progress, job.data.dev
    if is_regular_evaluation(progress.step, job.config):
        job.average.before_evaluation()
    if dev is None:
        return None
    with job.average.in_place():
        bundle = gather_bundle(job.bundle)
        bleu, best = job.group.broadcast(lambda: score_dev(job, bundle, dev, log))
    progress.best_bleu, progress.best_step, progress.signature, progress.stale = best
    return bleu


def score_dev(job: Job, bundle: Bundle, dev: HeldOut, log: RunLog) -> tuple[BleuScore, tuple[float, int, str, int]]:
    progress = job.progress
    found = evaluate(bundle, dev, DecodeConfig(beam=1), job.data.max_length, job.config.batch_tokens)
    better = found.bleu.score > progress.best_bleu
    progress.stale = 0 if better else progress.stale + 1
    if better:
        progress.best_bleu, progress.best_step = found.bleu.score, progress.step
        progress.signature = found.bleu.signature
        describe_bundle(bundle, progress, found.bleu)
        bundle.save(job.folder.best)
    log.write_evaluation(found, better)
    return found.bleu, (progress.best_bleu, progress.best_step, progress.signature, progress.stale)


def save(job: Job, log: RunLog, bleu: BleuScore | None) -> None:
    """Saves the whole state for resuming, then `last` as a bundle, with its BLEU if it was evaluated."""
    log.flush()
    job.progress.threads = torch.get_num_threads()
    save_checkpoint(
        job.folder.path, job.progress, job.recipe, job.data.fingerprint, job.update.optimizer, job.average, job.group
    )
    save_last(job, bleu)


def save_last(job: Job, bleu: BleuScore | None) -> None:
    with job.average.in_place():
        bundle = gather_bundle(job.bundle)
        describe_bundle(bundle, job.progress, bleu)
        job.group.broadcast(lambda: bundle.save(job.folder.last))


def describe_bundle(bundle: Bundle, progress: Progress, bleu: BleuScore | None) -> None:
    """Writes to the card how far the weights are trained, and their BLEU on the development set, if known."""
    bundle.card |= {
        "step": progress.step,
        "target_tokens": progress.tokens,
        "training_flops": progress.flops,
        "training_seconds": round(progress.seconds, 1),
        "peak_bytes": peak_bytes(bundle.model.device),
    }
    bundle.card.pop("dev_bleu", None)
    if bleu is not None:
        bundle.card["dev_bleu"] = {"score": bleu.score, "step": progress.step, "signature": bleu.signature}


def divergence_error(run: Path, throughput: Throughput, rate: float) -> RunError:
    where = f"step {throughput.step}: loss {throughput.loss}, gradient norm {throughput.norm}"
    what = f"training diverged at {where}"
    lower = f"a lower train.learning_rate, such as {rate / 3:.2g}"
    if not (run / CURRENT).exists():
        return RunError(f"{what}, before the first checkpoint; start again in another folder with {lower}")
    return RunError(
        f"{what}; the last checkpoint is unchanged. Resume {run} with {lower}, or with a longer train.warmup"
    )
