"""A trained translator as one folder: `config.json tokenizer.json model.safetensors card.json`. Never a pickle.

Each file is written to a temporary name, synced and renamed, so that a reader finds the old one or the new one, whole.
The card says where the model comes from: data, scores with their signatures, versions (`card.py`). The weights are
float32, or stored in fewer bytes (`compact.py`). A lexicon may lie with them (`lexicon.json`, by
`decode/token_lexicon.py`); a model is whole without it. A few bundles come with the package (`box.py`).

One set of weights may serve two bundles: `"beside": "../en-fr"` in config.json says that vocabulary and weights, where
the folder has none, are those of the folder en-fr beside it. With `"tag": "<en>"` that tag stands before every source.
Where `updates.safetensors` lies in such a folder, its low-rank updates are added to the matrices (`layers/lora.py`).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.overrides import TorchFunctionMode

from regard.bundle import box
from regard.bundle.weights import Storage, packed, unpacked
from regard.config import build
from regard.errors import BundleError
from regard.files import write_atomically
from regard.layers.lora import merged, updated
from regard.models.base import Model
from regard.models.table import ARCHITECTURES, ModelConfig, check_architecture, make_model
from regard.text.tokenizer import Tokenizer

FORMAT = 1
PARTS = ("config.json", "tokenizer.json", "model.safetensors", "card.json")
SHARED = ("tokenizer.json", "model.safetensors")  # parts that may be another bundle's
LEXICON = "lexicon.json"
UPDATES = "updates.safetensors"
BESIDE = re.compile(r"\.\./(?!\.{1,2}$)[^/\\\0]+")  # nothing but a folder in the same folder: both move together


class Unfilled(TorchFunctionMode):
    """Within, constructors draw no numbers: all of them are about to be loaded, and drawing takes longer than that."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ in ("normal_", "uniform_", "kaiming_uniform_"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


@dataclass
class Bundle:
    architecture: str
    config: ModelConfig
    model: Model
    tokenizer: Tokenizer
    card: dict[str, Any] = field(default_factory=dict)
    weights: Storage = "float32"  # how they are stored; in memory they are always float32

    @property
    def tag(self) -> str | None:
        """What stands before every source."""
        return self.tokenizer.mark

    def save(self, folder: Path, beside: str | None = None, updates: Mapping[str, Tensor] | None = None) -> None:
        """Write all four parts; an interruption leaves each part old or new, never torn. Where `beside` names a folder
        next to this one that has the same vocabulary and, but for these updates, weights, they are left to it."""
        folder.mkdir(parents=True, exist_ok=True)
        about = {
            "format": FORMAT,
            "architecture": self.architecture,
            "config": dataclasses.asdict(self.config),
            "weights": self.weights,
            **({"tag": self.tag} if self.tag else {}),
            **({"beside": f"../{beside}"} if beside else {}),
        }
        write_atomically(folder / "config.json", lambda path: _write_json(path, about))
        if not beside:
            write_atomically(folder / "tokenizer.json", self.tokenizer.save)
            tensors = merged(self.model, unique_tensors(self.model))
            self._write_tensors(folder / "model.safetensors", tensors)
        elif updates:
            self._write_tensors(folder / UPDATES, updates)
        write_atomically(folder / "card.json", lambda path: _write_json(path, self.card))

    def _write_tensors(self, place: Path, tensors: Mapping[str, Tensor]) -> None:
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        stored = packed(whole, self.weights)
        write_atomically(place, lambda path: save_file(stored, path))

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> Bundle:
        folder = find_bundle(folder)
        about, card = _read_json(folder / "config.json"), _read_json(folder / "card.json")
        if about.get("format") != FORMAT:
            raise BundleError(f"{folder} has bundle format {about.get('format')!r}; this regard reads format {FORMAT}")
        weights = about.get("weights", "float32")
        if weights not in get_args(Storage):
            raise BundleError(f"{folder} has its weights as {weights!r}; allowed: {', '.join(get_args(Storage))}")
        try:
            check_architecture(str(about.get("architecture")))
            section, _, _ = ARCHITECTURES[about["architecture"]]
            config: ModelConfig = build(section, about["config"], "config")
            tokenizer = with_tag(Tokenizer.load(part(folder, "tokenizer.json")), about.get("tag"), folder)
        except BundleError:
            raise
        except Exception as problem:
            raise BundleError(f"{folder} cannot be read: {problem}") from None
        with Unfilled():
            model = make_model(about["architecture"], config, tokenizer)
        load_weights(model, folder)
        return cls(about["architecture"], config, model.to(device).eval(), tokenizer, card, weights)


