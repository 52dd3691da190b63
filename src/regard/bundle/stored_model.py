"""The model of a bundle, built from `config.json` and the weights beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch

from regard.bundle.card import read_card
from regard.bundle.folder import CARD, CONFIG
from regard.bundle.json_file import one_line
from regard.bundle.tensors import load_model
from regard.config import build
from regard.device import make_forks_safe
from regard.errors import BundleError, RegardError
from regard.models.base import Model
from regard.models.table import ARCHITECTURES, ModelConfig, check_architecture, make_model
from regard.text.tokenizer import Tokenizer


class ConfiguredModel(NamedTuple):
    config: ModelConfig
    model: Model


def read_model(
    folder: Path,
    architecture: str,
    table: Mapping[str, Any],
    tokenizer: Tokenizer,
    card: Mapping[str, Any],
    device: torch.device | str,
) -> ConfiguredModel:
    """The model in a folder whose config.json names this architecture, with this table as its configuration. Whatever
    is wrong with its files is a `BundleError`."""
    make_forks_safe()
    config = read_config(folder, architecture, table)
    try:
        model = load_model(lambda: make_model(architecture, config, tokenizer), folder)
    except BundleError:
        raise
    except RegardError as problem:  # a configuration that this vocabulary does not allow
        raise BundleError(f"{folder / CONFIG} cannot be used: {one_line(problem)}") from None
    check_view(model, card, folder)
    return ConfiguredModel(config, model.to(device).eval())


def read_config(folder: Path, architecture: str, table: Mapping[str, Any]) -> ModelConfig:
    """The configuration that config.json holds."""
    try:
        check_architecture(one_line(architecture))
        return build(ARCHITECTURES[architecture].config, table, "config")
    except RegardError as problem:
        raise BundleError(f"{folder / CONFIG} cannot be used: {one_line(problem)}") from None


def check_view(model: Model, card: Mapping[str, Any], folder: Path) -> None:
    """Raise where a card names an attention map that the model does not have."""
    view, parts = read_card(card).attention_view, model.attention_parts()
    if view is not None and parts:
        part_of_view = parts.get(("cross", view.layer))
        if part_of_view is None or (view.head or 0) >= part_of_view.heads:
            raise BundleError(
                f"{folder / CARD} cannot be used: its attention_view is of a layer or head that is not there"
            )
