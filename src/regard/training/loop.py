"""The training loop, one page, read from top to bottom.

    set the rate → update (`update.py`) → mean → log → evaluate → save

Loss is the summed NLL over target tokens ÷ their number over all micro-batches. Everything the next update depends on
is in the checkpoint, so a resumed run continues exactly. The host queues work for a GPU ahead of time; losses are read
only where they are logged or something is saved.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import InitVar, dataclass, field
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
from regard.training.cost import Cost, peak_bytes
from regard.training.distributed import World, gather_bundle
from regard.training.dry_run import try_largest_batch
from regard.training.evaluate import HeldOut, evaluate
from regard.training.feed import Ready, feed
from regard.training.folder import StopRequest
from regard.training.job import Job
from regard.training.log import RunLog
from regard.training.optim import set_rate
from regard.training.regularise import forward_passes
from regard.training.schedule import is_evaluation, is_regular_evaluation, learning_rate, place_on_schedule

Ending = Literal["finished", "no improvement", "out of time", "out of operations", "interrupted"]
SPENT = ("out of time", "out of operations")
RESUMABLE = ("interrupted", *SPENT)


def train_loop(job: Job, log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model, material = job.config, job.progress, job.bundle.model, job.material
    if progress.step >= config.steps:  # the process was killed between its last checkpoint and saving `last`
        save_last(job, None)
        return "finished"
    model.train()
    with closing(feed(material.batches, Cost(model, forward_passes(config)), model.device, material.guide)) as batches:
        try_largest_batch(job.update, material, log.say)
        return make_updates(job, batches, log, stop)


def make_updates(job: Job, batches: Iterator[Ready], log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model = job.config, job.progress, job.bundle.model
    on_gpu = model.device.type == "cuda"  # there, reading a number waits for all queued work
    stretch = Stretch(progress)
    while progress.step < config.steps:
        step = progress.step + 1
        rate = learning_rate(step, config, place_on_schedule(step, progress.seconds, progress.flops, config))
        set_rate(job.update.optimizer, rate)
        micro = [next(batches) for _ in range(config.accumulate)]
        loss, norm = job.update(micro)
        job.average.after_update(step)

        tokens = sum(ready.tokens for ready in micro)
        stretch.add(loss, norm, tokens)
        progress.step, progress.tokens = step, progress.tokens + tokens
        progress.flops += sum(ready.flops for ready in micro)
        progress.epoch, progress.index, progress.width = micro[-1].epoch, micro[-1].index, micro[-1].width

        logs, evaluates = step % config.log_every == 0, is_evaluation(step, config)
        saves = step % config.save_every == 0 or step == config.steps
        if on_gpu and not (logs or evaluates or saves or (stop.asked and job.world.size == 1)):
            continue
        pace = stretch.read(progress, job.world)
        if not pace.finite:
            raise diverged(job.folder.path, pace, rate)
        log.update(step, pace.smooth, pace.tokens_per_second)
        if logs:
            log.train(
                step,
                loss=pace.loss,
                rate=rate,
                norm=pace.norm,
                tokens=progress.tokens,
                flops=progress.flops,
                tokens_per_second=pace.tokens_per_second,
                trajectory=progress.trajectory,
                **({} if progress.reward is None else {"reward": progress.reward}),
            )
        ending = ends(job, stop)
        bleu = None
        if evaluates or (ending in SPENT and config.schedule_by == "budget"):  # the rate is 0: the best weights are now
            bleu = assess(job, log)
            ending = ending or ends(job, stop)
        if saves or ending:
            save(job, log, bleu)
        if ending:
            return ending
        stretch = Stretch(progress)  # evaluations and checkpoints are not training time
    return "finished"


@dataclass(frozen=True)
class Pace:
    """The last update's numbers, and the speed of the updates read with it."""

    step: int
    loss: float
    norm: float
    smooth: float
    tokens_per_second: float

    @property
    def finite(self) -> bool:
        return math.isfinite(self.loss) and math.isfinite(self.norm)


