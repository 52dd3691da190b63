"""Starting from a trained model: a new run with its vocabulary, sizes and weights.

The recipe must describe the model; `recipe.read_recipe` has filled in the keys that were not set. Only dropout may
differ, which changes no tensor and no id. The model's own tag is dropped: a run has the tags of its corpora. The
model's folder and a fingerprint of its weights are kept in the run's progress and cards. Optimizer moments, means of
weights and the position in the data are not taken over; that is what resuming a run does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.bundle.bundle import Bundle
from regard.bundle.find_model import find_model
from regard.bundle.folder import weights_file
from regard.config import differences
from regard.errors import RecipeError
from regard.layers.lora import adapt
from regard.models.base import Model
from regard.models.table import ModelConfig
from regard.recipe.train import TrainConfig
from regard.text.known_words import KnownWords
from regard.text.tokenizer import TextConfig, Tokenizer

# Keys of [model] and [text] that may change after training has begun.
FREE = ("model.dropout", "model.attention_dropout", "model.layer_drop", "text.bpe_dropout")

KEPT = ("step", "training_flops", "imported", "started_from")  # of the card of the model that a run starts from


@dataclass(frozen=True)
class Start:
    tokenizer: Tokenizer
    folder: Path  # of the bundle, for `bundle.load_weights`
    origin: dict[str, Any]  # for the card
    known_words: KnownWords | None = None


def find_start(start_from: str | None, architecture: str, model: ModelConfig, text: TextConfig) -> Start | None:
    """The model to start from, after checking that it fits the rest of the recipe."""
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
    return Start(with_text(bundle.tokenizer, text), folder, origin, bundle.known_words)


def find_conflicts(bundle: Bundle, architecture: str, model: ModelConfig, text: TextConfig) -> list[str]:
    if architecture != bundle.architecture:
        changes: list[tuple[str, Any, Any]] = [("model.architecture", bundle.architecture, architecture)]
    else:
        changes = differences(bundle.config, model, "model.")
        changes += differences(bundle.tokenizer.config, text, "text.")
    return [f"{name} is {old}, not {new}" for name, old, new in changes if name not in FREE]


def adapt_model(model: Model, architecture: str, config: TrainConfig) -> None:
    """With `lora_rank`, add trainable low-rank updates to the model's matrices, and freeze everything else."""
    if config.lora_rank and not adapt(model, config.lora_rank, config.lora_alpha, config.seed):
        raise RecipeError(
            f"train.lora_rank is {config.lora_rank}, but {architecture} has no matrices of attention or "
            "feed-forward layers to adapt; leave it out"
        )


def with_text(tokenizer: Tokenizer, text: TextConfig) -> Tokenizer:
    """The same vocabulary, with the BPE-dropout of `text` and no tag before every source."""
    return Tokenizer(tokenizer.source, tokenizer.target, text)


def fingerprint(weights: Path) -> str:
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
