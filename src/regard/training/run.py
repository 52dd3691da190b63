"""Starting a run and going on with one: files → tokenizer → encoded corpus → model → loop → the test's score."""

from __future__ import annotations

import dataclasses
import platform
import tomllib
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

from regard.bundle.bundle import Bundle
from regard.bundle.tensors import load_weights
from regard.config import differences
from regard.data.splits import Splits, find_splits
from regard.errors import RecipeError, RunError, RunFinishedError
from regard.metrics.bleu import BleuScore
from regard.models.base import Model, RowModel
from regard.models.table import make_model
from regard.recipe.read import recipe_from_tables, with_settings
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer
from regard.training.average import Average
from regard.training.checkpoint import Checkpoint, Progress, load_checkpoint
from regard.training.cost import peak_bytes
from regard.training.distributed import ALONE, World, joined, my_device, objective, seed_apart, was_restarted
from regard.training.evaluate import Evaluation, HeldOut, evaluate
from regard.training.folder import RunFolder, StopRequest
from regard.training.guided import check_guided
from regard.training.job import Job
from regard.training.log import RunLog
from regard.training.loop import Ending, train_loop
from regard.training.material import Material, learn_text, read_material
from regard.training.optim import make_optimizer
from regard.training.precision import settle_precision
from regard.training.regularise import silence_words
from regard.training.start import FREE, adapt_model, find_start, with_text
from regard.version import __version__

