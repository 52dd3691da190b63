"""Assembles the parts of a run from a recipe: the only place that passes each section to its part of training.

`prepare` makes the parts of a new run, `restore` those of a run from its checkpoint. Nothing is written here.

A new run may start from a trained model, with its vocabulary, sizes and weights. The recipe must describe the model;
`recipe.read_recipe` has filled in the keys that were not set. Only dropout may differ, which changes no tensor and no
id. The model's own tag is dropped: a run has the tags of its corpora. The model's folder and a fingerprint of its
weights are kept in the run's progress and cards. Optimizer moments, means of weights and the position in the data are
not copied; resuming a run does that.
"""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from regard.bundle.bundle import Bundle, read_words
from regard.bundle.card import DecodeConfig
from regard.bundle.find_model import find_model
from regard.bundle.folder import weights_file
from regard.bundle.numpy_weights import WRITTEN_PIECES
from regard.bundle.tensors import load_weights
from regard.config import differences
from regard.data.splits import Splits, find_splits
from regard.device import is_out_of_memory
from regard.errors import RecipeError, RunError
from regard.layers.lora import adapt
from regard.models.base import Model, RowModel
from regard.models.table import ModelConfig, make_model
from regard.recipe.recipe import Recipe
from regard.recipe.train import RewardConfig, TrainConfig
from regard.text.known_words import KnownWords
from regard.text.language_identification import sample_language
from regard.text.tokenizer import TextConfig, Tokenizer
from regard.training.average import Average
from regard.training.checkpoint import Checkpoint, Progress
from regard.training.distributed import SINGLE_PROCESS, ProcessGroup, local_device, seed_rank, wrap_model
from regard.training.dry_run import autocast, choose_precision
from regard.training.evaluate import HeldOut
from regard.training.folder import RunFolder
from regard.training.guided import check_guided
from regard.training.optim import make_optimizer
from regard.training.regularize import add_word_dropout
from regard.training.training_data import TrainingData, learn_tokenizer, read_training_data
from regard.training.update import BatchLoss, Update
from regard.version import __version__

# Keys of [model] and [text] that may change after training has begun.
FREE = ("model.dropout", "model.attention_dropout", "model.layer_drop", "text.bpe_dropout")

KEPT = ("step", "training_flops", "imported", "started_from")  # copied from the card of the start model


@dataclass(frozen=True)
class StartModel:
    tokenizer: Tokenizer
    folder: Path  # of the bundle, for `bundle.load_weights`
    origin: dict[str, Any]  # for the card
    known_words: KnownWords | None = None


def find_start_model(
    start_from: str | None, architecture: str, model: ModelConfig, text: TextConfig
) -> StartModel | None:
    """Returns the model to start from, after checking that it matches the rest of the recipe."""
    if start_from is None:
        return None
    folder = find_model(Path(start_from))
    bundle = Bundle.load(folder)
    if conflicts := find_conflicts(bundle, architecture, model, text):
        more = f" and {len(conflicts) - 3} more differ" if len(conflicts) > 3 else ""
        raise RecipeError(
            f"{start_from} does not fit the recipe: its {', '.join(conflicts[:3])}{more}; leave such keys out "
            "(model.preset and model.architecture too): the run takes them from its model"
        )
    origin: dict[str, Any] = {
        "folder": start_from,
        "weights": fingerprint(weights_file(folder)),
        **{name: bundle.card[name] for name in KEPT if name in bundle.card},
        **({"slots": True} if bundle.slots else {}),
        **({"languages": list(bundle.languages)} if any(bundle.languages) else {}),
    }
    return StartModel(with_text_config(bundle.tokenizer, text), folder, origin, bundle.known_words)


def find_conflicts(bundle: Bundle, architecture: str, model: ModelConfig, text: TextConfig) -> list[str]:
    if architecture != bundle.architecture:
        changes: list[tuple[str, Any, Any]] = [("model.architecture", bundle.architecture, architecture)]
    else:
        changes = differences(bundle.config, model, "model.")
        changes += differences(bundle.tokenizer.config, text, "text.")
    return [f"{name} is {old}, not {new}" for name, old, new in changes if name not in FREE]


def adapt_model(model: Model, architecture: str, config: TrainConfig) -> None:
    """With `lora_rank`, adds trainable low-rank updates to the model's matrices, and freezes everything else."""
    if config.lora_rank and not adapt(model, config.lora_rank, config.lora_alpha, config.seed):
        raise RecipeError(
            f"train.lora_rank is {config.lora_rank}, but {architecture} has no matrices of attention or "
            "feed-forward layers to adapt; leave it out"
        )


def with_text_config(tokenizer: Tokenizer, text: TextConfig) -> Tokenizer:
    """Returns a tokenizer with the same vocabulary and the settings of `text`: its BPE-dropout, and no fixed tag."""
    return Tokenizer(tokenizer.source, tokenizer.target, text)


def fingerprint(weights: Path) -> str:
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


@dataclass
class Job:
    """The parts of a run."""

    config: TrainConfig
    decode: DecodeConfig  # the search that translates the test set
    recipe: str  # the whole recipe as TOML, for checkpoints
    folder: RunFolder
    bundle: Bundle
    data: TrainingData
    update: Update
    average: Average
    progress: Progress
    group: ProcessGroup