def find_bundle(folder: Path) -> Path:
    """The bundle in a folder: itself, or `best` or `last` of a training run. Where there is no such folder, the model
    of that name in the box."""
    if not folder.exists() and str(folder) in box.names():
        return box.boxed(str(folder))
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
    config = folder / "config.json"
    named = _read_json(config).get("beside") if config.is_file() else None
    if named is None:
        return None
    if not (isinstance(named, str) and BESIDE.fullmatch(named)):
        raise BundleError(
            f'{config}: "beside" must name a folder next to its own, such as "../en-fr", but is {named!r}'
        )
    other = (folder / named).resolve()
    there = other / "config.json"
    if there.is_file() and "beside" in _read_json(there):
        raise BundleError(f"{folder} uses the files of {other}, which uses another's; name that one in {config}")
    missing = [name for name in PARTS if not (other / name).is_file()]
    if missing:
        what = f"is missing {', '.join(missing)}" if other.is_dir() else "is not there"
        raise BundleError(f"{folder} uses the files of {other}, which {what}; put the two folders side by side again")
    return other


def with_tag(tokenizer: Tokenizer, tag: object, folder: Path) -> Tokenizer:
    if tag is None:
        return tokenizer
    known = tokenizer.config.tags
    if tag not in known:
        raise BundleError(f"{folder} has the tag {tag!r}, but its vocabulary has {', '.join(known) or 'none'}")
    return tokenizer.marked(str(tag))


def unique_tensors(model: Model) -> dict[str, Tensor]:
    """The model's tensors by name, a shared one once, under its first name."""
    named: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            named[name] = tensor
    return named


def load_weights(model: Model, folder: Path) -> None:
    """Into a model of the bundle's shape."""
    path, updates = part(folder, "model.safetensors"), folder / UPDATES
    stored, wanted = _read_tensors(path), unique_tensors(model)
    if updates.is_file():
        try:
            stored = updated(stored, _read_tensors(updates))
        except (ValueError, RuntimeError) as problem:
            raise BundleError(f"{updates} does not fit {path}: {problem}; copy both folders again") from None
    if stored.keys() != wanted.keys() or any(stored[n].shape != wanted[n].shape for n in wanted):
        odd = sorted(set(stored) ^ set(wanted)) or [n for n in wanted if stored[n].shape != wanted[n].shape]
        raise BundleError(f"{path} does not fit its config.json: {odd[0]} differs ({len(odd)} tensors in all)")
    with torch.no_grad():
        for name, tensor in wanted.items():
            tensor.copy_(stored[name])


def weights_file(folder: Path) -> Path:
    """The file that makes a bundle's weights what they are and no others."""
    return folder / UPDATES if (folder / UPDATES).is_file() else part(folder, "model.safetensors")


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        return unpacked(load_file(path))
    except BundleError as problem:
        raise BundleError(f"{path} is damaged: {problem}") from None
    except (SafetensorError, OSError) as problem:
        raise BundleError(f"{path} is damaged or cut short ({problem}); copy it again or train anew") from None


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise BundleError(f"{path} cannot be read: {problem}") from None
    if not isinstance(value, dict):
        raise BundleError(f"{path} must hold a JSON object, but holds {type(value).__name__}")
    return value