# Keys whose change would make a checkpoint's tensors, ids or place in the data mean something else.
FIXED = ("text.", "model.", "architecture", "train.start_from", "train.lora_", "train.share_rows")


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what it is worth."""

    run: Path
    ending: Ending
    step: int
    best_step: int
    dev_bleu: float | None
    signature: str
    reward: float | None = None  # of the model's own translations in training, a moving mean
    test_bleu: BleuScore | None = None


def train(recipe: Recipe, out: Path, console: Console | None = None) -> Outcome:
    """Train anew, or from a trained model on, in the folder `out`, which must not hold anything yet. Processes that
    torchrun has started again find what they began there, and go on with it."""
    folder = RunFolder(out)
    with joined(recipe.train) as world, ExitStack() as held:
        console = console or world.console()
        if was_restarted(world) and world.told(lambda: folder.has_begun(recipe)):
            return _go_on(recipe, folder, world, held, console)
        world.told(folder.check_free)  # bad input is found before anything is written
        job, test = prepare(recipe, folder, console, world)

        def begin() -> None:
            folder.create()
            held.enter_context(folder.locked())
            folder.check_free()  # another process may have been faster
            folder.keep_recipe(recipe)
            folder.keep_tokenizer(job.bundle.tokenizer)

        world.told(begin)
        return _run(job, test, console)


def prepare(recipe: Recipe, folder: RunFolder, console: Console, world: World = ALONE) -> tuple[Job, HeldOut | None]:
    """All parts of a new run, and its test set; nothing is written yet."""
    splits = find_splits(recipe.data)
    device = my_device(recipe.train)
    start = find_start(recipe)
    tokenizer = start.tokenizer if start else world.told(lambda: learn_text(recipe, splits, console))
    torch.manual_seed(recipe.train.seed)
    bundle = new_bundle(recipe, tokenizer, device)
    progress = Progress(shared_rows=decide_row_sharing(recipe, bundle.model), processes=world.size)
    if start is not None:
        load_weights(bundle.model, start.folder)
        progress.started_from = start.origin
    seed_apart(recipe.train.seed, world)
    material = read_material(recipe, splits, tokenizer, progress, console, world)
    return assemble(recipe, folder, bundle, material, progress, world), material.test


def resume(
    run: Path,
    settings: Iterable[tuple[str, str]] = (),
    *,
    override: bool = False,
    previous: bool = False,
    console: Console | None = None,
) -> Outcome:
    """Go on with a run exactly where its checkpoint is; a changed recipe needs `override`."""
    folder = RunFolder(run)
    recipe = recipe_from_tables(with_settings(folder.tables(), settings))
    with joined(recipe.train) as world, ExitStack() as held:
        return _go_on(recipe, folder, world, held, console or world.console(), override, previous)


def _go_on(
    recipe: Recipe,
    folder: RunFolder,
    world: World,
    held: ExitStack,
    console: Console,
    override: bool = False,
    previous: bool = False,
) -> Outcome:
    run = folder.path
    world.told(lambda: held.enter_context(folder.locked()))
    checkpoint = load_checkpoint(run, previous)
    check_changes(checkpoint, recipe, run, override, console)
    step = checkpoint.progress.step
    if step >= recipe.train.steps and folder.is_complete(step, recipe.data):
        raise RunFinishedError(
            f"{run} has done its {recipe.train.steps:,} steps; for more: regard resume {run} "
            f"--steps {2 * step} --override"
        )
    splits = find_splits(recipe.data)
    if checkpoint.data != splits.fingerprint() and not override:
        raise RunError(
            f"the training data is not what {run} was trained with; to go on with it all the same: --override"
        )
    console.print(f"going on with {run} after step {step:,}", highlight=False, markup=False)
    job, test = pick_up(recipe, folder, checkpoint, splits, console, world)
    world.told(lambda: folder.keep_recipe(recipe))
    return _run(job, test, console)


def pick_up(
    recipe: Recipe,
    folder: RunFolder,
    checkpoint: Checkpoint,
    splits: Splits,
    console: Console,
    world: World = ALONE,
) -> tuple[Job, HeldOut | None]:
    """All parts of a run as a checkpoint has them, and its test set; nothing is written."""
    progress = on_processes(checkpoint.progress, world.size)
    tokenizer = with_text(Tokenizer.load(folder.tokenizer_file), recipe)
    bundle = new_bundle(recipe, tokenizer, my_device(recipe.train))
    material = read_material(recipe, splits, tokenizer, progress, console, world)
    job = assemble(recipe, folder, bundle, material, progress, world)
    if not checkpoint.restore(bundle.model, job.optimizer, job.average, world.rank):
        seed_apart(recipe.train.seed, world, progress.step)
    return job, material.test


def on_processes(progress: Progress, processes: int) -> Progress:
    """The same place in the data for another number of processes, as nearly as batches allow: no pair is left out, but
    a few may come twice."""
    before = progress.processes
    if processes == before:
        return progress
    index = progress.index if progress.shared_rows else progress.index * before // processes
    return dataclasses.replace(progress, processes=processes, index=index)


def check_changes(checkpoint: Checkpoint, recipe: Recipe, run: Path, override: bool, console: Console) -> None:
    before = recipe_from_tables(tomllib.loads(checkpoint.recipe))
    changes = differences(before, recipe)
    if not changes:
        return
    for name, old, new in changes:
        console.print(f"  {name}: {old} → {new}", highlight=False, markup=False)
    stuck = [n for n, _, _ in changes if n.startswith(FIXED) and n not in FREE]
    if stuck:
        raise RunError(f"{', '.join(stuck)} cannot change within a run; start another: regard train … --out FOLDER")
    if not override:
        count = f"{len(changes)} change{'s' * (len(changes) > 1)}"
        raise RunError(
            f"the recipe differs from the one {run} was trained with ({count}, above); to accept: --override"
        )


def _run(job: Job, test: HeldOut | None, console: Console) -> Outcome:
    recipe, folder, progress = job.recipe, job.folder, job.progress
    _introduce(job, console)
    stop = StopRequest()
    silent = not job.world.first
    with stop.listening(), RunLog(folder, console, recipe.train.steps, progress.step, silent) as log:
        ending = train_loop(job, log, stop)
    scored = None
    if ending not in ("interrupted", "out of time", "out of operations") and test is not None:
        scored = job.world.told(lambda: score_test(folder, recipe, test, job.bundle.model.device))
    return Outcome(
        folder.path,
        ending,
        progress.step,
        progress.best_step,
        progress.best_bleu if progress.best_step else None,
        progress.signature,
        progress.reward,
        scored.bleu if scored else None,
    )


def assemble(
    recipe: Recipe, folder: RunFolder, bundle: Bundle, material: Material, progress: Progress, world: World = ALONE
) -> Job:
    device = bundle.model.device
    adapt_model(recipe, bundle.model)
    shared = objective(bundle.model, recipe.train, world)  # fsdp makes other parameters: before all that follows
    bundle.card |= {
        "regard": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": str(device),
        "pairs": dataclasses.asdict(material.batches.corpus.report),
    }
    if progress.started_from is not None:
        bundle.card["started_from"] = progress.started_from
    half = recipe.train.precision == "bfloat16" or (recipe.train.precision == "auto" and device.type == "cuda")
    job = Job(
        recipe=recipe,
        folder=folder,
        bundle=bundle,
        batches=material.batches,
        dev=material.dev,
        optimizer=make_optimizer(bundle.model, recipe.train),
        average=Average(bundle.model, recipe.train),
        progress=progress,
        data=material.fingerprint,
        autocast=torch.autocast(device.type, torch.bfloat16, enabled=half),
        world=world,
        objective=shared,
        guide=material.guide,
    )
    settle_precision(job)
    return job


def new_bundle(recipe: Recipe, tokenizer: Tokenizer, device: torch.device) -> Bundle:
    try:
        model = make_model(recipe.architecture, recipe.model, tokenizer).to(device)
    except (MemoryError, RuntimeError) as problem:
        said = " ".join(str(problem).split())[:150]
        raise RunError(
            f"the model is too large for {device}; make it smaller, as with --preset tiny ({said})"
        ) from None
    if recipe.train.word_dropout:
        silence_words(model, recipe.train.word_dropout)
    return Bundle(recipe.architecture, recipe.model, model, tokenizer)


def decide_row_sharing(recipe: Recipe, model: Model) -> bool:
    """Whether sentences share rows. A run keeps to it: one that goes on elsewhere takes its batches as it began."""
    rewards, wanted = recipe.reward.has_rewards, recipe.train.share_rows
    if recipe.train.guided_weight:
        check_guided(model, recipe.architecture, recipe.train)
        return False  # where rows are shared, no map of attention is made
    if wanted == "on" and (rewards or not isinstance(model, RowModel)):
        why = "training for rewards" if rewards else f"the architecture {recipe.architecture}"
        raise RecipeError(f"train.share_rows is on, but {why} needs a row for each sentence; leave it at auto")
    able = isinstance(model, RowModel) and not rewards and model.device.type == "cuda"
    return wanted == "on" or (wanted == "auto" and able)


def _introduce(job: Job, console: Console) -> None:
    model, config, start = job.bundle.model, job.recipe.train, job.progress.started_from
    if start is not None:
        before = f", {start['step']:,} steps" if "step" in start else ""
        console.print(f"start       {start['folder']} ({start['weights']}){before}", highlight=False, markup=False)
    rewards = job.recipe.reward
    if rewards.has_rewards:
        each = f"{rewards.samples} translations of each sentence"
        console.print(f"rewards     {rewards.reward} of {each}, {rewards.objective}", highlight=False)
    size = job.world.size
    if size > 1:
        console.print(f"processes   {size}, {config.parallel}", highlight=False)
    console.print(
        f"model       {job.recipe.architecture}, {model.parameter_count():,} parameters, on {model.device}\n"
        f"training    {config.steps:,} steps of up to {config.batch_tokens * config.accumulate * size:,} tokens, "
        f"{job.batches.per_epoch:,} an epoch, dev {len(job.dev.sources) if job.dev else 0:,}",
        highlight=False,
    )


def score_test(folder: RunFolder, recipe: Recipe, test: HeldOut, device: torch.device) -> Evaluation:
    """The best model's beam search on the test set; the score goes into its card."""
    place = folder.best if folder.best.exists() else folder.last
    bundle = Bundle.load(place, device)
    found = evaluate(bundle, test, recipe.decode, recipe.data.max_length, recipe.train.batch_tokens)
    bundle.card["test_bleu"] = {
        "score": found.bleu.score,
        "signature": found.bleu.signature,
        "text": str(found.bleu),
    }
    bundle.card["test_peak_bytes"] = peak_bytes(device)  # of the whole run; a wide beam may need more than learning did
    bundle.save(place)
    return found