def prepare(recipe: Recipe, folder: RunFolder, console: Console, group: ProcessGroup = SINGLE_PROCESS) -> Job:
    """Makes all parts of a new run."""
    config = recipe.train
    splits = find_splits(recipe.data)
    device = local_device(config)
    start = find_start_model(config.start_from, recipe.architecture, recipe.model, recipe.text)
    tokenizer = (
        start.tokenizer
        if start
        else group.broadcast(lambda: learn_tokenizer(recipe.data, recipe.text, splits, console))
    )
    torch.manual_seed(config.seed)
    bundle = new_bundle(recipe.architecture, recipe.model, tokenizer, device)
    progress = Progress(shared_rows=shares_rows(bundle, config, recipe.reward), processes=group.size)
    if start is not None:
        load_weights(bundle.model, start.folder)
        bundle.known_words = start.known_words
        progress.started_from = start.origin
    seed_rank(config.seed, group)
    data = read_training_data(recipe.data, config, splits, tokenizer, progress, console, group)
    return assemble(recipe, folder, bundle, data, progress, group)


def restore(
    recipe: Recipe,
    folder: RunFolder,
    checkpoint: Checkpoint,
    splits: Splits,
    console: Console,
    group: ProcessGroup = SINGLE_PROCESS,
) -> Job:
    """Restores all parts of a run from a checkpoint."""
    config = recipe.train
    progress = for_processes(checkpoint.progress, group.size)
    tokenizer = with_text_config(Tokenizer.load(folder.tokenizer_file), recipe.text)
    bundle = new_bundle(recipe.architecture, recipe.model, tokenizer, local_device(config))
    bundle.known_words = read_words(folder.last)
    data = read_training_data(recipe.data, config, splits, tokenizer, progress, console, group)
    job = assemble(recipe, folder, bundle, data, progress, group)
    if not checkpoint.restore(job.update.optimizer, job.average, group.rank):
        seed_rank(config.seed, group, progress.step)
    return job


def assemble(
    recipe: Recipe, folder: RunFolder, bundle: Bundle, data: TrainingData, progress: Progress, group: ProcessGroup
) -> Job:
    """Makes the job of a recipe from its bundle, data and progress, and fills in the bundle's card."""
    config, model, device = recipe.train, bundle.model, bundle.model.device
    if config.word_dropout:
        add_word_dropout(model, config.word_dropout)
    adapt_model(model, recipe.architecture, config)
    objective = wrap_model(model, config, group)  # first: fsdp replaces the parameters
    bfloat16 = config.precision == "bfloat16" or (config.precision == "auto" and device.type == "cuda")
    loss = BatchLoss(model, config, recipe.reward, progress, autocast(device.type, bfloat16))
    update = Update(loss, make_optimizer(model, config), objective, group)
    choose_precision(update, data)
    bundle.card |= {
        "regard": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "device": str(device),
        "pairs": dataclasses.asdict(data.batches.corpus.report),
        "recipe": recipe.tables(),
        "data": data.fingerprint,
        "parameters": model.parameter_count(),
        "slots": data.batches.corpus.has_target_ids(bundle.tokenizer.slot_ids),
    }
    if data.written is not None:
        bundle.card[WRITTEN_PIECES] = data.written
    if group.is_first:
        languages = card_languages(data.dev, progress.started_from)
        bundle.card |= {"languages": languages} if any(languages) else {}
    if progress.started_from is not None:
        bundle.card["started_from"] = progress.started_from
        bundle.card["slots"] |= progress.started_from.get("slots", False)
    if data.known_words is not None:
        bundle.known_words = data.known_words
    average = Average(model, config)
    return Job(config, recipe.decode, recipe.to_toml(), folder, bundle, data, update, average, progress, group)


def card_languages(dev: HeldOut | None, start: Mapping[str, Any] | None) -> list[str | None]:
    """Returns the ISO codes of source and target: those of the held-out pairs, else those of the model that training
    starts from."""
    before = (start or {}).get("languages") or (None, None)
    found = [sample_language(side) for side in (dev.sources, dev.references)] if dev is not None else [None, None]
    return [code or known for code, known in zip(found, before, strict=True)]


def new_bundle(architecture: str, config: ModelConfig, tokenizer: Tokenizer, device: torch.device) -> Bundle:
    try:
        model = make_model(architecture, config, tokenizer).to(device)
    except (MemoryError, OverflowError, RuntimeError) as problem:
        reason = " ".join(str(problem).split())
        if not is_out_of_memory(problem) and "overflow" not in reason.lower():  # a size beyond 64 bits
            raise
        raise RunError(
            f"the model is too large for {device}; make it smaller, for example with model.preset tiny ({reason[:150]})"
        ) from None
    return Bundle(architecture, config, model, tokenizer)


def shares_rows(bundle: Bundle, config: TrainConfig, reward: RewardConfig) -> bool:
    """Whether several sentences share a row. This never changes during a run, on whichever device it is resumed."""
    model = bundle.model
    if config.guided_weight:
        check_guided(model, bundle.architecture, config)
        return False  # attention weights are not available in shared rows
    if config.share_rows == "on" and (reward.has_rewards or not isinstance(model, RowModel)):
        why = "training for rewards" if reward.has_rewards else f"the architecture {bundle.architecture}"
        raise RecipeError(f"train.share_rows is on, but {why} needs a row for each sentence; leave it at auto")
    able = isinstance(model, RowModel) and not reward.has_rewards and model.device.type == "cuda"
    return config.share_rows == "on" or (config.share_rows == "auto" and able)


def for_processes(progress: Progress, processes: int) -> Progress:
    """Converts the position in the data to another number of processes, as exactly as batches allow: no pair is left
    out, but a few may be used twice."""
    index = progress.index if progress.shared_rows else progress.index * progress.processes // processes
    return dataclasses.replace(progress, processes=processes, index=index)
