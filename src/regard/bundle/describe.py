"""Descriptions of models for `regard info`: the files, sizes and card of one, or a summary of the bundled ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.bundle import bundled_models
from regard.bundle.bundle import Bundle
from regard.bundle.card import About, card_rows
from regard.bundle.find_model import find_model
from regard.bundle.folder import PARTS, beside, part, updates
from regard.bundle.numpy_weights import read_tensors
from regard.device import has_torch

TOKENS = 10  # length of a short sentence, with EOS


def describe_json(model: Path) -> dict[str, Any]:
    """Returns the card, and the facts that only the folder has."""
    folder = find_model(model)
    bundle, other = _checked(folder), beside(folder)
    known = {"architecture": bundle.architecture, "beside": other and other.name, "tag": bundle.tag}
    return {name: value for name, value in known.items() if value} | bundle.card


def describe_rows(model: Path) -> dict[str, list[str]]:
    """Returns a description as lines under headings."""
    folder = find_model(model)
    bundle, other = _checked(folder), beside(folder)
    sizes = bundle.known_card.recipe.get("model", {})
    files = {path for path in folder.iterdir() if path.is_file()} | {part(folder, name) for name in PARTS}
    total = sum(path.stat().st_size for path in files)
    how = [f"as {other.name}"] if other else []
    how += ["with updates of its own"] if updates(folder) else []
    how += [f"with the tag {bundle.tag}"] if bundle.tag else []
    parameters = sum(stored.numbers.size for stored in read_tensors(folder).values())
    cost = bundle.model.flops(TOKENS, TOKENS) if has_torch() else None
    rows = card_rows(bundle.card)
    first = {name: rows.pop(name) for name in ("title", "languages") if name in rows}
    return {
        **first,
        "folder": [str(folder)],
        **({"translates": [", ".join(how)]} if how else {}),
        "architecture": [bundle.architecture],
        "sizes": [", ".join(f"{name} {value}" for name, value in sizes.items() if isinstance(value, int))],
        "parameters": [f"{parameters:,}, stored as {bundle.weights}, {total / 1e6:.1f} MB in all"],
        "vocabulary": [f"{bundle.tokenizer.source_size:,} source, {bundle.tokenizer.target_size:,} target pieces"],
        **({"tags": [" ".join(tags)]} if (tags := bundle.tokenizer.config.tags) else {}),
        **({"per sentence": [f"{cost:.2g} FLOPs, of {TOKENS} tokens into {TOKENS}, greedily"]} if cost else {}),
        **rows,
    }


def _checked(folder: Path) -> Bundle:
    """Reads a bundle, with its model where torch is installed, so that errors in its files are found."""
    return Bundle.load(folder) if has_torch() else Bundle.read(folder)


def describe_bundled() -> list[dict[str, Any]]:
    """Summarizes each bundled model; only its card and vocabulary are read."""
    return [_in_short(name, bundled_models.folder_of(name)) for name in bundled_models.names()]


def _in_short(name: str, folder: Path) -> dict[str, Any]:
    bundle, other = Bundle.read(folder), beside(folder)
    card = bundle.known_card
    about = card.about or About()
    return {
        "name": name,
        "folder": str(folder),
        "title": about.title,
        "languages": bundle.languages,
        "bytes": sum(path.stat().st_size for path in folder.iterdir() if path.is_file()),
        "beside": other and other.name,
        "tag": bundle.tag,
        "tests": {name: {one.name: one.score for one in test.scores} for name, test in card.tests.items()},
        "calibrated": card.calibration.fitted,
        "licences": list(dict.fromkeys(data.licence for data in about.data)),
    }
