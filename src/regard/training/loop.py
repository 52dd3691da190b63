"""The training loop, one page, read from top to bottom.

    set the rate → update (`update.py`) → mean → log → evaluate → save

Loss is the summed NLL over target tokens ÷ their number over all micro-batches. Everything the next update depends on
is in the checkpoint, so an interrupted run goes on exactly where it was. A GPU works through what it is told while the
host is already ahead; the loop looks at losses only where they are logged, or something is saved.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import InitVar, dataclass, field
from typing import Literal

import torch
from torch import Tensor

from regard.bundle.bundle import Bundle
from regard.bundle.search_config import DecodeConfig
from regard.errors import RunError
from regard.recipe.train import TrainConfig
from regard.training.checkpoint import CURRENT, Progress, save_checkpoint
from regard.training.cost import Cost, peak_bytes
from regard.training.distributed import whole_bundle
from regard.training.dry_run import foresee
from regard.training.evaluate import HeldOut, evaluate
from regard.training.feed import feed
from regard.training.folder import StopRequest
from regard.training.job import Job
from regard.training.log import RunLog
from regard.training.optim import set_rate
from regard.training.regularise import forward_passes
from regard.training.schedule import learning_rate
from regard.training.update import Update

Ending = Literal["finished", "no improvement", "out of time", "out of operations", "interrupted"]


def train_loop(job: Job, log: RunLog, stop: StopRequest) -> Ending:
    config, progress, model = job.recipe.train, job.progress, job.bundle.model
    if progress.step >= config.steps:  # killed after its last checkpoint, before this was saved
        save_last(job)
        return "finished"
    model.train()
    update, batches = Update(job), feed(job.batches, Cost(model, forward_passes(config)), model.device, job.guide)
    foresee(update, log.say)
    waits = model.device.type == "cuda"  # there a number that is asked for holds up the work: ask now and then
    stretch = Stretch(progress)
    while progress.step < config.steps:
        step = progress.step + 1
        rate = learning_rate(step, config)
        set_rate(job.optimizer, rate)
        micro = [next(batches) for _ in range(config.accumulate)]
        loss, norm = update(micro)
        job.average.after_update(step)

        tokens = sum(ready.tokens for ready in micro)
        stretch.took(loss, norm, tokens)
        progress.step, progress.tokens = step, progress.tokens + tokens
        progress.flops += sum(ready.flops for ready in micro)
        progress.epoch, progress.index, progress.width = micro[-1].epoch, micro[-1].index, micro[-1].width

        last = step == config.steps
        logs, assesses = step % config.log_every == 0, step % config.eval_every == 0 or last
        if waits and not (logs or assesses or step % config.save_every == 0 or (stop.asked and job.world.size == 1)):
            continue
        pace = stretch.read(job, rate)
        log.update(step, pace.smooth, rate, pace.tokens_per_second)
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
        if assesses:
            assess(job, log)
            ending = ending or ends(job, stop)
        if step % config.save_every == 0 or last or ending:
            save(job, log)
        if ending:
            return ending
        stretch = Stretch(progress)  # evaluations and checkpoints are not training time
    return "finished"


@dataclass(frozen=True)
class Pace:
    """The last update's numbers, and the speed of those read together."""

    loss: float
    norm: float
    smooth: float
    tokens_per_second: float


