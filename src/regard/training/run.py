"""Training from a recipe and resuming a run: checks, the loop, and the score of the test set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from regard.bundle.bundle import Bundle
from regard.config import differences
from regard.data.splits import find_splits
from regard.errors import RunError, RunFinishedError
from regard.metrics.bleu import BleuScore
from regard.recipe.read import recipe_from_tables, recipe_from_toml, with_settings
from regard.recipe.recipe import Recipe
from regard.report.text import printable
from regard.training.checkpoint import Checkpoint, load_checkpoint
from regard.training.cost import peak_bytes
from regard.training.distributed import ProcessGroup, join_processes, was_restarted
from regard.training.evaluate import HeldOut, evaluate
from regard.training.folder import RunFolder, StopRequest
from regard.training.job import FREE, Job, prepare, restore
from regard.training.log import RunLog
from regard.training.loop import RESUMABLE, Ending, train_loop

# Keys whose change would alter the meaning of a checkpoint's tensors, ids or position in the data.
FIXED = ("text.", "model.", "architecture", "train.start_from", "train.lora_", "train.share_rows")


@dataclass(frozen=True)
class Outcome:
    """The ending of a run, and its scores."""

    run: Path
    ending: Ending
    step: int
    best_step: int
    dev_bleu: float | None
    signature: str
    reward: float | None = None  # of the model's own translations in training, a moving mean
    test_bleu: BleuScore | None = None


def train(recipe: Recipe, out: Path, console: Console | None = None) -> Outcome:
    """Trains in the folder `out`, which must be empty or new. Processes that torchrun has restarted find their run
    there and resume it."""
    folder = RunFolder(out)
    with join_processes(recipe.train) as group, ExitStack() as stack:
        console = console or group.console()
        if was_restarted(group) and group.broadcast(lambda: folder.has_begun(recipe)):
            return _resume(recipe, folder, group, stack, console)
        group.broadcast(folder.check_free)  # before anything is read or written
        job = prepare(recipe, folder, console, group)

        def begin() -> None:
            folder.create()
            stack.enter_context(folder.locked())
            folder.check_free()  # another process may have been faster
            folder.save_recipe(recipe)
            folder.save_tokenizer(job.bundle.tokenizer)

        group.broadcast(begin)
        return _run(job, console)


def resume(
    run: Path,
    settings: Iterable[tuple[str, str]] = (),
    *,
    override: bool = False,
    previous: bool = False,
    console: Console | None = None,
) -> Outcome:
    """Resumes a run exactly from its checkpoint; a changed recipe needs `override`."""
    folder = RunFolder(run)
    recipe = recipe_from_tables(with_settings(folder.tables(), settings))
    with join_processes(recipe.train) as group, ExitStack() as stack:
        return _resume(recipe, folder, group, stack, console or group.console(), override, previous)


def _resume(
    recipe: Recipe,
    folder: RunFolder,
    group: ProcessGroup,
    stack: ExitStack,
    console: Console,
    override: bool = False,
    previous: bool = False,
) -> Outcome:
    run = folder.path
    group.broadcast(lambda: stack.enter_context(folder.locked()))
    checkpoint = load_checkpoint(run, previous)
    check_changes(checkpoint, recipe, run, override, console)
    step = checkpoint.progress.step
    if step >= recipe.train.steps and folder.is_complete(step, recipe.data):
        raise RunFinishedError(
            f"{run} has done its {recipe.train.steps:,} steps; for more, raise train.steps and set override",
            parameter=("steps", "override"),
        )
    splits = find_splits(recipe.data)
    if checkpoint.data != splits.fingerprint() and not override:
        raise RunError(
            f"the training data is not what {run} was trained with; set override to accept it", parameter="override"
        )
    console.print(f"resuming {run} after step {step:,}", highlight=False, markup=False)
    job = restore(recipe, folder, checkpoint, splits, console, group)
    group.broadcast(lambda: folder.save_recipe(recipe))
    return _run(job, console)


def check_changes(checkpoint: Checkpoint, recipe: Recipe, run: Path, override: bool, console: Console) -> None:
    """Prints how the recipe differs from the checkpoint's; raises if a change is not allowed or needs `override`."""
    changes = differences(recipe_from_toml(checkpoint.recipe), recipe)
    for name, old, new in changes:
        console.print(printable(f"  {name}: {old} → {new}"), highlight=False, markup=False)
    fixed = [n for n, _, _ in changes if n.startswith(FIXED) and n not in FREE]
    if fixed:
        raise RunError(f"{', '.join(fixed)} cannot change within a run; train another one")
    if changes and not override:
        count = f"{len(changes)} change{'s' * (len(changes) > 1)}"
        raise RunError(
            f"the recipe differs from the one {run} was trained with ({count}, above); set override to accept it",
            parameter="override",
        )


def _run(job: Job, console: Console) -> Outcome:
    folder, progress, test = job.folder, job.progress, job.data.test
    for line in summary(job):
        console.print(line, highlight=False, markup=False)
    stop = StopRequest()
    with stop.handling_signals(), RunLog(folder, console, job.config, progress, disabled=not job.group.is_first) as log:
        ending = train_loop(job, log, stop)
    test_bleu = None
    if ending not in RESUMABLE and test is not None:
        test_bleu = job.group.broadcast(lambda: score_test(job, test))
    step, best, signature, reward = progress.step, progress.best_step, progress.signature, progress.reward
    dev_bleu = progress.best_bleu if best else None
    return Outcome(folder.path, ending, step, best, dev_bleu, signature, reward, test_bleu)


def summary(job: Job) -> Iterator[str]:
    """Yields lines that describe the training, and a warning if the recipe is unlikely to work well."""
    model, config, start, reward = job.bundle.model, job.config, job.progress.started_from, job.update.loss.reward
    size, dev = job.group.size, job.data.dev
    if start is not None:
        before = f", {start['step']:,} steps" if "step" in start else ""
        yield printable(f"start       {start['folder']} ({start['weights']}){before}")
    if reward.has_rewards:
        yield f"rewards     {reward.reward} of {reward.samples} translations of each sentence, {reward.objective}"
    if size > 1:
        yield f"processes   {size}, {config.parallel}"
    yield f"model       {job.bundle.architecture}, {model.parameter_count():,} parameters, on {model.device}"
    yield (
        f"training    {config.steps:,} steps of up to {config.batch_tokens * config.accumulate * size:,} tokens, "
        f"{job.data.batches.per_epoch:,} an epoch, dev {len(dev.sources) if dev else 0:,}"
    )
    if config.warmup > config.steps:
        yield (
            f"warning     warm-up takes {config.warmup:,} steps, but the run has {config.steps:,}: the learning rate "
            f"does not reach its peak; set train.warmup to {max(1, config.steps // 10):,}"
        )


def score_test(job: Job, test: HeldOut) -> BleuScore:
    """Scores the best model's beam search on the test set, and writes the score to its card."""
    folder, device = job.folder, job.bundle.model.device
    place = folder.best if folder.best.exists() else folder.last
    bundle = Bundle.load(place, device)
    bleu = evaluate(bundle, test, job.decode, job.data.max_length, job.config.batch_tokens).bleu
    bundle.card["test_bleu"] = {"score": bleu.score, "signature": bleu.signature, "text": str(bleu)}
    bundle.card["test_peak_bytes"] = peak_bytes(device)  # of the whole run; a wide beam may need more than training
    bundle.save(place)
    return bleu
