"""Starting from a trained model: its vocabulary, sizes and weights go on in a run of their own.

The recipe must say what the model is; `recipe.read_recipe` has filled in what was left open. Only dropout may differ:
it changes no tensor and no id. A model's own tag stays behind: a run has the tags of its corpora. What the run came
from is noted once, in its progress and so in its cards. Optimiser moments, means and the position in the data are not
taken over: that would be `regard resume`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.bundle.bundle import Bundle
from regard.bundle.folder import find_bundle, weights_file
from regard.config import differences
from regard.errors import RecipeError
from regard.layers.lora import adapt
from regard.models.base import Model
from regard.recipe.recipe import Recipe
from regard.text.tokenizer import Tokenizer

# Keys of [model] and [text] that may change after training has begun.
FREE = ("model.dropout", "model.attention_dropout", "model.layer_drop", "text.bpe_dropout")


@dataclass(frozen=True)
class Start:
    tokenizer: Tokenizer
    folder: Path  # of the bundle, for `bundle.load_weights`
    origin: dict[str, Any]  # for the card


def find_start(recipe: Recipe) -> Start | None:
    """What the recipe starts from, once it is sure that it fits."""
    if recipe.train.start_from is None:
        return None
    folder = find_bundle(Path(recipe.train.start_from))
    bundle = Bundle.load(folder)
    check_fits(bundle, recipe)
    origin: dict[str, Any] = {
        "folder": recipe.train.start_from,
        "weights": fingerprint(weights_file(folder)),
        **{name: bundle.card[name] for name in ("step", "training_flops", "started_from") if name in bundle.card},
    }
    return Start(with_text(bundle.tokenizer, recipe), folder, origin)


def check_fits(bundle: Bundle, recipe: Recipe) -> None:
    if recipe.architecture != bundle.architecture:
        changes = [("model.architecture", bundle.architecture, recipe.architecture)]
    else:
        changes = differences(bundle.config, recipe.model, "model.")
        changes += differences(bundle.tokenizer.config, recipe.text, "text.")
    stuck = [f"{name} is {old}, not {new}" for name, old, new in changes if name not in FREE]
    if stuck:
        more = f" and {len(stuck) - 3} more differ" if len(stuck) > 3 else ""
        raise RecipeError(
            f"{recipe.train.start_from} does not fit the recipe: its {', '.join(stuck[:3])}{more}; leave such keys out "
            "(--preset and --architecture too): the run has its model's own"
        )


def adapt_model(recipe: Recipe, model: Model) -> None:
    """With `lora_rank`, the model's matrices get updates to be learnt, and everything else is frozen."""
    config = recipe.train
    if config.lora_rank and not adapt(model, config.lora_rank, config.lora_alpha, config.seed):
        raise RecipeError(
            f"train.lora_rank is {config.lora_rank}, but {recipe.architecture} has no matrices of attention or "
            "feed-forward layers to adapt; leave out --lora-rank"
        )


def with_text(tokenizer: Tokenizer, recipe: Recipe) -> Tokenizer:
    """The same vocabulary, with the recipe's BPE-dropout and no tag before every source."""
    return Tokenizer(tokenizer.source, tokenizer.target, recipe.text)


def fingerprint(weights: Path) -> str:
    with weights.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