@dataclass
class Stretch:
    """Updates whose losses and norms nobody has looked at yet."""

    since: InitVar[Progress]
    began: float = field(default_factory=time.monotonic)
    tokens: int = 0
    losses: list[Tensor] = field(default_factory=list)
    norms: list[Tensor] = field(default_factory=list)

    def __post_init__(self, since: Progress) -> None:
        self.tokens_before, self.flops_before = since.tokens, since.flops

    def took(self, loss: Tensor, norm: Tensor, tokens: int) -> None:
        self.losses.append(loss)
        self.norms.append(norm)
        self.tokens += tokens

    def read(self, job: Job, rate: float) -> Pace:
        """Wait for the numbers; time and loss go into the progress. A number that is none ends the run before anything
        is saved."""
        progress = job.progress
        losses, norms = (torch.stack(some).tolist() for some in (self.losses, self.norms))
        seconds = time.monotonic() - self.began
        if job.world.size > 1:
            losses, seconds = self.over_all(job, losses, seconds)
        progress.seconds += seconds
        first = progress.step - len(losses) + 1
        for step, (loss, norm) in enumerate(zip(losses, norms, strict=True), start=first):
            if not (math.isfinite(loss) and math.isfinite(norm)):
                raise diverged(job, step, loss, norm, rate)
            progress.loss = loss if progress.loss is None else 0.95 * progress.loss + 0.05 * loss
            progress.trajectory = extended(progress.trajectory, step, loss, norm)
        return Pace(losses[-1], norms[-1], progress.loss or 0.0, self.tokens / seconds)

    def over_all(self, job: Job, losses: list[float], seconds: float) -> tuple[list[float], float]:
        """Until now each process has counted for itself: sums of tokens and operations go into the progress, means of
        losses and seconds come back."""
        progress, size = job.progress, job.world.size
        own = [self.tokens, progress.flops - self.flops_before, seconds, progress.reward or 0.0, *losses]
        tokens, flops, seconds, reward, *losses = job.world.summed(own)
        self.tokens = int(tokens)
        progress.tokens, progress.flops = self.tokens_before + self.tokens, self.flops_before + flops
        progress.reward = None if progress.reward is None else reward / size
        return [loss / size for loss in losses], seconds / size


def extended(trajectory: str, step: int, loss: float, norm: float) -> str:
    """A fingerprint of all updates so far, from that of those before: two runs that have the same one had the same
    losses and norms to the last bit."""
    told = f"{trajectory} {step} {loss.hex()} {norm.hex()}"
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def ends(job: Job, stop: StopRequest) -> Ending | None:
    if job.world.summed([stop.asked is not None])[0]:  # asked of one, meant for all
        return "interrupted"
    return budget_spent(job.recipe.train, job.progress)


def budget_spent(config: TrainConfig, progress: Progress) -> Ending | None:
    """Which limit ends a run before its last step, if one is reached."""
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
    progress, dev = job.progress, job.dev
    with job.average.in_place():
        bundle = whole_bundle(job.bundle)
        standing = job.world.told(lambda: judge(job, bundle, dev, log))
    progress.best_bleu, progress.best_step, progress.signature, progress.stale = standing


def judge(job: Job, bundle: Bundle, dev: HeldOut, log: RunLog) -> tuple[float, int, str, int]:
    progress, recipe = job.progress, job.recipe
    greedy = DecodeConfig(beam=1)
    found = evaluate(bundle, dev, greedy, recipe.data.max_length, recipe.train.batch_tokens)
    better = found.bleu.score > progress.best_bleu
    progress.stale = 0 if better else progress.stale + 1
    if better:
        progress.best_bleu, progress.best_step = found.bleu.score, progress.step
        progress.signature = found.bleu.signature
        describe_bundle(job)
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
    return progress.best_bleu, progress.best_step, progress.signature, progress.stale


def save(job: Job, log: RunLog) -> None:
    """The whole state for going on, then `last` as a translator of its own."""
    log.flush()
    job.progress.threads = torch.get_num_threads()
    save_checkpoint(
        job.folder.path,
        job.progress,
        job.recipe.to_toml(),
        job.data,
        job.bundle.model,
        job.optimizer,
        job.average,
        job.world,
    )
    save_last(job)


def save_last(job: Job) -> None:
    with job.average.in_place():
        bundle = whole_bundle(job.bundle)
        describe_bundle(job)
        job.world.told(lambda: bundle.save(job.folder.last))


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
