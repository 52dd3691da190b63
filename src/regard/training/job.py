"""A run put together: the one place that takes a recipe apart and gives each part of training its own section.

`prepare` makes the parts of a new run, `restore` those of a run as a checkpoint has them. Nothing is written here.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console

from regard.bundle.bundle import Bundle, read_words
from regard.bundle.card import DecodeConfig
from regard.bundle.numpy_weights import WRITTEN_PIECES as WRITTEN_PIECES
from regard.bundle.tensors import load_weights
from regard.data.splits import Splits, find_splits
from regard.device import is_out_of_memory
from regard.errors import RecipeError, RunError
from regard.models.base import Model, RowModel
from regard.models.table import ModelConfig, make_model
from regard.recipe.recipe import Recipe
from regard.recipe.reward import RewardConfig
from regard.recipe.train import TrainConfig
from regard.text.language_identification import sample_language
from regard.text.tokenizer import Tokenizer
from regard.training.average import Average
from regard.training.batch_loss import BatchLoss
from regard.training.checkpoint import Checkpoint, Progress
from regard.training.distributed import ALONE, World, make_objective, my_device, seed_apart
from regard.training.evaluate import HeldOut
from regard.training.folder import RunFolder
from regard.training.guided import check_guided
from regard.training.material import Material, learn_text, read_material
from regard.training.optim import make_optimizer
from regard.training.precision import autocast, settle_precision
from regard.training.regularise import drop_words
from regard.training.start import adapt_model, find_start, with_text
from regard.training.update import Update
from regard.version import __version__


@dataclass
class Job:
    """The parts of a run."""

    config: TrainConfig
    decode: DecodeConfig  # the search that translates the test set
    recipe: str  # the whole recipe as TOML, for checkpoints
    folder: RunFolder
    bundle: Bundle
    material: Material
    update: Update
    average: Average
    progress: Progress
    world: World


def prepare(recipe: Recipe, folder: RunFolder, console: Console, world: World = ALONE) -> Job:
    """All parts of a new run."""
    config = recipe.train
    splits = find_splits(recipe.data)
    device = my_device(config)
    start = find_start(config.start_from, recipe.architecture, recipe.model, recipe.text)
    if start is None:
        tokenizer = world.broadcast(lambda: learn_text(recipe.data, recipe.text, splits, console))
    else:
        tokenizer = start.tokenizer
    torch.manual_seed(config.seed)
    bundle = new_bundle(recipe.architecture, recipe.model, tokenizer, device)
    shared_rows = shares_rows(bundle, config, recipe.reward)
    progress = Progress(shared_rows=shared_rows, processes=world.size)
    if start is not None:
        load_weights(bundle.model, start.folder)
        bundle.known_words = start.known_words
        progress.started_from = start.origin
    seed_apart(config.seed, world)
    material = read_material(recipe.data, config, splits, tokenizer, progress, console, world)
    return assemble(recipe, folder, bundle, material, progress, world)


def restore(
    recipe: Recipe,
    folder: RunFolder,
    checkpoint: Checkpoint,
    splits: Splits,
    console: Console,
    world: World = ALONE,
) -> Job:
    """All parts of a run as a checkpoint has them."""
    config = recipe.train
    progress = for_processes(checkpoint.progress, world.size)
    tokenizer = with_text(Tokenizer.load(folder.tokenizer_file), recipe.text)
    bundle = new_bundle(recipe.architecture, recipe.model, tokenizer, my_device(config))
    bundle.known_words = read_words(folder.last)
    material = read_material(recipe.data, config, splits, tokenizer, progress, console, world)
    job = assemble(recipe, folder, bundle, material, progress, world)
    if not checkpoint.restore(job.update.optimizer, job.average, world.rank):
        seed_apart(config.seed, world, progress.step)
    return job


def assemble(
    recipe: Recipe, folder: RunFolder, bundle: Bundle, material: Material, progress: Progress, world: World
) -> Job:
    config, model, device = recipe.train, bundle.model, bundle.model.device
    if config.word_dropout:
        drop_words(model, config.word_dropout)
    adapt_model(model, recipe.architecture, config)
    objective = make_objective(model, config, world)  # first: fsdp replaces the parameters
    half = config.precision == "bfloat16" or (config.precision == "auto" and device.type == "cuda")
    loss = BatchLoss(model, config, recipe.reward, progress, autocast(device.type, half))
    update = Update(loss, make_optimizer(model, config), objective, world)
    settle_precision(update, material)
    bundle.card |= {
        "regard": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": str(device),
        "pairs": dataclasses.asdict(material.batches.corpus.report),
        "recipe": recipe.tables(),
        "data": material.fingerprint,
        "parameters": model.parameter_count(),
        "slots": material.batches.corpus.has_target_ids(bundle.tokenizer.slot_ids),
    }
    if material.written is not None:
        bundle.card[WRITTEN_PIECES] = material.written
    if world.first:
        languages = card_languages(material.dev, progress.started_from)
        bundle.card |= {"languages": languages} if any(languages) else {}
    if progress.started_from is not None:
        bundle.card["started_from"] = progress.started_from
        bundle.card["slots"] |= progress.started_from.get("slots", False)
    if material.known_words is not None:
        bundle.known_words = material.known_words
    average = Average(model, config)
    toml = recipe.to_toml()
    return Job(config, recipe.decode, toml, folder, bundle, material, update, average, progress, world)


def card_languages(dev: HeldOut | None, start: Mapping[str, Any] | None) -> list[str | None]:
    """ISO codes of source and target: what the held-out pairs are in, else those of the model that training starts
    from."""
    before = (start or {}).get("languages") or (None, None)
    found = [sample_language(side) for side in (dev.sources, dev.references)] if dev is not None else [None, None]
    return [code or known for code, known in zip(found, before, strict=True)]


def new_bundle(architecture: str, config: ModelConfig, tokenizer: Tokenizer, device: torch.device) -> Bundle:
    try:
        model = make_model(architecture, config, tokenizer).to(device)
    except (MemoryError, OverflowError, RuntimeError) as problem:
        reason = " ".join(str(problem).split())
        if not is_out_of_memory(problem) and "overflow" not in reason.lower():  # of a size, beyond 64 bits
            raise
        raise RunError(
            f"the model is too large for {device}; make it smaller, for example with model.preset tiny ({reason[:150]})"
        ) from None
    return Bundle(architecture, config, model, tokenizer)


def shares_rows(bundle: Bundle, config: TrainConfig, reward: RewardConfig) -> bool:
    """Whether several sentences share a row. A run keeps this for good, on whichever device it is resumed."""
    model: Model = bundle.model
    if config.guided_weight:
        check_guided(model, bundle.architecture, config)
        return False  # in shared rows attention weights are not computed as such
    if config.share_rows == "on" and (reward.has_rewards or not isinstance(model, RowModel)):
        why = "training for rewards" if reward.has_rewards else f"the architecture {bundle.architecture}"
        raise RecipeError(f"train.share_rows is on, but {why} needs a row for each sentence; leave it at auto")
    able = isinstance(model, RowModel) and not reward.has_rewards and model.device.type == "cuda"
    return config.share_rows == "on" or (config.share_rows == "auto" and able)


def for_processes(progress: Progress, processes: int) -> Progress:
    """The same position in the data for another number of processes, as nearly as batches allow: no pair is left out,
    but a few may come twice."""
    before = progress.processes
    if processes == before:
        return progress
    index = progress.index if progress.shared_rows else progress.index * before // processes
    return dataclasses.replace(progress, processes=processes, index=index)
