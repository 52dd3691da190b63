"""Starting a run and going on with one: files → tokenizer → encoded corpus → model → loop → the test's score."""

from __future__ import annotations

import dataclasses
import platform
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

import regard
from regard.bundle import Bundle, make_model
from regard.config import differences
from regard.data.batching import Batches
from regard.data.corpus import PairFiles, Splits, find_splits, read_pairs
from regard.data.encode import EncodedCorpus, encode_corpus
from regard.decode.translate import pick_device
from regard.errors import RunError
from regard.metrics.bleu import BleuScore
from regard.recipe import Recipe, recipe_from_tables, with_settings
from regard.text.tokenizer import Tokenizer
from regard.training.average import Average
from regard.training.checkpoint import Checkpoint, Progress, load_checkpoint
from regard.training.evaluate import Evaluation, HeldOut, evaluate
from regard.training.folder import RunFolder, StopRequest
from regard.training.log import RunLog, counting
from regard.training.loop import Ending, Job, train_loop
from regard.training.optim import make_optimizer

# Keys of a section whose change would make a checkpoint's tensors or ids mean something else.
FIXED = ("text.", "model.", "architecture")
FREE = ("model.dropout", "model.attention_dropout", "text.bpe_dropout")


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what it is worth."""

    run: Path
    ending: Ending
    step: int
    best_step: int
    dev_bleu: float | None
    signature: str
    test_bleu: BleuScore | None = None


@dataclass(frozen=True)
class Material:
    """All text of a run, read and found good."""

    batches: Batches
    dev: HeldOut | None
    test: HeldOut | None
    fingerprint: str  # of the training files


def train(recipe: Recipe, out: Path, console: Console | None = None) -> Outcome:
    """Train anew in the folder `out`, which must not hold anything yet."""
    console = console or Console(stderr=True)
    folder = RunFolder(out)
    folder.check_free()  # bad input is found before anything is written
    splits = find_splits(recipe.data)
    device = pick_device(recipe.train.device)
    tokenizer = learn_text(recipe, splits.train, console)
    torch.manual_seed(recipe.train.seed)
    bundle = new_bundle(recipe, tokenizer, device)
    material = read_material(recipe, splits, tokenizer, Progress(), console)
    folder.create()
    with folder.locked():
        folder.check_free()  # another process may have been faster
        folder.keep_recipe(recipe)
        folder.keep_tokenizer(tokenizer)
        return _run(recipe, folder, bundle, material, None, console)


def resume(
    run: Path,
    settings: Iterable[tuple[str, str]] = (),
    *,
    override: bool = False,
    previous: bool = False,
    console: Console | None = None,
) -> Outcome:
    """Go on with a run exactly where its checkpoint is; a changed recipe needs `override`."""
    console = console or Console(stderr=True)
    folder = RunFolder(run)
    recipe = recipe_from_tables(with_settings(folder.tables(), settings))
    with folder.locked():
        checkpoint = load_checkpoint(run, previous)
        check_changes(checkpoint, recipe, run, override, console)
        if checkpoint.progress.step >= recipe.train.steps:
            raise RunError(
                f"{run} has done its {recipe.train.steps:,} steps; for more: regard resume {run} "
                f"--steps {2 * checkpoint.progress.step} --override"
            )
        splits = find_splits(recipe.data)
        if checkpoint.data != splits.train.fingerprint() and not override:
            raise RunError(
                f"the training data is not what {run} was trained with; to go on with it all the same: --override"
            )
        tokenizer = Tokenizer.load(folder.tokenizer_file)
        bundle = new_bundle(recipe, tokenizer, pick_device(recipe.train.device))
        console.print(f"going on with {run} after step {checkpoint.progress.step:,}", highlight=False, markup=False)
        material = read_material(recipe, splits, tokenizer, checkpoint.progress, console)
        folder.keep_recipe(recipe)
        return _run(recipe, folder, bundle, material, checkpoint, console)


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


def learn_text(recipe: Recipe, files: PairFiles, console: Console) -> Tokenizer:
    with counting(console, "reading pairs") as told:
        count = 0

        def pairs() -> Iterable[tuple[str, str]]:
            nonlocal count
            count = 0
            for count, pair in enumerate(read_pairs(files), start=1):
                if count % 1000 == 0:
                    told(count)
                yield pair

        tokenizer = Tokenizer.train(lambda: iter(pairs()), recipe.text)
    kind = "joint" if recipe.text.joint else "separate"
    sizes = (
        f"{tokenizer.target_size:,}" if recipe.text.joint else f"{tokenizer.source_size:,} + {tokenizer.target_size:,}"
    )
    console.print(f"vocabulary  {sizes} {recipe.text.unit} pieces, {kind}, from {count:,} pairs", highlight=False)
    return tokenizer


def _run(
    recipe: Recipe,
    folder: RunFolder,
    bundle: Bundle,
    material: Material,
    checkpoint: Checkpoint | None,
    console: Console,
) -> Outcome:
    progress = checkpoint.progress if checkpoint else Progress()
    job = _assemble(recipe, folder, bundle, material, progress)
    if checkpoint is not None:
        checkpoint.restore(bundle.model, job.optimizer, job.average)
    _introduce(job, console)
    stop = StopRequest()
    with stop.listening(), RunLog(folder, console, recipe.train.steps, progress.step) as log:
        ending = train_loop(job, log, stop)
    scored = None
    if ending not in ("interrupted", "out of time", "out of operations") and material.test is not None:
        scored = score_test(folder, recipe, material.test, job.bundle.model.device)
    return Outcome(
        folder.path,
        ending,
        progress.step,
        progress.best_step,
        progress.best_bleu if progress.best_step else None,
        progress.signature,
        scored.bleu if scored else None,
    )


def _assemble(recipe: Recipe, folder: RunFolder, bundle: Bundle, material: Material, progress: Progress) -> Job:
    device = bundle.model.device
    bundle.card |= {
        "regard": regard.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": str(device),
        "pairs": dataclasses.asdict(material.batches.corpus.report),
    }
    half = recipe.train.precision == "bfloat16" or (recipe.train.precision == "auto" and device.type == "cuda")
    return Job(
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
    )


def new_bundle(recipe: Recipe, tokenizer: Tokenizer, device: torch.device) -> Bundle:
    try:
        model = make_model(recipe.architecture, recipe.model, tokenizer).to(device)
    except (MemoryError, RuntimeError) as problem:
        said = " ".join(str(problem).split())[:150]
        raise RunError(
            f"the model is too large for {device}; make it smaller, as with --preset tiny ({said})"
        ) from None
    return Bundle(recipe.architecture, recipe.model, model, tokenizer)


def read_material(
    recipe: Recipe, splits: Splits, tokenizer: Tokenizer, progress: Progress, console: Console
) -> Material:
    dev, test = (read_held_out(files) if files else None for files in (splits.dev, splits.test))
    batches = make_batches(recipe, splits.train, tokenizer, progress, console)
    return Material(batches, dev, test, splits.train.fingerprint())


def make_batches(
    recipe: Recipe, files: PairFiles, tokenizer: Tokenizer, progress: Progress, console: Console
) -> Batches:
    """Batches from where `progress` stands. With BPE-dropout every epoch is cut, and so encoded, anew."""

    def encode(epoch: int) -> EncodedCorpus:
        dropout = recipe.text.bpe_dropout > 0
        with counting(console, "encoding pairs") as told:
            return encode_corpus(
                files, tokenizer, recipe.data, told, epoch=epoch if dropout else None, seed=recipe.train.seed
            )

    fixed = None if recipe.text.bpe_dropout else encode(0)
    state = {"epoch": progress.epoch, "index": progress.index}
    batches = Batches(fixed or encode, recipe.train.batch_tokens, recipe.train.seed, state=state)
    console.print(f"pairs       {batches.corpus.report.summary()}", highlight=False)
    return batches


def _introduce(job: Job, console: Console) -> None:
    model, config = job.bundle.model, job.recipe.train
    console.print(
        f"model       {job.recipe.architecture}, {model.parameter_count():,} parameters, on {model.device}\n"
        f"training    {config.steps:,} steps of up to {config.batch_tokens * config.accumulate:,} tokens, "
        f"{job.batches.per_epoch:,} an epoch, dev {len(job.dev.sources) if job.dev else 0:,}",
        highlight=False,
    )


def read_held_out(files: PairFiles) -> HeldOut:
    pairs = list(read_pairs(files))
    return HeldOut([s for s, _ in pairs], [t for _, t in pairs])


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
    bundle.save(place)
    return found
