"""Where the files of a bundle are: in its own folder, or in the one beside it that it names.

`"beside": "../en-fr"` in config.json says that vocabulary and weights, where the folder has none, are those of the
folder en-fr next to it. `updates.safetensors` then holds low-rank updates that are added to those weights.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from regard.bundle import box
from regard.bundle.directions import check_pair
from regard.bundle.json_file import one_line, read_json
from regard.errors import BundleError

Storage = Literal["float32", "float16", "int8"]  # how weights are stored (`weights.py`)
CONFIG, TOKENIZER, WEIGHTS, CARD = PARTS = ("config.json", "tokenizer.json", "model.safetensors", "card.json")
SHARED = (TOKENIZER, WEIGHTS)  # parts that may be another bundle's
LEXICON = "lexicon.json"
WORDS = "words.txt"  # the words a model knows
UPDATES = "updates.safetensors"
BESIDE = re.compile(r"\.\./(?!\.{1,2}$)[^/\\\0]+")  # nothing but a folder in the same folder: both move together


def find_bundle(folder: Path) -> Path:
    """The bundle in a folder: itself, or `best` or `last` of a training run. Where there is no such folder, the model
    of that name in the box."""
    if not folder.exists() and str(folder) in box.names():
        return box.boxed(str(folder))
    if not folder.exists():
        check_pair(str(folder))
    if not folder.is_dir():
        hint = "; a model is a folder" if folder.exists() else ""
        raise BundleError(
            f"no model at {folder}{hint}; give a bundle or a run folder made by regard train, or {box.choice()}"
        )
    run = (folder / "recipe.toml").is_file()
    places = [folder / "best", folder / "last"] if run else [folder]
    missing = {place: [name for name in PARTS if not part(place, name).is_file()] for place in places}
    for place, parts in missing.items():
        if not parts:
            return place
    if run:
        raise BundleError(f"the run {folder} has no model yet; it gets one at its first checkpoint")
    if len(missing[folder]) < len(PARTS):
        parts_missing = ", ".join(missing[folder])
        raise BundleError(f"{folder} is missing {parts_missing}; a bundle holds {', '.join(PARTS)}")
    raise BundleError(f"no model in {folder}; a bundle holds {', '.join(PARTS)}, and a run holds best/ or last/")


def part(folder: Path, name: str) -> Path:
    """Where a part of a bundle is, or should be: in its folder, or in the one beside it that it names."""
    own = folder / name
    if name not in SHARED or own.is_file():
        return own
    other = beside(folder)
    return own if other is None else other / name


def beside(folder: Path) -> Path | None:
    """The bundle whose vocabulary and weights this one uses where it has none of its own."""
    config = folder / CONFIG
    named = read_json(config).get("beside") if config.is_file() else None
    if named is None:
        return None
    if not (isinstance(named, str) and BESIDE.fullmatch(named)):
        raise BundleError(
            f'{config}: "beside" must name a folder next to its own, such as "../en-fr", but is {one_line(repr(named))}'
        )
    other = (folder / named).resolve()
    its_config = other / CONFIG
    if its_config.is_file() and "beside" in read_json(its_config):
        raise BundleError(f"{folder} uses the files of {other}, which uses another's; name that one in {config}")
    missing = [name for name in PARTS if not (other / name).is_file()]
    if missing:
        what = f"is missing {', '.join(missing)}" if other.is_dir() else "is not there"
        raise BundleError(f"{folder} uses the files of {other}, which {what}; put the two folders side by side again")
    return other


def updates(folder: Path) -> Path | None:
    """The updates to the weights of the bundle beside this one. Weights of its own are whole and need none."""
    path = folder / UPDATES
    return path if path.is_file() and not (folder / WEIGHTS).is_file() else None


def weights_file(folder: Path) -> Path:
    """The file that makes a bundle's weights what they are and no others."""
    return updates(folder) or part(folder, WEIGHTS)