@dataclass
class Stretch:
    """Updates whose losses and norms have not been read yet."""

    since: InitVar[Progress]
    began: float = field(default_factory=time.monotonic)
    tokens: int = 0
    losses: list[Tensor] = field(default_factory=list)
    norms: list[Tensor] = field(default_factory=list)

    def __post_init__(self, since: Progress) -> None:
        self.tokens_before, self.flops_before = since.tokens, since.flops

    def add(self, loss: Tensor, norm: Tensor, tokens: int) -> None:
        self.losses.append(loss)
        self.norms.append(norm)
        self.tokens += tokens

    def read(self, progress: Progress, world: World) -> Pace:
        """Wait for the numbers; time and loss go into the progress. Reading stops at the first update whose loss or
        norm is not finite."""
        losses, norms = (torch.stack(some).tolist() for some in (self.losses, self.norms))
        seconds = time.monotonic() - self.began
        if world.size > 1:
            losses, seconds = self.over_all(progress, world, losses, seconds)
        progress.seconds += seconds
        first = progress.step - len(losses) + 1
        for step, (loss, norm) in enumerate(zip(losses, norms, strict=True), start=first):
            pace = Pace(step, loss, norm, progress.loss or 0.0, self.tokens / seconds)
            if not pace.finite:
                return pace
            progress.loss = loss if progress.loss is None else 0.95 * progress.loss + 0.05 * loss
            progress.trajectory = extended(progress.trajectory, step, loss, norm)
        return Pace(progress.step, losses[-1], norms[-1], progress.loss or 0.0, self.tokens / seconds)

    def over_all(
        self, progress: Progress, world: World, losses: list[float], seconds: float
    ) -> tuple[list[float], float]:
        """Until now each process has counted its own: sums of tokens and operations go into the progress, means of
        losses and seconds are returned."""
        own = [self.tokens, progress.flops - self.flops_before, seconds, progress.reward or 0.0, *losses]
        tokens, flops, seconds, reward, *losses = world.summed(own)
        self.tokens = int(tokens)
        progress.tokens, progress.flops = self.tokens_before + self.tokens, self.flops_before + flops
        progress.reward = None if progress.reward is None else reward / world.size
        return [loss / world.size for loss in losses], seconds / world.size


def extended(trajectory: str, step: int, loss: float, norm: float) -> str:
    """A fingerprint of all updates so far, from that of the updates before: two runs with the same one had the same
    losses and norms, bit for bit."""
    text = f"{trajectory} {step} {loss.hex()} {norm.hex()}"
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def ends(job: Job, stop: StopRequest) -> Ending | None:
    if job.world.summed([stop.asked is not None])[0]:  # one process was asked, all stop
        return "interrupted"
    return budget_spent(job.config, job.progress)


def budget_spent(config: TrainConfig, progress: Progress) -> Ending | None:
    """Which limit ends a run before its last step, if one is reached."""
    if config.minutes is not None and progress.seconds > 60 * config.minutes:
        return "out of time"
    if config.flops is not None and progress.flops >= config.flops:
        return "out of operations"
    if config.patience and progress.stale >= config.patience:
        return "no improvement"
    return None


def assess(job: Job, log: RunLog) -> BleuScore | None:
    """Evaluate the averaged weights on the development set; keep them as `best` if they are."""
    progress, dev = job.progress, job.material.dev
    if is_regular_evaluation(progress.step, job.config):
        job.average.before_evaluation()
    if dev is None:
        return None
    with job.average.in_place():
        bundle = gather_bundle(job.bundle)
        bleu, standing = job.world.broadcast(lambda: judge(job, bundle, dev, log))
    progress.best_bleu, progress.best_step, progress.signature, progress.stale = standing
    return bleu


def judge(job: Job, bundle: Bundle, dev: HeldOut, log: RunLog) -> tuple[BleuScore, tuple[float, int, str, int]]:
    progress = job.progress
    found = evaluate(bundle, dev, DecodeConfig(beam=1), job.material.max_length, job.config.batch_tokens)
    better = found.bleu.score > progress.best_bleu
    progress.stale = 0 if better else progress.stale + 1
    if better:
        progress.best_bleu, progress.best_step = found.bleu.score, progress.step
        progress.signature = found.bleu.signature
        describe_bundle(bundle, progress, found.bleu)
        bundle.save(job.folder.best)
    log.dev(
        progress.step,
        better,
        loss=found.loss,
        perplexity=found.perplexity,
        bleu=found.bleu.score,
        signature=found.bleu.signature,
        train_loss=progress.loss,
    )
    return found.bleu, (progress.best_bleu, progress.best_step, progress.signature, progress.stale)


def save(job: Job, log: RunLog, bleu: BleuScore | None) -> None:
    """The whole state for resuming, then `last` as a translator of its own, with its BLEU if it was evaluated."""
    log.flush()
    job.progress.threads = torch.get_num_threads()
    save_checkpoint(
        job.folder.path,
        job.progress,
        job.recipe,
        job.material.fingerprint,
        job.update.optimizer,
        job.average,
        job.world,
    )
    save_last(job, bleu)


def save_last(job: Job, bleu: BleuScore | None) -> None:
    with job.average.in_place():
        bundle = gather_bundle(job.bundle)
        describe_bundle(bundle, job.progress, bleu)
        job.world.broadcast(lambda: bundle.save(job.folder.last))


def describe_bundle(bundle: Bundle, progress: Progress, bleu: BleuScore | None) -> None:
    """The card: how far the weights are trained, and their BLEU on the development set, if it is known."""
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


def diverged(run: Path, pace: Pace, rate: float) -> RunError:
    what = f"training diverged at step {pace.step}: loss {pace.loss}, gradient norm {pace.norm}"
    lower = f"a lower train.learning_rate, such as {rate / 3:.2g}"
    if not (run / CURRENT).exists():
        return RunError(f"{what}, before the first checkpoint; start again in another folder with {lower}")
    return RunError(
        f"{what}; the last checkpoint is unchanged. Resume {run} with {lower}, or with a longer train.warmup"
    )
